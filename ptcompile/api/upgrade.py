"""`upgrade`: what other releases of Kubernetes and the operators mean for manifests and specs
that do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import pluralize
from ptcompile.api.inputs import (
    AnyProfile,
    Inputs,
    Item,
    JobSource,
    OverridePairs,
    SchemaPaths,
    unique,
)
from ptcompile.api.lint import lint_inputs
from ptcompile.api.options import LintOptions
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.differ import DiffSide, compare
from ptcompile.differ.model import ObjectDifference
from ptcompile.differ.text import change_cells, change_line, object_title
from ptcompile.source.streams import resource_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.extending import Extensions
    from ptcompile.kubernetes.unstructured import JsonDict

EFFECTS = ("refused", "fails", "ignored", "warned", "differs", "resolved")
"""What happens to an object with the new releases, worst first: it or its pods are refused, it runs
and fails, the new release drops or passes over a field, lint warns, its pods differ, a finding is
gone.
"""
_IGNORED = frozenset({"gate-off", "kueue-framework-off", "word-without-effect"})
"""Rules about what a release drops or does not look at."""


class UpgradeEffect(NamedTuple):
    """What the new releases change for one object."""

    filename: str | None
    object: str
    """`Kind/name`."""
    effect: str
    """One of `EFFECTS`."""
    text: str
    """The message of a finding, or the difference of the pods or of the manifest that a spec
    compiles to.
    """
    code: str | None = None
    """The code of the finding, or None for a difference."""
    line: int | None = None
    """The line of the finding, if it has one."""

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return self._asdict()


class Upgrade(NamedTuple):
    """What an upgrade of a cluster means for the objects of a stream."""

    effects: tuple[UpgradeEffect, ...]
    """By object, worst first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in what was given. With an error among them, nothing is compared."""
    objects: int = 0
    """Number of objects that were compared."""

    @property
    def ok(self) -> bool:
        """Whether there are no mistakes, and nothing changes for the worse or in the world."""
        return not has_error(self.diagnostics) and all(
            row.effect == "resolved" for row in self.effects
        )

    def __add__(self, other: object) -> Upgrade:
        """Return what an upgrade means for the objects of both."""
        if not isinstance(other, Upgrade):
            return NotImplemented
        return Upgrade(
            effects=self.effects + other.effects,
            diagnostics=self.diagnostics + other.diagnostics,
            objects=self.objects + other.objects,
        )

    def summary(self) -> str:
        """Return how many objects have each effect, as a sentence, or that mistakes kept them
        from being compared.
        """
        if has_error(self.diagnostics) and not self.objects:
            return "nothing compared: what was given has errors"

        counts = [
            f"{len({row[:2] for row in self.effects if row.effect == effect})} {effect}"
            for effect in EFFECTS
            if any(row.effect == effect for row in self.effects)
        ]
        objects = pluralize(self.objects, "object")

        return f"{objects}: {', '.join(counts) or 'nothing changes'}"

    def text(self) -> str:
        """Return the effects as text, by object, with a summary at the end."""
        from ptcompile.report.layout import join_escaped

        lines: list[str] = []
        for row in self.effects:
            title = f"{row.filename}: {row.object}" if row.filename else row.object
            if title not in lines:
                lines.append(title)
            lines.append(f"  {row.effect:<8} {_with_code(row)}")
        return join_escaped([*lines, self.summary()])

    def markdown(self) -> str:
        """Return the summary and a table with a row for each effect, as GitHub Markdown."""
        from ptcompile.report.ci import html_code, table

        rows = [
            [
                html_code(row.filename or "-"),
                html_code(row.object),
                row.effect,
                html_code(_with_code(row)),
            ]
            for row in self.effects
        ]
        head = f"{self.summary()}\n"
        if rows:
            return f"{head}\n{table(('File', 'Object', 'Effect', 'What'), rows)}"

        return head

    def to_dict(self) -> JsonDict:
        """Return the JSON form (schemas/upgrade.schema.json)."""
        return {
            "version": 1,
            "objects": self.objects,
            "effects": [row.to_dict() for row in self.effects],
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def _with_code(row: UpgradeEffect) -> str:
    return f"{row.code} {row.text}" if row.code else row.text


def upgrade(
    source: JobSource,
    *,
    from_cluster: AnyProfile | None = None,
    to_cluster: AnyProfile | None = None,
    filename: str | None = None,
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    beside: Iterable[StreamSource] | None = None,
    schemas: SchemaPaths = (),
    extensions: Extensions | None = None,
) -> Upgrade:
    """Return what becomes refused, ignored, warned about or different when a cluster is upgraded.

    The releases are those of the two profiles; without one, they are the newest that are known.
    Findings are those that `lint` has under `to_cluster` and not under `from_cluster`; the pods,
    and the manifests of a spec, are compared as `diff` does. The other arguments are those of
    `lint` and `compile`. Mistakes in the sources never raise. Raises ValueError for a path in
    `schemas` that cannot be read or contains no definition.
    """
    arguments.check(filename=filename)
    others = None if beside is None else [*beside]
    chosen = arguments.strings(variants, "variants")
    before, after = (
        Inputs.read(
            source,
            filename=filename,
            cluster=cluster,
            name=name,
            overrides=[*overrides],
            variants=chosen,
            beside=others,
            schemas=schemas,
            extensions=extensions,
        )
        for cluster in (from_cluster, to_cluster)
    )

    return upgrade_inputs(before, after)


def upgrade_inputs(before: Inputs, after: Inputs) -> Upgrade:
    """Return what the releases of `after` change for a file, which both inputs have read."""
    old, old_problems = before.compile_specs()
    mistakes = unique([*before.limited(*old_problems), *after.limited()])
    if has_error(mistakes):
        return Upgrade((), mistakes)

    new, _ = after.compile_specs()
    earlier = _findings(before)
    later = _findings(after)
    rows = [
        _of_finding(later[key], _effect_of(later[key])) for key in later.keys() - earlier.keys()
    ]
    rows += [_of_finding(earlier[key], "resolved") for key in earlier.keys() - later.keys()]
    rows += _differences(before, after, old, new)
    order = {
        title: number
        for number, title in enumerate(resource_name(item.manifest) for item in after.items)
    }
    rows.sort(
        key=lambda row: (
            order.get(row.object, len(order)),
            row.object,
            EFFECTS.index(row.effect),
            row.text,
        )
    )

    return Upgrade(tuple(rows), mistakes, len(after.items))


def _findings(inputs: Inputs) -> Mapping[object, Diagnostic]:
    """Return the errors and warnings that lint finds in a file, keyed by code, document and
    path.
    """
    options = LintOptions(
        profile=inputs.given_profile,
        versions=inputs.versions,
        extensions=inputs.extensions,
        schemas=inputs.schemas,
    )
    report = lint_inputs(options.inputs(inputs.files[0], inputs.beside), options, may_be_empty=True)
    return {(d.code, d.document, d.path): d for d in report.diagnostics if d.severity != "note"}


def _effect_of(finding: Diagnostic) -> str:
    if finding.name in _IGNORED:
        return "ignored"
    if finding.severity != "error":
        return "warned"
    return "refused" if finding.stage in ("apply", "pod") else "fails"


def _of_finding(finding: Diagnostic, effect: str) -> UpgradeEffect:
    return UpgradeEffect(
        filename=finding.filename,
        object=finding.resource or "",
        effect=effect,
        text=finding.message,
        code=finding.code,
        line=finding.span.line if finding.span else None,
    )


def _differences(
    before: Inputs, after: Inputs, old: Iterable[Item], new: Iterable[Item]
) -> Iterator[UpgradeEffect]:
    """Yield what differs in the pods, and in the manifests that a spec compiles to."""
    earlier = DiffSide([item.manifest for item in old], before.versions, before.related)
    later = DiffSide([item.manifest for item in new], after.versions, after.related)
    if not earlier.manifests or not later.manifests:
        return

    for difference in compare(earlier, later):
        title = object_title(difference, ("the old releases", "the new ones"))
        yield from (
            UpgradeEffect(after.filename, title, "differs", text) for text in _sentences(difference)
        )


def _sentences(difference: ObjectDifference) -> Iterator[str]:
    """Yield each difference of an object in words."""
    if difference.before is None or difference.after is None:
        yield "it is written for one of the releases only"
    for fact in difference.facts:
        yield (
            f"{fact.subject}: {fact.what}: "
            f"{' '.join(change_cells(fact.before, fact.after)).removeprefix('~ ')}"
        )
    yield from map(change_line, difference.changes)
