"""An explanation as text and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ptcompile._internal.paths import MISSING
from ptcompile.diagnostics import Path, field_path
from ptcompile.explainer.model import Cause, Explained, Input, PassChange, PassExplanation
from ptcompile.explainer.values import Named, shown_path, shown_value
from ptcompile.report.layout import printable
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.explainer.model import Told


VERSION = 1


def to_dict(explanation: Told) -> dict[str, Any]:
    """The whole explanation. Manifests are named only: `ptcompile compile` writes them."""
    return {
        "version": VERSION,
        "jobs": [_job_as_json(job) for job in explanation.jobs],
        "manifests": [streams.resource_name(manifest) for manifest in explanation.manifests],
        "causes": [cause_to_dict(cause) for cause in explanation.causes],
        "files": {file: text.filename for file, text in explanation.texts.items()},
        "diagnostics": [d.to_dict() for d in explanation.diagnostics],
    }


def _job_as_json(job: Explained) -> dict[str, Any]:
    return {
        "resource": job.resource,
        "target": job.target,
        "chosenBy": job.chosen_by,
        "manifests": list(job.manifests),
        "steps": [
            {"pass": step.name, "changes": [_change_as_json(change) for change in step.changes]} for step in job.steps
        ],
    }


def _change_as_json(change: PassChange) -> dict[str, Any]:
    out: dict[str, Any] = {
        "kind": change.kind,
        "roles": list(change.roles),
        "path": list(change.path),
        "shown": change.shown,
        "masked": change.masked,
    }
    sides = {"before": change.before, "after": change.after}
    return {**out, **{name: value for name, value in sides.items() if value is not MISSING}}


def cause_to_dict(cause: Cause) -> dict[str, Any]:
    """One cause."""
    return {
        "manifest": cause.manifest,
        "path": list(cause.path),
        "shown": cause.shown,
        "value": cause.value,
        "by": cause.by,
        "rule": cause.rule,
        "inputs": [_input(one) for one in cause.inputs],
        "masked": cause.masked,
    }


def _input(one: Input) -> dict[str, Any]:
    return {
        "file": one.file,
        "path": list(one.path),
        "value": one.value,
        "leftOut": one.left_out,
        "otherValue": one.other_value,
        "given": one.given,
        "span": one.span._asdict() if one.span else None,
        "masked": one.masked,
    }


_WHY = {"caller": "you asked for it", "spec": "spec.target", "default": "what the job needs"}
_MANY = 6
"""Lines of the spec that are shown of one value; JSON has all."""


def trace_text(explanation: Told) -> str:
    """Each job: its target and manifests, what the passes did, and what the target wrote on its own account."""
    of_manifest: defaultdict[int, list[Cause]] = defaultdict(list)
    for one in explanation.causes:
        of_manifest[one.manifest].append(one)
    causes = ([one for i in job.manifests for one in of_manifest[i]] for job in explanation.jobs)
    blocks = (_job_as_text(job, own, explanation) for job, own in zip(explanation.jobs, causes, strict=True))
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _job_as_text(job: Explained, own: Sequence[Cause], explanation: Told) -> Iterator[str]:
    made = ", ".join(streams.resource_name(explanation.manifests[i]) or "" for i in job.manifests)
    yield printable(f"{job.resource} -> {made}  (target {job.target}: {_WHY[job.chosen_by]})")
    yield ""
    said = sum(one.by == "spec" for one in own)
    yield f"spec: {said} of {len(own)} values are as you wrote them"
    roles = {role for step in job.steps for change in step.changes for role in change.roles}
    for step in job.steps:
        yield from _step(step, len(roles))
    yield f"target {job.target}:"
    several = len(job.manifests) > 1
    written = [one for one in own if one.by == "target"]
    named = Named()
    for shown, group in groupby(written, key=lambda one: _above(one, explanation, named, several=several)):
        values = [one.value for one in group]
        yield f"  + {printable(shown)}: {shown_value(values[0] if len(values) == 1 else values)}"


def _above(cause: Cause, explanation: Told, named: Named, *, several: bool) -> str:
    """A cause's path, or that of the list whose plain item it is; with its object where there are several."""
    manifest = explanation.manifests[cause.manifest]
    path = cause.path[:-1] if isinstance(cause.path[-1], int) else cause.path
    kind = f"{manifest['kind']}: " if several else ""
    return kind + shown_path(path, manifest, named)


def _step(step: PassExplanation, roles: int) -> Iterator[str]:
    yield f"{step.name}:{'' if step.changes else ' nothing to do'}"
    for change in step.changes:
        yield f"  {_change_as_text(change, roles)}"


