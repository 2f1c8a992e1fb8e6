"""`lint`: one stream, one object of it, and the manifests inside an object.

Linting a manifest needs no pydantic: whatever knows our own kinds is imported where one comes by.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver import is_supported, validate
from ptcompile.diagnostics import Diagnostic, Path, Problem, blocking, field_path
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.linter import Stream, run
from ptcompile.linter.foreign import foreign, judgeable, may_be_template, unrendered
from ptcompile.linter.nested import inside, texts_inside
from ptcompile.linter.unrendered import unrendered_file, without_verdicts_on_marks
from ptcompile.source import streams
from ptcompile.source.documents import Source
from ptcompile.source.templates import chart_role, may_have_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ptcompile._internal.arguments import StreamSource
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
    ) -> None:
        self.profile = profile
        self.versions = versions
        self.webhooks = webhooks
        self.selection = selection
        self.definitions = definitions
        self.extensions = extensions
        self.pause = pause


def lint_object(manifest: Mapping[str, Any], others: Stream, asked: LintOptions) -> Iterable[Problem] | None:
    """The problems of one object, or None where its kind is unknown. `others` are in the same stream."""
    if is_supported(manifest, asked.definitions):
        refused = validate(
            manifest,
            versions=asked.versions,
            webhooks=asked.webhooks,
            others=others.objects,
            definitions=asked.definitions,
        )
        return [*refused, *_secured(manifest, others, asked), *_advised(manifest, refused, others, asked)]
    if not streams.is_ours(manifest):
        from ptcompile.apiserver.kinds import check_api_version

        return check_api_version(manifest, asked.versions.kubernetes)
    if manifest.get("kind") == "ClusterProfile":
        from ptcompile.compiler.reader import read_profile

        return read_profile(manifest)[1]
    return _spec(manifest, asked)


def _secured(manifest: Mapping[str, Any], others: Stream, asked: LintOptions) -> Iterable[Problem]:
    """Return the violations of Pod Security Admission, if a Namespace of the stream or the profile sets a level."""
    profile = asked.profile.spec.pod_security if asked.profile is not None else None
    namespaces = others.once(_namespaces) if "@namespace" in others.kinds else ()
    if profile is None and not namespaces:
        return ()
    from ptcompile.apiserver.admission.pod_security import pod_security_problems

    return pod_security_problems(manifest, namespaces, profile, asked.versions.kubernetes)


def _namespaces(stream: Stream) -> Sequence[Mapping[str, Any]]:
    return stream.objects.of(("v1", "Namespace"))


def _advised(
    manifest: Mapping[str, Any], refused: Sequence[Problem], others: Stream, asked: LintOptions
) -> Iterator[Problem]:
    """Yield the rules' findings, except on paths that are already rejected.

    Rules of stage "apply" stand for a webhook.
    """
    said = {problem.path for problem in refused}
    mistyped = {problem.path for problem in refused if problem.name in _MISTYPED}
    uncounted = any(path[-1:] and path[-1] in _COUNTS for path in mistyped)
    for problem in run(manifest, versions=asked.versions, others=others):
        below = any(problem.path[:end] in mistyped for end in range(len(problem.path)))
        guessed = below or (uncounted and problem.authority == "torchrun")
        if problem.path not in said and not guessed and (asked.webhooks or problem.stage != "apply"):
            yield problem


_MISTYPED = frozenset({"wrong-type", "invalid-quantity"})
_COUNTS = frozenset({"replicas", "parallelism", "completions", "numNodes", "minReplicas", "maxReplicas"})
"""How many pods there are: where one of them cannot be read, whether that is enough is unknown."""


def _spec(document: Mapping[str, Any], asked: LintOptions) -> Iterable[Problem]:
    """The problems of a TrainingJob, and what the rules find in its manifests, at the lines of the spec."""
    from ptcompile.compiler.advice import rule_findings
    from ptcompile.compiler.pipeline import compile_document
    from ptcompile.spec.reader import default_cluster

    profile = asked.profile or default_cluster()
    compiled = compile_document(document, profile, None, asked.extensions)
    return [*compiled.problems, *rule_findings(compiled, document, profile, asked.extensions)]


def extended(manifest: Mapping[str, Any], others: Stream, asked: LintOptions) -> Iterable[Problem]:
    """What the rules of plugins and of the configuration find."""
    if asked.extensions is None:
        return ()
    from ptcompile.extending.calls import rule_problems

    return rule_problems(asked.extensions, manifest, others.objects)


def inside_of(manifest: Mapping[str, Any], others: Stream, asked: LintOptions) -> Iterator[Problem]:
    """What is found in the jobs and pods inside an object, at their places in it."""
    for path, inner, only in inside(manifest):
        if only is None:
            found = lint_object(inner, others, asked) or ()
            beside = [one for one in found if not (is_supported(manifest) and one.stage == "apply")]
            beside += extended(inner, others, asked)
        else:
            wanted = only if asked.selection.select is None else only & asked.selection.select
            beside = list(run(inner, versions=asked.versions, others=others, only=wanted))
        yield from (_moved(one, path) for one in beside)
    for path, content in texts_inside(manifest):
        yield from _in_text(path, content, asked)


def _moved(problem: Problem, under: Path) -> Problem:
    """A problem of an object inside another one, as one of the other."""
    said = problem.message.replace(field_path(problem.path), field_path((*under, *problem.path)), 1)
    return problem._replace(path=(*under, *problem.path), message=said, fix=None)


def _in_text(path: Path, content: str, asked: LintOptions) -> Iterator[Problem]:
    """What is found in manifests that stand in a text, at the text; nothing of its placeholders."""
    documents = streams.read(content, None).documents
    objects = [one for document in documents for _, one in streams.objects_in(document.data)]
    everything = Stream(objects, asked.versions)
    for one in objects:
        for problem in (lint_object(one, everything, asked) or ()) if is_supported(one) else ():
            if judgeable(problem, one):
                message = f"{field_path(path)}: in {streams.resource_name(one)}: {problem.message}"
                yield problem._replace(path=path, message=message, fix=None, on_key=False, span=None)


def everything_found(
    read: Source,
    filename: str | None,
    asked: LintOptions,
    unchecked: list[str],
    unknown_kinds: Literal["count", "error"],
    beside: Sequence[Mapping[str, Any]] | None,
) -> Iterator[Diagnostic]:
    """What is found in the objects of a stream; those of unknown kinds are noted in `unchecked`."""
    objects = [(document, at, one) for document in read.documents for at, one in streams.objects_in(document.data)]
    texts = {id(document.data): document.texts for document in read.documents}
    everything = Stream([manifest for _, _, manifest in objects], asked.versions, texts, related=beside)
    templates = _templates(read)
    marked = may_have_marks(read.text)
    specs: set[tuple[str, str]] = set()
    for document in read.documents:
        for problem in streams.not_objects(document.data):
            yield streams.to_diagnostic(problem, document, filename)
        if document.index == next(iter(templates), None):  # once a file
            yield streams.to_diagnostic(templates[document.index], document, filename)
    for document, at, manifest in objects:
        if asked.pause is not None:
            asked.pause()
        problems: Iterable[Problem] | None
        other = foreign(manifest) if read.text else None
        if other is not None:
            unchecked.append(other)
            continue
        problems = _nameless(manifest) or lint_object(manifest, everything, asked)
        if problems is not None and document.index in templates:
            problems = [one for one in problems if judgeable(one, manifest)]
        if problems is None:
            unchecked.append(streams.resource_name(manifest) or "a document without kind")
            problems = [_unknown(manifest)] if unknown_kinds == "error" else []
        further = () if streams.is_ours(manifest) else extended(manifest, everything, asked)  # compiling asks
        repeated = streams.repeated_spec(manifest, specs)
        every = (*repeated, *problems, *further, *_inside(manifest, everything, asked))
        for problem in without_verdicts_on_marks(every, manifest, marked):
            yield streams.to_diagnostic(problem, document, filename, at, manifest)


_MAKES_OTHERS = ("CronJob", "Deployment", "StatefulSet", "Ray", "LeaderWorkerSet", "ConfigMap", "Workflow")


def _inside(manifest: Mapping[str, Any], others: Stream, asked: LintOptions) -> Iterable[Problem]:
    """What is found inside an object of a kind that makes others."""
    kind = manifest.get("kind")
    if not isinstance(kind, str) or not any(name in kind for name in _MAKES_OTHERS):
        return ()

    return inside_of(manifest, others, asked)


def of_the_text(read: Source, unchecked: list[str]) -> Iterator[Problem]:
    """What is wrong with a text as such. Of a file that is not for Kubernetes only that it is not YAML.

    kubectl keeps the last of two equal keys and says nothing, so that two of them are no refusal.
    """
    if not read.problems:
        return
    lists = [one for one in read.problems if one.name == "not-a-mapping" and "is a list" in one.message]
    if lists and not read.documents:
        unchecked += ["a list"] * len(lists)
    ours = any(streams.is_ours(one.data) for one in read.documents)
    spec = ours or "TrainingJob" in read.text  # which may be the document that cannot be read
    theirs = bool(read.text and read.documents) and all(foreign(one.data) for one in read.documents)
    for problem in read.problems:
        if (theirs and problem.name in _OF_KUBERNETES) or (not read.documents and problem in lists):
            continue
        if problem.name == "duplicate-key" and not ours:
            problem = problem._replace(severity="warning", stage="style")
        yield from blocking([problem]) if spec else (problem,)


_OF_KUBERNETES = frozenset({"unsupported-yaml", "duplicate-key"})
"""What only a Kubernetes object has to be, or may not have."""


def _templates(read: Source) -> dict[int, Problem]:
    """The documents that something else fills in first, by their index, with what is said of each."""
    if not may_be_template(read.text):
        return {}
    found = {document.index: unrendered(document.data) for document in read.documents if not foreign(document.data)}
    return {index: problem for index, problem in found.items() if problem is not None}


def _nameless(manifest: Mapping[str, Any]) -> list[Problem]:
    """Return the error that an object lacks apiVersion or kind, which every Kubernetes client rejects."""
    missing = [key for key in ("apiVersion", "kind") if not isinstance(manifest.get(key), str) or not manifest[key]]
    return [_nothing_at(key, manifest) for key in missing]


def _nothing_at(key: str, manifest: Mapping[str, Any]) -> Problem:
    from ptcompile._internal.spelling import closest_match

    message = f"{key}: Required value: every object needs it"
    near = closest_match(key, [one for one in manifest if one not in ("apiVersion", "kind")])
    if near is None:
        return Problem("required-value", (key,), message, f"add {key}")
    return Problem("required-value", (near,), message, f"did you mean {key}?", on_key=True)


def _unknown(manifest: Mapping[str, Any]) -> Problem:
    """What is said of an object of an unknown kind, where that counts as an error."""
    kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
    return Problem("unknown-kind", ("kind",), f"{kind} is not checked: unknown kind", None, authority="ptcompile")


class Report(NamedTuple):
    """The findings, and a summary of what was checked."""

    diagnostics: tuple[Diagnostic, ...]
    documents: int
    """How many documents there were."""
    unchecked: tuple[str, ...]
    """The documents of unknown kinds, as `Kind/name`."""
    meant: tuple[Diagnostic, ...] = ()
    """What comments in the file and `ignore` say is meant, and so is not among the diagnostics."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not any(d.severity == "error" for d in self.diagnostics)


