"""`lint`: one stream, one object of it, and the manifests inside an object.

Linting manifests does not need pydantic: modules for ptcompile's own kinds are imported only when
such an object appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import (
    NO_PROFILE,
    AnyProfile,
    File,
    Inputs,
    Item,
    ProfileRead,
    SchemaPaths,
    is_empty,
    read_beside,
    read_profile,
    text_problems,
)
from ptcompile.api.lint_objects import ObjectLinter
from ptcompile.api.options import LintOptions, UnknownKinds, read_options
from ptcompile.diagnostics import Diagnostic, Problem, Problems, has_error
from ptcompile.diagnostics.selection import Selection
from ptcompile.kinds.wrapped import unwrapped
from ptcompile.kubernetes.index import ObjectIdentity, Objects
from ptcompile.linter import Stream
from ptcompile.linter.unrendered import (
    foreign_kind,
    kustomize_note,
    placeholder_notes,
    unrendered_file,
    without_placeholders,
    without_verdicts_on_marks,
)
from ptcompile.source import streams
from ptcompile.source.documents import Source
from ptcompile.source.templates import chart_role, may_have_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.extending import Extensions
    from ptcompile.kubernetes.unstructured import Json


class Report(NamedTuple):
    """The findings, and a summary of what was checked."""

    diagnostics: tuple[Diagnostic, ...]
    """The findings, in the order of the file."""
    documents: int
    """Number of documents."""
    unchecked: tuple[str, ...]
    """The objects that were not checked, such as those of unknown kinds, as `apiVersion
    Kind/name`.
    """
    meant: tuple[Diagnostic, ...] = ()
    """Findings suppressed by comments in the file or by `ignore`; `diagnostics` does not contain
    them.
    """
    objects: tuple[tuple[ObjectIdentity, str], ...] = ()
    """The objects that another file of the folder may also define, each with a digest; empty if
    `earlier` is None.
    """
    checked: int = 0
    """Number of objects that were checked."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not has_error(self.diagnostics)


def lint(
    source: StreamSource,
    *,
    filename: str | None = None,
    cluster: AnyProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: UnknownKinds = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    schemas: SchemaPaths = (),
    beside: Iterable[StreamSource] | None = None,
    extensions: Extensions | None = None,
    pause: Callable[[], None] | None = None,
    earlier: Mapping[ObjectIdentity, str] | None = None,
) -> Report:
    """Report the problems of every object in a stream that the API server, operators, kubelet or
    torchrun would have.

    Rejections come first, then findings of the rules: objects that are accepted but fail later.
    Each has its line.

    `kubernetes` is the server's version, such as "1.34"; by default it is the profile's, or the
    newest supported one. `webhooks=False` checks only what the API server and CRDs check, as on a
    cluster without the operators' webhooks. `unknown_kinds="error"` reports each object of an
    unknown kind; they are counted in any case. `select` and `ignore` are codes, prefixes of codes,
    or names. Rejections are reported regardless of `select`, unless ignored. `severity` has an
    error, a warning or a note by such a selector, instead of the rules' own severities; the most
    specific selector decides. `schemas` are files and folders of CRDs or JSON Schemas, for kinds
    that ptcompile does not know; CRDs in the stream count too. `beside` are objects of other files
    that affect the stream's objects but are not checked themselves: namespaces, queues, quotas,
    limit ranges, Services; None if there may be other files, so a missing object is only a note.
    `extensions` are rules and passes of plugins, from `ptcompile.extensions`. `pause` is called
    before each object; an exception that it raises ends the call, so callers can cancel it.
    `earlier` are the objects that earlier files of the folder define, with the names of these
    files.

    Mistakes in the stream or profile never raise. Raises ValueError for a selector that selects
    nothing, for an invalid version, and for a path in `schemas` that cannot be read or contains no
    definition.
    """
    arguments.check(filename=filename, pause=pause)
    others = None if beside is None else read_beside(beside)
    repeated = None if earlier is None else arguments.mapping(earlier, "earlier")
    profile = read_profile(cluster)
    options = read_options(
        profile.profile,
        kubernetes=kubernetes,
        webhooks=webhooks,
        unknown_kinds=unknown_kinds,
        select=select,
        ignore=ignore,
        severity=severity,
        schemas=schemas,
        extensions=extensions,
    )

    return lint_source(
        source,
        filename,
        options,
        beside=others,
        profile=profile,
        pause=pause,
        earlier=repeated,
    )


def lint_source(
    source: StreamSource,
    filename: str | None,
    options: LintOptions,
    *,
    beside: Objects | None = None,
    profile: ProfileRead = NO_PROFILE,
    pause: Callable[[], None] | None = None,
    earlier: Mapping[ObjectIdentity, str] | None = None,
) -> Report:
    """Return the report of one source; if it has no document, that is a mistake."""
    parsed = streams.read(source, filename, kubectl=options.versions.kubernetes)
    file = File(parsed, arguments.filename(source, filename))
    report = lint_inputs(
        options.inputs(file, beside, profile=profile), options, pause=pause, earlier=earlier
    )
    parsed.documents = ()  # breaks the reference cycle between documents and source
    return report


