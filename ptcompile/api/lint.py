"""`lint`: one stream, one object of it, and the manifests inside an object.

Linting manifests does not need pydantic: modules for ptcompile's own kinds are imported only when such an object
appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.definitions import definitions_for
from ptcompile.apiserver import is_seen_by_webhooks, is_supported, structure_only_note, validate
from ptcompile.diagnostics import Diagnostic, Path, Problem, blocking, blocking_text, field_path
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.kubernetes.index import ObjectIdentity
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.linter import Stream, run
from ptcompile.linter.foreign import foreign_kind, is_about_written_text, may_be_template, placeholder_note
from ptcompile.linter.nested import nested_manifests, nested_objects
from ptcompile.linter.unrendered import unrendered_file, without_verdicts_on_marks
from ptcompile.source import streams
from ptcompile.source.documents import Source
from ptcompile.source.templates import chart_role, may_have_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, Literal

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.apiserver.admission import ClusterState
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


class LintOptions:
    """Options that one call of `lint` applies to every object."""

    def __init__(
        self,
        profile: ClusterProfile | None,
        versions: Versions,
        webhooks: bool,
        selection: Selection,
        definitions: Definitions | None = None,
        extensions: Extensions | None = None,
        pause: Callable[[], None] | None = None,
        earlier: Mapping[ObjectIdentity, str] | None = None,
    ) -> None:
        self.profile = profile
        self.versions = versions
        self.webhooks = webhooks
        self.selection = selection
        self.definitions = definitions
        self.extensions = extensions
        self.pause = pause
        self.earlier = earlier
        self.frameworks = profile.spec.queue_frameworks if profile is not None else ()
        self.has_cluster_state = profile is not None and bool(profile.spec.objects or profile.spec.pod_security)
        """Whether the profile has something that makes admission plugins reject objects."""

    def cluster_state(self, stream: Stream) -> ClusterState:
        """Return what admission plugins know of the cluster."""
        from ptcompile.apiserver.admission import ClusterState

        level = self.profile.spec.pod_security if self.profile is not None else None
        existing = self.profile.spec.objects if self.profile is not None else ()
        return ClusterState(stream.objects, self.versions, level, self.definitions, existing)


def lint_object(manifest: Mapping[str, Any], others: Stream, options: LintOptions) -> Iterable[Problem] | None:
    """Return the problems of one object, or None if its kind is unknown. `others` is the stream that contains it."""
    if is_supported(manifest, options.definitions):
        rejections = validate(
            manifest,
            versions=options.versions,
            webhooks=options.webhooks,
            others=others.objects,
            definitions=options.definitions,
        )
        return [
            *rejections,
            *_admission_problems(manifest, rejections, others, options),
            *_rule_findings(manifest, rejections, others, options),
        ]
    if not streams.is_ours(manifest):
        from ptcompile.apiserver.kinds import check_api_version

        return check_api_version(manifest, options.versions.kubernetes)
    if manifest.get("kind") == "ClusterProfile":
        from ptcompile.compiler import reader

        return reader.read_profile(manifest)[1]
    return _spec_problems(manifest, options)


_ADMISSION_KINDS = frozenset(
    {
        "@namespace",
        "@limitrange",
        "@priorityclass",
        "@resourcequota",
        "@validatingadmissionpolicybinding",
    }
)
"""Kinds whose objects make admission plugins reject others, as words of `Stream.kinds`."""
ADMISSION_RULES = frozenset({"denied-by-policy", "exceeds-quota", "policy-not-evaluated"})
"""Rules whose findings depend on what else exists, so that only creation decides."""
_PRIORITY_FIELDS = frozenset({"priority", "preemptionPolicy"})
"""Fields that admission rejects without an object beside."""


def _admission_problems(
    manifest: Mapping[str, Any], rejections: Sequence[Problem], others: Stream, options: LintOptions
) -> Iterable[Problem]:
    """Return the rejections of admission plugins, by the objects of the stream and the profile."""
    if not options.has_cluster_state and _ADMISSION_KINDS.isdisjoint(others.kinds):
        texts = others.texts.get(id(manifest))
        if texts is not None and _PRIORITY_FIELDS.isdisjoint(texts):
            return ()
    from ptcompile.apiserver.admission import admission_problems

    valid = not any(problem.severity == "error" for problem in rejections)
    return admission_problems(manifest, others.cached(options.cluster_state), valid=valid)


def _rule_findings(
    manifest: Mapping[str, Any], rejections: Sequence[Problem], others: Stream, options: LintOptions
) -> Iterator[Problem]:
    """Yield the rules' findings, except on paths that are already rejected.

    Rules of stage "apply" stand for a webhook.
    """
    rejected_paths = {problem.path for problem in rejections}
    mistyped_paths = {problem.path for problem in rejections if problem.name in _TYPE_RULES}
    is_count_unknown = any(path[-1:] and path[-1] in _POD_COUNT_FIELDS for path in mistyped_paths)
    for problem in run(manifest, versions=options.versions, stream=others):
        is_below_mistyped = any(problem.path[:end] in mistyped_paths for end in range(len(problem.path)))
        is_guess = is_below_mistyped or (is_count_unknown and problem.authority == "torchrun")
        if problem.path not in rejected_paths and not is_guess and (options.webhooks or problem.stage != "apply"):
            yield problem


def _server_warnings(
    manifest: Mapping[str, Any], findings: Sequence[Problem], options: LintOptions
) -> Iterable[Problem]:
    """Return the warnings that the API server sends and that are not among the findings."""
    if streams.is_ours(manifest) or not is_supported(manifest, options.definitions):
        return ()
    from ptcompile.apiserver.warnings import unreported_warnings

    return unreported_warnings(manifest, findings, options.versions, options.definitions)


_TYPE_RULES = frozenset({"wrong-type", "invalid-quantity"})
_POD_COUNT_FIELDS = frozenset({"replicas", "parallelism", "completions", "numNodes", "minReplicas", "maxReplicas"})
"""Fields that set the number of pods. If one of them is invalid, rules cannot tell whether there are enough pods."""


def _spec_problems(document: Mapping[str, Any], options: LintOptions) -> Iterable[Problem]:
    """Return the problems of a TrainingJob, and the rules' findings in its manifests, located in the spec."""
    from ptcompile.compiler.advice import rule_findings
    from ptcompile.compiler.pipeline import compile_document
    from ptcompile.spec.reader import default_cluster

    profile = options.profile or default_cluster()
    compiled = compile_document(document, profile, None, options.extensions)
    return [*compiled.problems, *rule_findings(compiled, document, profile, options.extensions)]