def lint(
    source: StreamSource,
    *,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    schemas: Iterable[str | os.PathLike[str]] = (),
    beside: Sequence[Mapping[str, Any]] | None = None,
    extensions: Extensions | None = None,
    pause: Callable[[], None] | None = None,
) -> Report:
    """Say what an API server, the operators, the kubelet and torchrun would say of every object of a stream.

    First what is rejected, then, by the rules, what is accepted and still goes wrong; each at the line where it is.

    `kubernetes` is the server's version, such as "1.34": the profile's, or the newest known, where absent.
    `webhooks=False` is the API server with the CRDs alone, as on a cluster without the operators' webhooks.
    `unknown_kinds="error"` makes a finding of each unknown kind; they are counted in any case.
    `select` and `ignore` are codes, beginnings of codes, or names. What would be refused is told whatever is selected,
    unless it is ignored. `schemas` are files and folders of CRDs or JSON Schemas, for kinds that ptcompile does not
    know; CRDs in the stream itself count too. `beside` are objects of other files that decide what happens to these,
    and are not judged themselves: namespaces, queues, quotas, limit ranges, Services; None if there may be files that
    are not known, so that an object that is missing is only noted. `extensions` are further rules, by
    `ptcompile.extensions`. `pause` is called before each object; an exception that it raises ends the call, for callers
    that no longer want the answer.

    Raises ValueError for a selector that selects nothing, for a version that is none, and for a path in `schemas` that
    cannot be read or holds no definition.
    """
    arguments.check(filename=filename, kubernetes=kubernetes, extensions=extensions, pause=pause)
    beside = None if beside is None else arguments.mappings(beside, "beside")
    read = streams.read(source, filename)
    filename = arguments.filename(source, filename)
    unchecked: list[str] = []
    chosen = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES)
    role = chart_role(filename)
    if role == "values":
        return Report((), len(read.documents), ("the values of a Helm chart",))
    template = unrendered_file(read, role)
    if template is not None:
        return _template_report(read, *template, chosen, filename)
    found = [streams.to_diagnostic(problem, None, filename) for problem in of_the_text(read, unchecked)]
    profile, wrong = _profile(cluster)
    found += wrong
    versions = _versions(profile, kubernetes)
    asked = LintOptions(profile, versions, webhooks, chosen, _definitions(read, schemas), extensions, pause)
    every = chain(found, everything_found(read, filename, asked, unchecked, unknown_kinds, beside))
    found, ignored = streams.select(every, asked.selection, filename)
    left, meant = _without_meant(read, found, asked.selection, filename)
    count = len(read.documents)
    read.documents = ()  # they know their source: apart, both go at once
    return Report(left, count, tuple(unchecked), (*meant, *ignored))