def lint_inputs(
    inputs: Inputs,
    options: LintOptions,
    *,
    may_be_empty: bool = False,
    pause: Callable[[], None] | None = None,
    earlier: Mapping[ObjectIdentity, str] | None = None,
) -> Report:
    """Return the report of a file that has been read; `lint` describes `pause` and `earlier`.

    `may_be_empty` is for a file among others and for a text that is being written: only a whole
    call that has nothing to look at is wrong.
    """
    (file,) = inputs.files
    role = chart_role(file.name)
    if role == "values":
        return Report((), len(file.source.documents), ("the values of a Helm chart",))

    template_problem = unrendered_file(file.source, role)
    if template_problem is not None:
        return _template_report(file, *template_problem, options.selection)

    coverage = _Coverage()
    problems = [*_problems_of_text(file.source, coverage.unchecked)]
    if is_empty(file.source) and not may_be_empty:
        problems.append(streams.no_documents())
    of_text = [streams.to_diagnostic(problem, None, file.name) for problem in problems]
    of_objects = _object_diagnostics(inputs, options, coverage, pause, earlier or {})
    of_text += inputs.variant_diagnostics
    successors = _successors(file, options)
    # lazy: once enough findings are reported, the rest of the file is not checked
    everything: Iterable[Diagnostic] = chain(
        inputs.settings_diagnostics, of_text, of_objects, successors
    )
    if options.kustomizations:
        everything = [*everything]
        lacks_value = any(diagnostic.name == "required-value" for diagnostic in everything)
        kustomized = kustomize_note(file.name, options.kustomizations) if lacks_value else None
        if kustomized is not None:
            note, is_patch = kustomized
            if is_patch:
                return _template_report(file, 0, note, options.selection)
            everything = _with_namespace(everything, streams.to_diagnostic(note, None, file.name))

    diagnostics, ignored = streams.select(everything, options.selection, file.name)
    reported, suppressed = _without_suppressed(file, diagnostics, options.selection)
    objects = () if earlier is None else _digests(inputs)

    return Report(
        tuple(inputs.once_each(reported)),
        len(file.source.documents),
        tuple(coverage.unchecked),
        (*suppressed, *ignored),
        objects,
        coverage.checked,
    )


class _Coverage:
    """Which objects were looked at: the names of those that were not checked, and the number of
    the others.
    """

    def __init__(self) -> None:
        self.unchecked: list[str] = []
        self.checked = 0


def _successors(file: File, options: LintOptions) -> Iterable[Diagnostic]:
    """Return the notes on operators that have a successor, if they are selected."""
    if not options.names_successors or not options.selection.includes(
        "operator-with-successor", "style"
    ):
        return ()
    from ptcompile.linter.successors import successor_notes

    return successor_notes(file.source, file.name)


def _with_namespace(diagnostics: list[Diagnostic], note: Diagnostic) -> list[Diagnostic]:
    """Return the findings of a file whose namespaces kustomize fills in, with the note if one
    was missing.
    """
    others = [d for d in diagnostics if d.name != "required-value" or d.path[-1:] != ("namespace",)]
    if len(others) == len(diagnostics):
        return others
    return [*others, note]


def _digests(inputs: Inputs) -> tuple[tuple[ObjectIdentity, str], ...]:
    """Return the digests of the file's objects, which tell repeated ones."""
    from ptcompile.linter.repeated import object_digests

    return tuple(object_digests(inputs.files[0].source, inputs.definitions).items())


def _template_report(file: File, index: int, problem: Problem, selected: Selection) -> Report:
    """Return the report of a file that is entirely a template: one note, whatever its content."""
    documents = file.source.documents
    document = next(
        (candidate for candidate in documents if candidate.index == index and problem.path), None
    )
    note = streams.to_diagnostic(problem, document, file.name)
    reported, ignored = streams.select([note], selected, file.name)
    return Report(tuple(reported), len(documents), (), tuple(ignored))


def _problems_of_text(source: Source, unchecked: list[str]) -> Problems:
    """Yield the problems of a text itself. For a file that is not for Kubernetes, only YAML errors
    count; lists in it are appended to `unchecked`.
    """
    if not source.problems:
        return

    is_foreign = bool(source.text and source.documents) and all(
        foreign_kind(document.data) for document in source.documents
    )
    problems = [
        problem
        for problem in source.problems
        if not (is_foreign and problem.name in _KUBERNETES_RULES)
    ]
    if not source.documents:
        lists = frozenset(source.lists)
        unchecked += ["a list" for problem in problems if problem in lists]
        problems = [problem for problem in problems if problem not in lists]
    yield from text_problems(source, problems)


_KUBERNETES_RULES = frozenset({"unsupported-yaml", "duplicate-key"})
"""Rules that apply only to Kubernetes objects."""