def extension_findings(manifest: Mapping[str, Any], others: Stream, options: LintOptions) -> Iterable[Problem]:
    """Return the findings of rules from plugins and the configuration."""
    if options.extensions is None:
        return ()
    from ptcompile.extending.calls import rule_problems

    return rule_problems(options.extensions, manifest, others.objects)


def problems_inside(manifest: Mapping[str, Any], others: Stream, options: LintOptions) -> Iterator[Problem]:
    """Yield the problems of the jobs and pods inside an object, with paths in that object."""
    for path, inner, rule_names in nested_objects(manifest):
        if rule_names is None:
            problems_inside = list(_after_creation(lint_object(inner, others, options) or (), manifest))
            problems_inside += extension_findings(inner, others, options)
        else:
            selected = rule_names if options.selection.select is None else rule_names & options.selection.select
            problems_inside = list(run(inner, versions=options.versions, stream=others, only=selected))
        yield from (_at_outer_path(problem, path) for problem in problems_inside)
    for path, content in nested_manifests(manifest):
        yield from _problems_in_text(path, content, options)


def _after_creation(problems: Iterable[Problem], outer: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of an object that a controller creates from `outer`. What the API server rejects of its parts
    is reported for `outer` itself; admission plugins and webhooks see the object only when it is created.
    """
    for problem in problems:
        if problem.stage != "apply" or not is_supported(outer):
            yield problem
        elif problem.authority not in ("kube-apiserver", "ptcompile") or problem.name in ADMISSION_RULES:
            yield problem._replace(stage="pod")


def _at_outer_path(problem: Problem, parent: Path) -> Problem:
    """Return a problem of an inner object as one of the outer object."""
    message = problem.message.replace(field_path(problem.path), field_path((*parent, *problem.path)), 1)
    return problem._replace(path=(*parent, *problem.path), message=message, fix=None)


def _problems_in_text(path: Path, content: str, options: LintOptions) -> Iterator[Problem]:
    """Yield the problems of manifests inside a string, at the string's path; ignore template placeholders."""
    documents = streams.read(content, None).documents
    objects = [manifest for document in documents for _, manifest in streams.objects_in(document.data)]
    stream = Stream(objects, options.versions, frameworks=options.frameworks)
    for manifest in objects:
        for problem in (lint_object(manifest, stream, options) or ()) if is_supported(manifest) else ():
            if is_about_written_text(problem, manifest):
                message = f"{field_path(path)}: in {streams.resource_name(manifest)}: {problem.message}"
                yield problem._replace(path=path, message=message, fix=None, on_key=False, span=None)


def object_diagnostics(
    parsed: Source,
    filename: str | None,
    options: LintOptions,
    unchecked: list[str],
    unknown_kinds: Literal["count", "error"],
    beside: Sequence[Mapping[str, Any]] | None,
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a stream's objects; names of objects of unknown kinds are appended to `unchecked`."""
    objects = [
        (document, path, manifest)
        for document in parsed.documents
        for path, manifest in streams.objects_in(document.data)
    ]
    texts = {id(document.data): document.texts for document in parsed.documents}
    manifests = [manifest for _, _, manifest in objects]
    stream = Stream(manifests, options.versions, texts, related=beside, frameworks=options.frameworks)
    templates = _templates(parsed)
    marked = may_have_marks(parsed.text)
    specs: set[tuple[str, str]] = set()
    reported: set[ObjectIdentity] = set()
    noted_kinds: set[tuple[str, str]] = set()

    yield from _document_diagnostics(parsed, templates, filename)
    for document, path, manifest in objects:
        if options.pause is not None:
            options.pause()
        foreign_name = foreign_kind(manifest) if parsed.text else None
        if foreign_name is not None:
            unchecked.append(foreign_name)
            continue

        repeated = streams.repeated_spec(manifest, specs) + _defined_earlier(manifest, options, reported)
        is_template = document.index in templates
        problems = _problems_of_object(manifest, stream, options, unchecked, unknown_kinds, is_template=is_template)
        findings = [*repeated, *problems]
        notes = _structure_only_notes(manifest, options, noted_kinds)
        all_problems = [*findings, *notes, *_server_warnings(manifest, findings, options)]

        yield from _once_per_template(
            streams.to_diagnostic(problem, document, filename, path, manifest)
            for problem in without_verdicts_on_marks(all_problems, manifest, marked)
        )


def _document_diagnostics(
    parsed: Source, templates: Mapping[int, Problem], filename: str | None
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of items that are not objects, and the one of the first template of the file."""
    first_template = next(iter(templates), None)
    for document in parsed.documents:
        for problem in streams.not_objects(document.data):
            yield streams.to_diagnostic(problem, document, filename)
        if document.index == first_template:
            yield streams.to_diagnostic(templates[document.index], document, filename)


def _problems_of_object(
    manifest: Mapping[str, Any],
    stream: Stream,
    options: LintOptions,
    unchecked: list[str],
    unknown_kinds: Literal["count", "error"],
    *,
    is_template: bool,
) -> list[Problem]:
    """Return the problems of one object; if its kind is unknown, its name is appended to `unchecked`."""
    problems: Iterable[Problem] | None
    problems = streams.missing_keys(manifest) or lint_object(manifest, stream, options)
    if problems is not None and is_template:
        problems = [problem for problem in problems if is_about_written_text(problem, manifest)]
    if problems is None:
        unchecked.append(streams.resource_name(manifest) or "a document without kind")
        problems = _problems_of_unknown_kind(manifest, stream, options, unknown_kinds)

    # compiling has run them for a spec
    extension_problems = () if streams.is_ours(manifest) else extension_findings(manifest, stream, options)
    return [*problems, *extension_problems, *_inner_problems(manifest, stream, options)]


def _once_per_template(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics, those in a pod template that roles share by a YAML alias only for the first role."""
    reported = set()
    for diagnostic in diagnostics:
        path = diagnostic.path
        keys = [i for i, key in enumerate(path) if isinstance(key, str) and key.endswith("emplate")]
        if keys and diagnostic.span is not None:
            text = diagnostic.message.removeprefix(field_path(path))
            identity = (diagnostic.code, diagnostic.span, text, path[keys[-1] + 1 :])
            if identity in reported:
                continue
            reported.add(identity)
        yield diagnostic


def _structure_only_notes(
    manifest: Mapping[str, Any], options: LintOptions, noted_kinds: set[tuple[str, str]]
) -> list[Problem]:
    """Return the note on a kind that is not checked by field rules, once per kind."""
    kind = kind_of(manifest)
    if kind in noted_kinds:
        return []
    noted_kinds.add(kind)
    note = structure_only_note(kind, options.versions.kubernetes)
    return [] if note is None else [note]


def _defined_earlier(manifest: Mapping[str, Any], options: LintOptions, reported: set[ObjectIdentity]) -> list[Problem]:
    """Return the warning that an earlier file of the folder defines the object, once per object of this file."""
    if not options.earlier:
        return []
    from ptcompile.linter.repeated import object_key, repeated_in_folder

    key = object_key(manifest, options.definitions)
    if key is None or key not in options.earlier or key in reported:
        return []
    reported.add(key)
    return [repeated_in_folder(manifest, options.earlier[key])]


_PARENT_KINDS = ("CronJob", "Deployment", "StatefulSet", "Ray", "ConfigMap", "Workflow")


def _inner_problems(manifest: Mapping[str, Any], others: Stream, options: LintOptions) -> Iterable[Problem]:
    """Return the problems inside an object of a kind that creates other objects."""
    kind = manifest.get("kind")
    if not isinstance(kind, str) or not any(name in kind for name in _PARENT_KINDS):
        return ()

    return problems_inside(manifest, others, options)


def text_problems(parsed: Source, unchecked: list[str]) -> Iterator[Problem]:
    """Yield the problems of a text itself. For a file that is not for Kubernetes, only YAML errors count.

    A duplicate key is only a warning in a manifest, because kubectl silently uses the last value.
    """
    if not parsed.problems:
        return
    lists = [
        problem for problem in parsed.problems if problem.name == "not-a-mapping" and "is a list" in problem.message
    ]
    if lists and not parsed.documents:
        unchecked += ["a list"] * len(lists)
    has_spec = any(streams.is_ours(document.data) for document in parsed.documents)
    # the unreadable document may be the spec or the profile
    may_have_spec = has_spec or "TrainingJob" in parsed.text or "ClusterProfile" in parsed.text
    has_manifest = not all(streams.is_ours(document.data) for document in parsed.documents)
    is_foreign = bool(parsed.text and parsed.documents) and all(
        foreign_kind(document.data) for document in parsed.documents
    )
    for problem in parsed.problems:
        if (is_foreign and problem.name in _KUBERNETES_RULES) or (not parsed.documents and problem in lists):
            continue
        if problem.name == "duplicate-key" and not has_spec:
            problem = problem._replace(severity="warning", stage="run")
        if may_have_spec:
            yield from blocking([problem]) if has_manifest else blocking_text([problem])
        else:
            yield problem


_KUBERNETES_RULES = frozenset({"unsupported-yaml", "duplicate-key"})
"""Rules that apply only to Kubernetes objects."""


def _templates(parsed: Source) -> dict[int, Problem]:
    """Return the unrendered templates of a stream: the problem of each, by document index."""
    if not may_be_template(parsed.text):
        return {}
    problems = {
        document.index: placeholder_note(document.data)
        for document in parsed.documents
        if not foreign_kind(document.data)
    }
    return {index: problem for index, problem in problems.items() if problem is not None}


def _problems_of_unknown_kind(
    manifest: Mapping[str, Any], others: Stream, options: LintOptions, unknown_kinds: str
) -> list[Problem]:
    """Return what webhooks reject of an object without a schema, and that its kind is unknown if that is an error."""
    problems = [_unknown_kind(manifest)] if unknown_kinds == "error" else []
    if options.webhooks and is_seen_by_webhooks(manifest):
        problems += validate(manifest, versions=options.versions, others=others.objects)
    return [*problems, *_rule_findings(manifest, problems, others, options)]


def _unknown_kind(manifest: Mapping[str, Any]) -> Problem:
    """Return the problem of an object of an unknown kind, for callers that treat it as an error."""
    kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
    return Problem("unknown-kind", ("kind",), f"{kind} is not checked: unknown kind", None, authority="ptcompile")


class Report(NamedTuple):
    """The findings, and a summary of what was checked."""

    diagnostics: tuple[Diagnostic, ...]
    documents: int
    """Number of documents."""
    unchecked: tuple[str, ...]
    """The objects of unknown kinds, as `Kind/name`."""
    meant: tuple[Diagnostic, ...] = ()
    """Findings suppressed by comments in the file or by `ignore`; `diagnostics` does not contain them."""
    objects: tuple[tuple[ObjectIdentity, str], ...] = ()
    """The objects that another file of the folder may also define, each with a digest; empty if `earlier` is None."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not any(d.severity == "error" for d in self.diagnostics)


def lint(
    source: StreamSource,
    *,
    filename: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    schemas: Iterable[str | os.PathLike[str]] = (),
    beside: Sequence[Mapping[str, Any]] | None = None,
    extensions: Extensions | None = None,
    pause: Callable[[], None] | None = None,
    earlier: Mapping[ObjectIdentity, str] | None = None,
) -> Report:
    """Report the problems of every object in a stream that the API server, operators, kubelet or torchrun would have.

    Rejections come first, then findings of the rules: objects that are accepted but fail later. Each has its line.

    `kubernetes` is the server's version, such as "1.34"; by default it is the profile's, or the newest supported one.
    `webhooks=False` checks only what the API server and CRDs check, as on a cluster without the operators' webhooks.
    `unknown_kinds="error"` reports each object of an unknown kind; they are counted in any case. `select` and `ignore`
    are codes, prefixes of codes, or names. Rejections are reported regardless of `select`, unless ignored. `severity`
    has an error, a warning or a note by such a selector, instead of the rules' own severities; the most specific
    selector decides. `schemas` are files and folders of CRDs or JSON Schemas, for kinds that ptcompile does not know;
    CRDs in the stream count too.
    `beside` are objects of other files that affect the stream's objects but are not checked themselves: namespaces,
    queues, quotas, limit ranges, Services; None if there may be other files, so a missing object is only a note.
    `extensions` are rules and passes of plugins, from `ptcompile.extensions`. `pause` is called before each object; an
    exception that it raises ends the call, so callers can cancel it. `earlier` are the objects that earlier files of
    the folder define, with the names of these files.

    Mistakes in the stream or profile never raise. Raises ValueError for a selector that selects nothing, for an invalid
    version, and for a path in `schemas` that cannot be read or contains no definition.
    """
    arguments.check(filename=filename, kubernetes=kubernetes, extensions=extensions, pause=pause)
    beside = None if beside is None else arguments.mappings(beside, "beside")
    repeated = None if earlier is None else arguments.mapping(earlier, "earlier")
    profile, profile_problems = read_profile(cluster)
    versions = versions_of(profile, kubernetes)
    parsed = streams.read(source, filename, kubectl=versions.kubernetes)
    filename = arguments.filename(source, filename)
    selected = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES, severity)
    options = LintOptions(profile, versions, webhooks, selected, None, extensions, pause, repeated)
    report = lint_documents(parsed, filename, options, profile_problems, schemas, beside, unknown_kinds)
    parsed.documents = ()  # breaks the reference cycle between documents and source
    return report


def lint_documents(
    parsed: Source,
    filename: str | None,
    options: LintOptions,
    profile_problems: Sequence[Diagnostic],
    schemas: Iterable[str | os.PathLike[str]],
    beside: Sequence[Mapping[str, Any]] | None,
    unknown_kinds: Literal["count", "error"] = "count",
) -> Report:
    """Return the report of a stream that has been read; `lint` describes the parameters."""
    file_role = chart_role(filename)
    if file_role == "values":
        return Report((), len(parsed.documents), ("the values of a Helm chart",))
    template_problem = unrendered_file(parsed, file_role)
    if template_problem is not None:
        return _template_report(parsed, *template_problem, options.selection, filename)
    unchecked: list[str] = []
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in text_problems(parsed, unchecked)]
    diagnostics += profile_problems
    options.definitions = definitions_for([parsed], schemas)
    all_diagnostics = chain(
        diagnostics, object_diagnostics(parsed, filename, options, unchecked, unknown_kinds, beside)
    )
    diagnostics, ignored = streams.select(all_diagnostics, options.selection, filename)
    reported, suppressed = _without_suppressed(parsed, diagnostics, options.selection, filename)
    objects = () if options.earlier is None else _objects(parsed, options)
    return Report(reported, len(parsed.documents), tuple(unchecked), (*suppressed, *ignored), objects)


def _objects(parsed: Source, options: LintOptions) -> tuple[tuple[ObjectIdentity, str], ...]:
    from ptcompile.linter.repeated import object_digests

    return tuple(object_digests(parsed, options.definitions).items())


def _template_report(parsed: Source, index: int, problem: Problem, selected: Selection, filename: str | None) -> Report:
    """Return the report of a file that is entirely a template: one note, whatever its content."""
    document = next((candidate for candidate in parsed.documents if candidate.index == index and problem.path), None)
    note = streams.to_diagnostic(problem, document, filename)
    reported, ignored = streams.select([note], selected, filename)
    return Report(tuple(reported), len(parsed.documents), (), tuple(ignored))


def read_profile(
    cluster: ProfileSource | ClusterProfile | None,
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """Return the given profile and the problems with it."""
    if cluster is None:
        return None, []
    from ptcompile.compiler.reader import load_profile

    return load_profile(cluster)


def _without_suppressed(
    parsed: Source, diagnostics: Sequence[Diagnostic], selected: Selection, filename: str | None
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return the findings after suppression, with the problems of the comments themselves; and the suppressed
    findings.
    """
    if "ptcompile:" not in parsed.text:
        return tuple(diagnostics), ()
    from ptcompile.source.suppression import suppress

    reported, suppressed, problems = suppress(parsed, diagnostics, selected)
    of_comments = (selected.with_severity(streams.to_diagnostic(problem, None, filename)) for problem in problems)
    return (*reported, *of_comments), suppressed


def versions_of(profile: ClusterProfile | None, kubernetes: str | None) -> Versions:
    """Return the releases of a profile, with this version of Kubernetes if one is given."""
    versions = profile.versions() if profile is not None else Versions()
    return versions._replace(kubernetes=parse_version(kubernetes)) if kubernetes else versions
