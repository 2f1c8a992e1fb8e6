"""Contents of the `explain --html` page, gathered for every target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.advice import targets_by_finding
from ptcompile.diagnostics import Diagnostic, Path, Problem, field_path, has_error, line_range
from ptcompile.explainer.explanation import Draft, Explanation, SharedInputs, with_causes
from ptcompile.explainer.model import Input
from ptcompile.explainer.page.queue import admissions
from ptcompile.explainer.rendering import source_name
from ptcompile.explainer.values import shown_value
from ptcompile.kubernetes.unstructured import object_name, values_in
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.report.text import lines_to_quote
from ptcompile.simulator.world import World, simulate
from ptcompile.source import documents as source, emitter, streams
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.explainer.sensitivity import InputName
    from ptcompile.kinds.admission import JobAdmission
    from ptcompile.spec.cluster_profile import ClusterProfile

    Strength = Literal["value", "there", "said"]
    """How a line matters: another value on it changes the result, only omitting it does, or
    neither does alone.
    """
    Outdated = Literal["", "manifests", "everything"]


class SourceLines(NamedTuple):
    """The lines of a file that a value came from, or a description in `words` if it is in no
    file.
    """

    file: InputName
    first: int
    """Line number, counted from 1; 0 if there is no line."""
    last: int
    strength: Strength
    words: str = ""


class Reason(NamedTuple):
    """The reason for some lines of the manifests."""

    first: int
    last: int
    by: str
    """The writer: "spec", "target", or the name of a pass."""
    rule: str
    origins: tuple[SourceLines, ...]


class SourceText(NamedTuple):
    """The lines of a file or of the manifests."""

    lines: tuple[str, ...]
    inside: frozenset[int] = frozenset()
    """Lines that continue a multi-line value, so they have no keys and no comments."""
    numbers: tuple[int, ...] = ()
    """The number of each line if these are some lines of a file, or empty if they are all of
    them.
    """

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers, from 1."""
        return zip(self.numbers or range(1, len(self.lines) + 1), self.lines, strict=True)


OriginCache = dict[int, tuple[SourceLines, ...]]
"""The lines that values came from, by the identity of their inputs, which outlive it."""


class Panel(NamedTuple):
    """The spec or the profile."""

    file: InputName
    filename: str
    text: SourceText | None
    """The lines; of a file that could not be parsed only those with errors, as in a report, or
    None without any.
    """


class PageFinding(NamedTuple):
    """A finding, and the targets it concerns."""

    diagnostic: Diagnostic
    targets: tuple[str, ...]
    file: InputName
    line: int
    """Line number, or 0 if there is no line."""


class Listing(NamedTuple):
    """One target: its manifests as one stream, and the reason for every value."""

    target: str
    title: str
    text: SourceText
    """The manifests; without lines if the target cannot express any job of the spec."""
    reasons: tuple[Reason, ...]
    explanation: Explanation
    world: World
    admissions: tuple[JobAdmission, ...] = ()
    """What the queues in the profile's objects answer about the jobs."""