def _without_suppressed(
    file: File, diagnostics: Sequence[Diagnostic], selected: Selection
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return the findings after suppression, with the problems of the comments themselves; and the
    suppressed findings.
    """
    if "ptcompile:" not in file.source.text:
        return tuple(diagnostics), ()

    from ptcompile.source.suppression import suppress

    reported, suppressed, problems = suppress(file.source, diagnostics, selected)
    of_comments = (
        selected.with_severity(streams.to_diagnostic(problem, None, file.name))
        for problem in problems
    )

    return (*reported, *of_comments), suppressed


def _object_diagnostics(
    inputs: Inputs,
    options: LintOptions,
    coverage: _Coverage,
    pause: Callable[[], None] | None,
    earlier: Mapping[ObjectIdentity, str],
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a file's objects, which are added to `coverage`."""
    (file,) = inputs.files
    texts = {id(document.data): document.texts for document in file.source.documents}
    stream = _stream(inputs, inputs.created, texts)
    linter = ObjectLinter(inputs, options, stream)
    templates = placeholder_notes(file.source)
    rendered = _RenderedAnyhow(inputs, options) if templates else None
    marked = may_have_marks(file.source.text)
    specs: set[tuple[str, str]] = set()
    reported: set[ObjectIdentity] = set()

    yield from _document_diagnostics(file, templates)
    for item in inputs.items:
        manifest = item.manifest
        if pause is not None:
            pause()
        foreign_name = foreign_kind(manifest) if file.source.text else None
        if foreign_name is not None:
            coverage.unchecked.append(foreign_name)
            continue

        repeated = [
            *streams.repeated_spec(manifest, specs),
            *_defined_earlier(item, inputs, earlier, reported),
        ]
        unknown: list[str] = []
        is_template = item.document.index in templates
        problems = linter.problems(manifest, unknown, is_template=is_template)
        if is_template and rendered is not None:
            problems = rendered.certain(item, problems)
        coverage.unchecked += unknown
        # if the object itself is unchecked, it is the first name: objects inside it follow
        coverage.checked += unknown[:1] != [streams.unchecked_name(manifest)]
        stamped = map(
            item.to_diagnostic, without_verdicts_on_marks([*repeated, *problems], manifest, marked)
        )
        yield from _once_per_template(stamped)

    stream.release()


def _stream(
    inputs: Inputs,
    objects: Sequence[Json],
    texts: Mapping[int, frozenset[str] | None] | None = None,
) -> Stream:
    return Stream(
        objects,
        inputs.versions,
        texts,
        related=inputs.beside,
        frameworks=inputs.frameworks,
        pools=inputs.pools,
    )


class _RenderedAnyhow:
    """The objects of a template with placeholders removed. A finding that these objects do not have
    is caused by a placeholder.
    """

    def __init__(self, inputs: Inputs, options: LintOptions) -> None:
        self._objects = {
            id(item.manifest): without_placeholders(item.manifest) for item in inputs.items
        }
        created = [object for manifest in self._objects.values() for object in unwrapped(manifest)]
        self._linter = ObjectLinter(inputs, options, _stream(inputs, created))

    def certain(self, item: Item, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems that the object has whatever its placeholders stand for."""
        others = self._linter.problems(self._objects[id(item.manifest)], [], is_template=False)
        kept = {(problem.name, problem.path, problem.text) for problem in others}
        return [
            problem for problem in problems if (problem.name, problem.path, problem.text) in kept
        ]


def _document_diagnostics(file: File, templates: Mapping[int, Problem]) -> Iterator[Diagnostic]:
    """Yield the diagnostics of items that are not objects, and the one of the first template of
    the file.
    """
    first_template = next(iter(templates), None)
    for document in file.source.documents:
        for problem in streams.not_objects(document.data):
            yield streams.to_diagnostic(problem, document, file.name)
        if document.index == first_template:
            yield streams.to_diagnostic(templates[document.index], document, file.name)


def _once_per_template(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics; if roles share a pod template by a YAML alias, only those of the first
    role.
    """
    reported = set()
    for diagnostic in diagnostics:
        path = diagnostic.path
        keys = [i for i, key in enumerate(path) if isinstance(key, str) and key.endswith("emplate")]
        if keys and diagnostic.span is not None:
            identity = (diagnostic.code, diagnostic.span, diagnostic.text, path[keys[-1] + 1 :])
            if identity in reported:
                continue
            reported.add(identity)
        yield diagnostic


def _defined_earlier(
    item: Item, inputs: Inputs, earlier: Mapping[ObjectIdentity, str], reported: set[ObjectIdentity]
) -> list[Problem]:
    """Return the warning that an earlier file of the folder defines the object, once per object
    of this file.
    """
    if not earlier:
        return []
    from ptcompile.linter.repeated import object_key, repeated_in_folder

    key = object_key(item.manifest, inputs.definitions)
    if key is None or key not in earlier or key in reported:
        return []
    reported.add(key)
    return [repeated_in_folder(item.manifest, earlier[key])]
