"""Rendering of an explanation as text and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ptcompile.diagnostics import Path, field_path
from ptcompile.explainer.model import Cause, Explained, Input, PassChange
from ptcompile.explainer.values import shown_value
from ptcompile.kubernetes.unstructured import MISSING, JsonDict, without_falsy
from ptcompile.report.layout import safe_text
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.explainer.explanation import Explanation


VERSION = 1


def to_dict(explanation: Explanation) -> JsonDict:
    """Return the whole explanation. Manifests are only named: `ptcompile compile` writes them."""
    return {
        "version": VERSION,
        "jobs": [_job_to_dict(job) for job in explanation.jobs],
        "manifests": [streams.resource_name(manifest) for manifest in explanation.manifests],
        "causes": [cause_to_dict(cause) for cause in explanation.causes],
        "files": {file: text.filename for file, text in explanation.texts.items()},
        "diagnostics": [d.to_dict() for d in explanation.diagnostics],
    }


def _job_to_dict(job: Explained) -> JsonDict:
    return {
        "resource": job.resource,
        "target": job.target,
        "chosenBy": job.chosen_by,
        "manifests": list(job.manifests),
        "steps": [
            {"pass": step.name, "changes": [_change_to_dict(change) for change in step.changes]}
            for step in job.steps
        ],
    }


def _change_to_dict(change: PassChange) -> JsonDict:
    out = {
        "kind": change.kind,
        "roles": list(change.roles),
        "path": list(change.path),
        "shown": change.shown,
        "masked": change.masked,
    }
    sides = {"before": change.before, "after": change.after}
    return {**out, **{name: value for name, value in sides.items() if value is not MISSING}}


def cause_to_dict(cause: Cause) -> JsonDict:
    """Return one cause in JSON form."""
    return {
        "manifest": cause.manifest,
        "path": list(cause.path),
        "shown": cause.shown,
        "value": cause.value,
        "by": cause.by,
        "rule": cause.rule,
        "inputs": [_input_to_dict(line) for line in cause.inputs],
        "masked": cause.masked,
    }


def _input_to_dict(line: Input) -> JsonDict:
    return {
        "file": line.file,
        "path": list(line.path),
        "value": line.value,
        "leftOut": line.left_out,
        "otherValue": line.other_value,
        "given": line.given,
        "span": line.span._asdict() if line.span else None,
        "masked": line.masked,
        **without_falsy({"overridden": line.overridden, "over": line.over}),
    }


_TARGET_REASONS = {
    "caller": "requested",
    "spec": "spec.target",
    "configuration": "ptcompile.toml",
    "default": "what the job needs",
}
_MAX_LINES = 6
"""Number of input lines shown per value; JSON has all of them."""


def trace_text(explanation: Explanation) -> str:
    """Return each job's target, manifests, pass changes and the values that only the target
    wrote.
    """
    of_manifest: defaultdict[int, list[Cause]] = defaultdict(list)
    for cause in explanation.causes:
        of_manifest[cause.manifest].append(cause)
    blocks = []
    for job in explanation.jobs:
        causes = [cause for i in job.manifests for cause in of_manifest[i]]
        blocks.append("".join(f"{line}\n" for line in _job_lines(job, causes, explanation)))

    return "\n".join(blocks)


def _job_lines(job: Explained, causes: Sequence[Cause], explanation: Explanation) -> Iterator[str]:
    names = ", ".join(streams.resource_name(explanation.manifests[i]) or "" for i in job.manifests)
    yield safe_text(
        f"{job.resource} -> {names}  (target {job.target}: {_TARGET_REASONS[job.chosen_by]})"
    )
    yield ""
    copied = sum(cause.by == "spec" for cause in causes)
    yield f"spec: {copied} of {len(causes)} values are as you wrote them"
    roles = {role for step in job.steps for change in step.changes for role in change.roles}
    for step in job.steps:
        yield f"{step.name}:" if step.changes else f"{step.name}: nothing to do"
        for change in step.changes:
            yield f"  {_change_text(change, len(roles))}"

    yield f"target {job.target}:"
    several = len(job.manifests) > 1
    for path, group in groupby(
        [cause for cause in causes if cause.by == "target"],
        key=lambda cause: _list_path(cause, explanation, several=several),
    ):
        values = [cause.value for cause in group]
        yield f"  + {safe_text(path)}: {shown_value(values if len(values) > 1 else values[0])}"


def _list_path(cause: Cause, explanation: Explanation, *, several: bool) -> str:
    """Return a cause's path, or its list's path for a plain item; prefixed with the kind if there
    are several objects.
    """
    kind = f"{explanation.manifests[cause.manifest]['kind']}: " if several else ""
    last = cause.path[-1]
    return kind + cause.shown.removesuffix(f"[{last}]" if isinstance(last, int) else "")


def _change_text(change: PassChange, roles: int) -> str:
    roles_prefix = "" if len(change.roles) == roles else f"{', '.join(change.roles) or 'job'}: "
    path = safe_text(f"{roles_prefix}{change.shown}")
    if change.kind == "changed":
        return f"~ {path}: {shown_value(change.before)} -> {shown_value(change.after)}"
    if change.kind == "added":
        return f"+ {path}: {shown_value(change.after)}"
    return f"- {path}: {shown_value(change.before)}"


def causes_text(explanation: Explanation, causes: Sequence[Cause]) -> str:
    """Return the causes in order, with neighbors that have the same reasons in one paragraph."""
    several = len({cause.manifest for cause in causes}) > 1
    targets = {i: job.target for job in explanation.jobs for i in job.manifests}
    blocks = []
    for _, group in groupby(causes, key=_reason_key):
        lines = _paragraph_lines(list(group), explanation, targets, several=several)
        blocks.append("".join(f"{line}\n" for line in lines))

    return "\n".join(blocks)


def _reason_key(cause: Cause) -> tuple[object, ...]:
    return cause.manifest, cause.by, cause.rule, frozenset(_line_key(line) for line in cause.inputs)


def _line_key(line: Input) -> tuple[object, ...]:
    """Return the key of an input's line: its line number, or the path of its parent if the input
    is not text.
    """
    return line.file, line.path[:-1] if line.span is None else line.span.line


def _paragraph_lines(
    causes: Sequence[Cause], explanation: Explanation, targets: Mapping[int, str], *, several: bool
) -> Iterator[str]:
    first = causes[0]
    if several:
        yield safe_text(f"# {streams.resource_name(explanation.manifests[first.manifest])}")
    for cause in causes:
        yield f"{safe_text(cause.shown)}: {shown_value(cause.value)}"

    author = {"spec": "the spec", "target": f"the target {targets.get(first.manifest, '')}"}.get(
        first.by, f"the pass {first.by}"
    )
    yield f"  written by  {author}"
    yield f"  rule        {first.rule}"
    if not first.inputs:
        yield "  value from  nothing in the spec or the profile"

    inputs = [line for cause in causes for line in cause.inputs]
    values = {(line.file, line.path): line for line in inputs if line.other_value}
    around = {(file, path[:length]) for file, path in values for length in range(len(path) + 1)}
    rest = {(line.file, line.path): line for line in inputs if (line.file, line.path) not in around}
    yield from _input_lines(values.values(), "value from", explanation)
    yield from _input_lines(
        (line for line in rest.values() if line.left_out), "there for", explanation
    )
    yield from _input_lines(
        (line for line in rest.values() if not line.left_out), "said at", explanation
    )


def _input_lines(inputs: Iterable[Input], label: str, explanation: Explanation) -> Iterator[str]:
    """Yield each input line once, with the paths that it sets and its text; only the first one has
    the label.
    """
    by_line: dict[tuple[object, ...], list[Input]] = {}
    for each in inputs:
        by_line.setdefault(_line_key(each), []).append(each)
    for same_line in list(by_line.values())[:_MAX_LINES]:
        yield f"  {label:<10}  {_format_source(same_line, explanation)}"
        first = same_line[0]
        text = explanation.texts.get(first.file)
        if first.span is not None and text is not None and first.span.line <= len(text.lines):
            quoted = safe_text(text.lines[first.span.line - 1].strip().expandtabs())
            yield f"  {'':<10}  {first.span.line} | {quoted}"
        label = ""

    if len(by_line) > _MAX_LINES:
        yield f"  {'':<10}  and {len(by_line) - _MAX_LINES} lines more"


def _format_source(inputs: Sequence[Input], explanation: Explanation) -> str:
    """Return the location of input lines, with their values if there is no line to show."""
    first = inputs[0]
    text = explanation.texts.get(first.file)
    filename = text.filename if text is not None and first.given and not first.overridden else ""
    name = filename or source_name(first, explanation)
    location = name if first.span is None else f"{name}:{first.span.line}:{first.span.column}"
    value = ""
    if first.span is None:
        values = {str(line.path[-1]): line.value for line in inputs}
        value = f": {shown_value(values if len(inputs) > 1 else first.value)}"
    paths = _join_paths([line.path for line in inputs], named=first.span is not None)
    over = f", over {first.over}" if first.over else ""

    return safe_text(f"{location}  {paths}{over}") + value


def source_name(line: Input, explanation: Explanation) -> str:
    """Return the name of what set an input that has no line: a default, an override, or a file
    passed as data.
    """
    if line.overridden:
        return "an override"
    if line.given:
        return "the profile" if line.file == "cluster" else "the spec"
    return "the profile's default" if "cluster" in explanation.texts else "the built-in profile"


def _join_paths(paths: Sequence[Path], *, named: bool) -> str:
    """Return several paths as one text: the shared path, then the last keys unless the values
    name them.
    """
    parents = {path[:-1] for path in paths}
    if len(paths) == 1 or len(parents) > 1:
        return ", ".join(map(field_path, paths))

    parent = field_path(parents.pop())
    keys = ", ".join(str(path[-1]) for path in paths)
    return f"{parent}.{{{keys}}}" if named else parent