class ExplainPage(NamedTuple):
    """One spec with its profile, for some targets."""

    name: str
    """Name of the job, or the names of several."""
    panels: tuple[Panel, ...]
    listings: tuple[Listing, ...]
    findings: tuple[PageFinding, ...]
    chosen: str
    """The target shown first: the one that `compile` would use, else the first that can express
    the job.
    """
    diagnostics: tuple[Diagnostic, ...]
    """The diagnostics of `compile`."""
    outdated: Outdated = ""
    """The parts that are from an earlier version of the files."""
    notice: str = ""
    """Why everything is outdated, as a sentence."""

    @property
    def compiles(self) -> bool:
        """Whether the whole spec compiles for at least one target."""
        blocked = {
            target
            for each in self.findings
            if each.diagnostic.blocks_compile
            for target in each.targets
        }
        return any(each.text.lines and each.target not in blocked for each in self.listings)

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of all targets on the page."""
        return tuple(target_listing.target for target_listing in self.listings)


def listing(
    target: str, explanation: Explanation, profile: ClusterProfile, known: OriginCache
) -> Listing:
    """Return a target's listing: its manifests as `compile` writes them, with secrets masked,
    and their pods. Targets share `known`.
    """
    has_secrets = any(cause.masked for cause in explanation.causes)
    manifests = [
        without_secrets(manifest) if has_secrets else manifest for manifest in explanation.manifests
    ]
    lines: list[str] = []
    ranges: list[dict[Path, tuple[int, int]]] = []
    for manifest in manifests:
        if lines:
            lines.append("---")
        ranges.append(emitter.line_ranges(manifest, len(lines) + 1))
        lines += emitter.emit(manifest).split("\n")[:-1]

    reasons = [
        Reason(
            *_lines_at(cause.path, ranges[cause.manifest]),
            cause.by,
            cause.rule,
            _origins(cause.inputs, explanation, known),
        )
        for cause in explanation.causes
    ]
    world = simulate(manifests, versions=profile.versions(), target=target)
    answers = admissions(manifests, profile)
    inside = _continuation_lines(
        range_ for of_manifest in ranges for range_ in of_manifest.values()
    )
    text = SourceText(tuple(lines), inside)

    return Listing(
        target=target,
        title=target_named(target).title,
        text=text,
        reasons=tuple(reasons),
        explanation=explanation,
        world=world,
        admissions=answers,
    )


def _lines_at(path: Path, ranges: Mapping[Path, tuple[int, int]]) -> tuple[int, int]:
    """Return the first and last line of a value, or of the closest parent if a masked key is on
    its path.
    """
    return ranges.get(path) or _lines_at(path[:-1], ranges)


def _continuation_lines(ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
    """Return the line numbers, from 1, that continue a multi-line value."""
    return frozenset(
        line for first, last in ranges if first != last for line in range(first + 1, last + 1)
    )


def _origins(
    inputs: Sequence[Input], explanation: Explanation, known: OriginCache
) -> tuple[SourceLines, ...]:
    """Return the lines a value came from, each once: lines whose values matter come first, then
    lines that matter only if omitted.
    """
    key = id(inputs)
    if key in known:
        return known[key]

    origins: list[SourceLines] = []
    for line in sorted(inputs, key=lambda line: (not line.other_value, not line.left_out)):
        origin = _source_lines(line, explanation)
        # inputs are sorted: a later one on the same lines has a weaker effect
        if not origin.first or all(earlier[:3] != origin[:3] for earlier in origins):
            origins.append(origin)

    known[key] = tuple(dict.fromkeys(origins))
    return known[key]


def _source_lines(line: Input, explanation: Explanation) -> SourceLines:
    strength: Strength = "there" if line.left_out else "said"
    if line.other_value:
        strength = "value"
    if line.span is None:
        name = source_name(line, explanation)
        words = f"{name}: {field_path(line.path)}: {shown_value(line.value, 80)}"
        return SourceLines(line.file, 0, 0, strength, words)
    return SourceLines(line.file, *line_range(line.span), strength)


def gather(
    shared: SharedInputs,
    profile: ClusterProfile | None,
    draft: Callable[[str | None], Draft],
    target: str | None,
) -> ExplainPage:
    """Return the page of a spec for one target, or for all of them, each as `draft` explains it.

    Without a profile, because it is wrong, there are no listings.
    """
    sources = shared.sources
    names = _filenames(shared)
    requested, shown_target, explanations = _explain_targets(draft, shared, target)
    known: OriginCache = {}
    jobs = filter(None, (object_name(document.data) for document in sources["spec"].documents))

    return ExplainPage(
        ", ".join(jobs) or names["spec"],
        tuple(_make_panel(file, names[file], read, requested) for file, read in sources.items()),
        tuple(listing(name, result, profile, known) for name, result in explanations.items())
        if profile is not None
        else (),
        tuple(_page_findings(explanations, sources, names)),
        shown_target,
        requested.diagnostics,
    )


def _filenames(shared: SharedInputs) -> dict[InputName, str]:
    """Return the names of the files, as the page shows them."""
    cluster = shared.sources.get("cluster")
    cluster_filename = cluster.filename if cluster is not None else None
    return {"spec": shared.filename or "spec.yaml", "cluster": cluster_filename or "cluster.yaml"}


def is_too_large(shared: SharedInputs) -> bool:
    """Return whether a page of these files would be above the limit."""
    return sum(map(_count_values, shared.sources.values())) > limits().page


def with_earlier_manifests(page: ExplainPage, earlier: ExplainPage) -> ExplainPage:
    """Return the page of a spec that does not compile with the manifests of its earlier version.

    Their lines keep their authors but not their origins: the files have other lines now.
    """
    listings = (
        each._replace(reasons=tuple(reason._replace(origins=()) for reason in each.reasons))
        for each in earlier.listings
    )
    return page._replace(
        name=earlier.name, listings=tuple(listings), chosen=earlier.chosen, outdated="manifests"
    )


def _count_values(read: source.Source) -> int:
    """Return the number of values in a file with aliases expanded, plus text lines; 500
    characters count as a line.
    """
    total = 0
    for value in chain.from_iterable(values_in(document.data) for document in read.documents):
        total += 1
        if isinstance(value, str):
            total += value.count("\n") + len(value) // 500
        if total > limits().page:
            break

    return total


def too_large_page(shared: SharedInputs) -> ExplainPage:
    """Return the page of files above the limit, which says so."""
    filename = _filenames(shared)["spec"]
    message = (
        f"the spec and its profile have more than {limits().page:,} values and lines of texts for "
        "one page"
    )
    help = (
        "explain one path instead, such as `ptcompile explain spec.yaml spec.template.spec.volumes`"
    )
    diagnostic = streams.to_diagnostic(
        Problem("too-large", (), message, help, authority="ptcompile"), None, filename
    )
    finding = PageFinding(diagnostic, tuple(TARGETS), "spec", 0)

    return ExplainPage(
        name=filename,
        panels=(Panel("spec", filename, None),),
        listings=(),
        findings=(finding,),
        chosen="",
        diagnostics=(diagnostic,),
    )


def _explain_targets(
    draft: Callable[[str | None], Draft], shared: SharedInputs, target: str | None
) -> tuple[Explanation, str, dict[str, Explanation]]:
    """Return the requested explanation, the target to show, and the explanation of each target."""
    requested_draft = draft(target)
    requested = requested_draft.explanation
    chosen = list(dict.fromkeys(job.target for job in requested.jobs))
    drafts = {
        name: requested_draft if target is not None or chosen == [name] else draft(name)
        for name in (TARGETS if target is None else (target,))
    }
    explanations = with_causes(drafts, shared)
    # a page excludes the targets of plugins
    chosen = [name for name in chosen if name in explanations]
    able = [name for name, result in explanations.items() if result.jobs]
    # a job that does not compile for its target is shown for the first that it compiles for
    if not requested.jobs and able:
        requested = explanations[able[0]]

    return requested, next(iter([*chosen, *able, *explanations])), explanations


def _make_panel(
    file: InputName, filename: str, read: source.Source, explanation: Explanation
) -> Panel:
    """Return a file with secrets masked; only the lines with errors if parts of it could not be
    parsed.
    """
    masked = explanation.texts.get(file)
    if masked is None or has_error(read.problems):
        quoted = lines_to_quote(explanation.diagnostics, read.text, filename)
        excerpt = SourceText(tuple(quoted.values()), frozenset(), tuple(quoted)) if quoted else None
        return Panel(file, filename, excerpt)
    lines = masked.lines[:-1] if masked.lines[-1:] == ("",) else masked.lines
    spans = (span for document in read.documents for _, span in document.leaf_spans())
    inside = _continuation_lines(line_range(span) for span in spans if span is not None)
    return Panel(file, filename, SourceText(lines, inside))


def _page_findings(
    explanations: Mapping[str, Explanation],
    sources: Mapping[InputName, source.Source],
    files: Mapping[InputName, str],
) -> Iterator[PageFinding]:
    """Yield the findings of any target, each once, in line order."""
    names = list(explanations)
    findings: list[PageFinding] = []
    numbers_by_finding = targets_by_finding([each.diagnostics for each in explanations.values()])
    for diagnostic, numbers in numbers_by_finding.items():
        file: InputName = "spec"
        if "cluster" in sources and diagnostic.filename == files["cluster"] != files["spec"]:
            file = "cluster"
        targets = tuple(names[i] for i in numbers)
        line = _finding_line(diagnostic, sources[file])
        findings.append(PageFinding(diagnostic, targets, file, line))

    yield from sorted(findings, key=lambda finding: (finding.file != "spec", finding.line))


def _finding_line(diagnostic: Diagnostic, read: source.Source) -> int:
    """Return the line at which to show a finding; for a multi-line mapping, that of its key."""
    span = diagnostic.span
    if span is None:
        return 0
    if span.line < span.end_line and diagnostic.path:
        document = next((d for d in read.documents if d.index == diagnostic.document), None)
        if document is not None:
            span = document.span(diagnostic.path, on_key=True) or span

    return span.line