def _template_report(read: Source, index: int, problem: Problem, chosen: Selection, filename: str | None) -> Report:
    """Return the report of a file that is a template as a whole: one note, whatever else is in it."""
    document = next((one for one in read.documents if one.index == index and problem.path), None)
    note = streams.to_diagnostic(problem, document, filename)
    count = len(read.documents)
    read.documents = ()
    left, ignored = streams.select([note], chosen, filename)
    return Report(tuple(left), count, (), tuple(ignored))


def _profile(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None,
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """Return the given profile and the problems with it."""
    if cluster is None:
        return None, []
    from ptcompile.compiler.reader import load_profile

    return load_profile(cluster)


def _without_meant(
    read: Source, found: Sequence[Diagnostic], chosen: Selection, filename: str | None
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """What is left of the findings, with what is wrong with comments; and what comments in the file say is meant."""
    if "ptcompile:" not in read.text:
        return tuple(found), ()
    from ptcompile.source.suppression import suppress

    left, meant, problems = suppress(read, found, chosen)
    return (*left, *(streams.to_diagnostic(problem, None, filename) for problem in problems)), meant


def _definitions(read: Source, schemas: Iterable[str | os.PathLike[str]]) -> Definitions | None:
    """Return the kinds that the given files and the CRDs of the stream define."""
    if not isinstance(schemas, str | os.PathLike):
        arguments.check(schemas=schemas)
    paths = (schemas,) if isinstance(schemas, str | os.PathLike) else tuple(schemas)
    for one in paths:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"schemas must be a list of paths, and has {type(one).__name__}")
    if not paths and not _may_define(read):
        return None
    from ptcompile.apiserver.crds.loader import definitions_of, read_definitions

    brought = read_definitions(paths)
    manifests = (one for document in read.documents for _, one in streams.objects_in(document.data))
    return brought._replace(kinds={**brought.kinds, **definitions_of(manifests)})


def _may_define(read: Source) -> bool:
    """Return whether a CRD may be in the stream: a text is searched for the word, mappings have none."""
    if read.text:
        return "CustomResourceDefinition" in read.text
    manifests = (one for document in read.documents for _, one in streams.objects_in(document.data))
    return any(manifest.get("kind") == "CustomResourceDefinition" for manifest in manifests)


def _versions(profile: ClusterProfile | None, kubernetes: str | None) -> Versions:
    versions = profile.versions() if profile is not None else Versions()
    return versions._replace(kubernetes=parse_version(kubernetes)) if kubernetes else versions