def _change_as_text(change: PassChange, roles: int) -> str:
    where = "" if len(change.roles) == roles else f"{', '.join(change.roles) or 'job'}: "
    path = printable(f"{where}{change.shown}")
    if change.kind == "changed":
        return f"~ {path}: {shown_value(change.before, 48)} -> {shown_value(change.after, 48)}"
    added = change.kind == "added"
    return f"{'+' if added else '-'} {path}: {shown_value(change.after if added else change.before)}"


def causes_text(explanation: Told, causes: Sequence[Cause]) -> str:
    """The causes in their order; those that stand together and have the same reasons are one paragraph."""
    several = len({one.manifest for one in causes}) > 1
    targets = {i: job.target for job in explanation.jobs for i in job.manifests}
    blocks = [
        "".join(f"{line}\n" for line in _paragraph(list(group), explanation, targets, several=several))
        for _, group in groupby(causes, key=_reasons)
    ]
    return "\n".join(blocks)


def _reasons(cause: Cause) -> tuple[object, ...]:
    return cause.manifest, cause.by, cause.rule, frozenset(_line(one) for one in cause.inputs)


def _line(one: Input) -> tuple[object, ...]:
    """What a line of a file is known by; where there is no file, the path of what holds the value."""
    return one.file, one.path[:-1] if one.span is None else one.span.line


def _paragraph(
    causes: Sequence[Cause], explanation: Told, targets: Mapping[int, str], *, several: bool
) -> Iterator[str]:
    first = causes[0]
    if several:
        yield printable(f"# {streams.resource_name(explanation.manifests[first.manifest])}")
    for one in causes:
        yield f"{printable(one.shown)}: {shown_value(one.value)}"
    author = {"spec": "the spec", "target": f"the target {targets.get(first.manifest, '')}"}.get(
        first.by, f"the pass {first.by}"
    )
    yield f"  written by  {author}"
    yield f"  rule        {first.rule}"
    if not first.inputs:
        yield "  value from  nothing in the spec or the profile"
    inputs = [one for cause in causes for one in cause.inputs]
    values = {(one.file, one.path): one for one in inputs if one.other_value}
    around = {(file, path[:length]) for file, path in values for length in range(len(path) + 1)}
    others = {(one.file, one.path): one for one in inputs if (one.file, one.path) not in around}
    yield from _inputs(values.values(), "value from", explanation)
    yield from _inputs((one for one in others.values() if one.left_out), "there for", explanation)
    yield from _inputs((one for one in others.values() if not one.left_out), "said at", explanation)


def _inputs(inputs: Iterable[Input], label: str, explanation: Told) -> Iterator[str]:
    """The lines, each once, with the paths on it."""
    by_line: dict[tuple[object, ...], list[Input]] = {}
    for one in inputs:
        by_line.setdefault(_line(one), []).append(one)
    for same in list(by_line.values())[:_MANY]:
        yield f"  {label:<10}  {_place(same, explanation)}"
        first, text = same[0], explanation.texts.get(same[0].file)
        if first.span is not None and text is not None and first.span.line <= len(text.lines):
            yield f"  {'':<10}  {first.span.line} | {_cut(text.lines[first.span.line - 1])}"
        label = ""
    if len(by_line) > _MANY:
        yield f"  {'':<10}  and {len(by_line) - _MANY} lines more"


def _place(inputs: Sequence[Input], explanation: Told) -> str:
    """Where lines are, and what they say where there is no line to show."""
    first, text = inputs[0], explanation.texts.get(inputs[0].file)
    if not first.given:
        name = "the built-in profile" if text is None else "the profile's default"
    else:
        name = (text.filename if text else None) or ("the profile" if first.file == "cluster" else "the spec")
    where = name if first.span is None else f"{name}:{first.span.line}:{first.span.column}"
    value = ""
    if first.span is None:
        values = {str(one.path[-1]): one.value for one in inputs}
        value = f": {shown_value(values if len(inputs) > 1 else first.value, 80)}"
    return printable(f"{where}  {_paths([one.path for one in inputs], named=first.span is not None)}") + value


def _paths(paths: Sequence[Path], *, named: bool) -> str:
    """Several paths as one text: what they share, and the last keys behind it unless the values name them."""
    above = {path[:-1] for path in paths}
    if len(paths) == 1 or len(above) > 1:
        return ", ".join(map(field_path, paths))
    keys = ", ".join(str(path[-1]) for path in paths)
    return field_path(above.pop()) + (f".{{{keys}}}" if named else "")


def _cut(line: str) -> str:
    return printable(line.strip().expandtabs() if len(line) <= 120 else f"{line.strip()[:116]} ...")
