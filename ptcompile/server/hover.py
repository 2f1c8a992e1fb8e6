"""Hover: a field, a code's page, or a variable's value in each pod."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position

from ptcompile._internal.spelling import is_short_number
from ptcompile.api.inputs import Item
from ptcompile.diagnostics import Path, shorten
from ptcompile.explainer.fields import (
    SchemaNode,
    default_of,
    description_of,
    first_version,
    nodes_at,
    root_nodes,
    type_name,
)
from ptcompile.explainer.model import Cause
from ptcompile.explainer.provenance import provenance
from ptcompile.explainer.values import shown_value
from ptcompile.hardware.accelerators import machines_of, row_of
from ptcompile.hardware.fabric_machines import accelerators_with
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.hardware.machines import MACHINES
from ptcompile.kubernetes.unstructured import MISSING, as_mapping, get, kind_of
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.server.document import OpenDocument
from ptcompile.simulator.as_json import mask_jobs
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.pod import Pod

_MAX_ROWS = 8
"""Maximum number of table rows per role."""
_TORCHRUN = frozenset(
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
)
"""Variables that torchrun sets for each process
(torch/distributed/elastic/agent/server/local_elastic_agent.py).
"""


def pod_values(opened: OpenDocument, obj: Item, name: str) -> str:
    """Return a Markdown table of a variable's value in each pod of an object, or "" if the
    object has no pods.
    """
    jobs = mask_jobs(opened.jobs_of(obj))
    rows = [row for job in jobs for row in _pod_rows(job, name)]
    if not rows:
        return ""

    values = {value for _, value in rows}
    total = sum(job.size for job in jobs)
    if len(values) == 1 and len(rows) > 1:
        pods = "both pods" if total == 2 else f"all {total} pods"
        return f"**{name}** is {_format_code(values.pop())} in {pods}"

    table = [f"| `{pod}` | {_format_code(value)} |" for pod, value in rows]
    hidden = total - len(rows)
    more = [f"| and {hidden} more | |"] if hidden > 0 else []

    return "\n".join([f"| Pod | {name} |", "|---|---|", *table, *more])


def _pod_rows(job: SimulatedJob, name: str) -> list[tuple[str, str | None]]:
    """Return the value of a variable in each pod, by the pod's name; empty if no pod has the
    variable.
    """
    rows: list[tuple[str, str | None]] = []
    for role in job.roles:
        indexes = [*range(min(role.count, _MAX_ROWS))]
        # of a long list of pods, the last one is shown after the first ones
        if role.count > _MAX_ROWS:
            indexes[-1] = role.count - 1
        for index in indexes:
            pod = job.pod(role, index)
            value = pod.env.get(name)
            if name in _TORCHRUN and pod.rendezvous.launcher == "torchrun":
                value = _torchrun_value(pod, name) or value
            rows.append((pod.display_name, value))

    return rows if any(value is not None for _, value in rows) else []


def _torchrun_value(pod: Pod, name: str) -> str | None:
    """Return the value that torchrun sets for the processes of a pod, or None if it is unknown."""
    rendezvous = pod.rendezvous
    if name == "WORLD_SIZE":
        return rendezvous.world_size_text
    if name == "LOCAL_WORLD_SIZE":
        return rendezvous.processes_text
    if rendezvous.processes is None:
        return None
    if name == "LOCAL_RANK":
        return _format_ranks(0, rendezvous.processes)
    if name == "RANK":
        if not is_short_number(rendezvous.node_rank):
            return AT_RENDEZVOUS
        first_rank = int(rendezvous.node_rank) * rendezvous.processes
        return _format_ranks(first_rank, rendezvous.processes)
    if rendezvous.backend != "static":
        return AT_RENDEZVOUS
    if name == "MASTER_ADDR":
        return rendezvous.host
    return rendezvous.port


def _format_ranks(first: int, count: int) -> str:
    if count == 1:
        return str(first)
    return f"{first} to {first + count - 1}"


def _format_code(value: str | None) -> str:
    if value is None:
        return "not set"
    escaped = shorten(value, 120).replace("`", "'").replace("|", "\\|").replace("\n", "\\n")
    return f"`{escaped}`"


_MAX_LINES = 40
"""Maximum number of lines below a hovered line; listing the effects of more takes one
compilation each.
"""


_MAX_CHANGES = 3
"""Maximum number of changed values per target in the effects of an example."""


def field_text(name: str, node: SchemaNode) -> str:
    """Return the field's description as Markdown."""
    parts = [f"**{name}** ({type_name(node)})", description_of(node)]
    default = default_of(node)
    if default is not None:
        parts.append(f"Default: `{json.dumps(default)}`")
    if (version := first_version(node)) is not None:
        parts.append(f"Since Kubernetes {version}.")
    for example in node.schema.get("examples", ())[:1]:
        parts.append(f"Example: `{name}: {shown_value(example, 200)}`")
    return "\n\n".join(filter(None, parts))


def spec_effects(opened: OpenDocument, obj: Item, path: Path) -> str:
    """Return as Markdown the manifest values that a spec line decides, by the pass or target
    that writes them.
    """
    compiled = opened.compiled_of(obj)
    if compiled is None or compiled.target is None or not compiled.manifests or len(path) < 2:
        return ""

    value = get(obj.manifest, path, MISSING)
    if value is MISSING or len(json.dumps(value, default=str)) > _MAX_LINES * 80:
        return ""

    (causes,) = provenance(obj.manifest, [compiled], [False], only=path)
    by_writer: dict[str, list[Cause]] = {}
    for cause in causes:
        if any(line.file == "spec" and line.path[: len(path)] == path for line in cause.inputs):
            by_writer.setdefault(cause.by, []).append(cause)
    if not by_writer:
        return ""

    head = f"What it decides, for `{compiled.target.name}`:"
    return "\n".join([head, "", *map(_writer_line, by_writer.values())])


@lru_cache(256)
def example_effects(address: str) -> str:
    """Return as Markdown what the example of a spec field changes on each target, or "" if it
    has no example.
    """
    from ptcompile.explainer.field_reference import UnknownFieldError, find_field

    try:
        reference = find_field(address)
    except UnknownFieldError:
        return ""

    targets_by_result: dict[str, list[str]] = {}
    for effect in reference.effects:
        result = f"an error: {effect.error}" if effect.error else _change_list(effect.changes)
        targets_by_result.setdefault(result, []).append(f"`{effect.target}`")
    if not targets_by_result:
        return ""

    lines = (f"- {', '.join(targets)}: {result}" for result, targets in targets_by_result.items())
    return "\n".join(["The example in a job of two nodes with four GPUs each changes:", "", *lines])


def _change_list(changes: Sequence[str]) -> str:
    items = [f"`{shorten(change, 120)}`" for change in changes[:_MAX_CHANGES]]
    more = f" and {len(changes) - len(items)} more" if len(changes) > len(items) else ""
    return f"{', '.join(items)}{more}" if items else "nothing"


def _writer_line(causes: list[Cause]) -> str:
    """Return a line with the writer of some values, their number, and the first value with its
    rule.
    """
    first, *others = causes
    writer = {"spec": "carried over", "target": "the target"}.get(
        first.by, f"the pass **{first.by}**"
    )
    more = f" and {len(others)} more" if others else ""
    return f"- {writer}: `{first.shown}: {shown_value(first.value, 60)}`{more}. {first.rule}"


_reference = re.compile(r"\$\((?P<name>[A-Za-z_][\w.-]*)\)")
_ignore_comment = re.compile(r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[([^\]\n]*)\]?")
_word = re.compile(r"[\w-]+")
_SEPARATOR = "\n\n---\n\n"


def hover(opened: OpenDocument, position: Position) -> Hover | None:
    """Return the hover text for a position, or None if there is none."""
    offset = opened.lines.offset(position)
    start, end = opened.lines.bounds(offset)
    line = opened.text[start:end]
    column = offset - start
    code = _code_in_comment(line, column)
    if code is not None:
        return _markdown([_rule_page(code)])

    obj = opened.object_at(offset)
    location = obj.document.path_at(offset) if obj is not None else None
    if obj is None or location is None:
        return _markdown(_rule_pages(opened, offset))

    path, on_key = location
    name = _variable(obj, path, on_key=on_key)
    for match in _reference.finditer(line):
        if name is None and match.start() <= column <= match.end():
            name = match["name"]

    parts: list[str] = []
    if name is not None:
        parts += [pod_values(opened, obj, name)]
    if not on_key:
        parts.append(_value_text(obj, path))
    else:
        node = next(iter(_field_nodes(opened, obj, path)), None)
        if node is not None:
            parts.append(field_text(str(path[-1]), node))
        parts.append(spec_effects(opened, obj, path))
        if node is not None and obj.is_spec and node.schema.get("examples"):
            parts.append(example_effects(_address_of(path[len(obj.path) :])))

    return _markdown([*filter(None, parts), *_rule_pages(opened, offset)])


def _markdown(parts: list[str]) -> Hover | None:
    text = _SEPARATOR.join(part for part in parts if part)
    if text:
        return Hover(MarkupContent(MarkupKind.Markdown, text))
    return None


def _value_text(obj: Item, path: Path) -> str:
    """Return what the value of a spec at a path stands for: an accelerator, a fabric or a
    target; "" for others.
    """
    name = get(obj.manifest, path)
    if not obj.is_spec or not path or not isinstance(name, str):
        return ""
    field = path[-1]
    if field == "accelerator":
        return _accelerator_text(name)
    if field == "fabric":
        return _fabric_text(name)
    if path == (*obj.path, "spec", "target") and name in TARGETS:
        return f"**{name}**: {target_named(name).title}"

    return ""


def _accelerator_text(name: str) -> str:
    """Return the machines of an accelerator by cloud, or "" if it is unknown."""
    row, _ = row_of(name)
    lines = []
    for cloud in row.nodes if row else ():
        machines = machines_of(name, cloud, largest=False)
        if machines:
            texts = [f"`{machine.name}` ({machine.devices})" for machine in machines]
            lines.append(f"- {cloud}: {', '.join(texts)}")
    if lines:
        return "\n".join([f"Machine types with **{name}** (accelerators per machine):", "", *lines])
    return ""


def _fabric_text(name: str) -> str:
    """Return the accelerators of a fabric by cloud, and what pods get for it, or "" if it is
    unknown.
    """
    needs = FABRICS.get(name)
    if needs is None:
        return ""

    lines = []
    for cloud in sorted({cloud for clouds in MACHINES.values() for cloud in clouds if cloud}):
        accelerators = accelerators_with(name, cloud)
        if accelerators:
            lines.append(f"- {cloud}: {', '.join(f'`{text}`' for text in accelerators)}")
    parts = [f"**{name}**"]
    if lines:
        parts = ["\n".join([f"Accelerators whose machines have **{name}**:", "", *lines])]
    for label, keys in (("Resources", needs.resources), ("Variables", needs.env)):
        if keys:
            parts.append(f"{label} of its pods: {', '.join(f'`{key}`' for key in keys)}")

    return "\n\n".join(parts)


def _field_nodes(opened: OpenDocument, obj: Item, path: Path) -> list[SchemaNode]:
    """Return the schemas of the field at the end of a path; empty for an item of a list or an
    unknown field.
    """
    inner = path[len(obj.path) :] if path[: len(obj.path)] == obj.path else path
    if not inner or not isinstance(inner[-1], str):
        return []
    return nodes_at(root_nodes(kind_of(obj.manifest), opened.definitions), inner)


def _address_of(inside: Path) -> str:
    """Return the address of a field of a spec; a variant has the same fields."""
    fields = [part for part in inside if isinstance(part, str)]
    if fields[:1] == ["variants"]:
        fields[:2] = ["spec"]
    return ".".join(fields)


def _variable(obj: Item, path: Path, *, on_key: bool) -> str | None:
    """Return the environment variable of a path: its key in a TrainingJob, its name or value in
    a container.
    """
    match path:
        case (*_, "env", str(name)):
            return name if on_key else None
        case (*entry, "name" | "value") if entry[-2:-1] == ["env"] and not obj.is_spec:
            value = as_mapping(get(obj.manifest, entry)).get("name")
            return value if isinstance(value, str) else None
        case _:
            return None


def _code_in_comment(line: str, column: int) -> str | None:
    """Return the name of the rule under the cursor in an ignore comment, or None."""
    from ptcompile.linter.pages import name_of

    for match in _ignore_comment.finditer(line):
        for word in _word.finditer(line, match.start(1), match.end(1)):
            if word.start() <= column <= word.end():
                return name_of(word[0])
    return None


def _rule_pages(opened: OpenDocument, offset: int) -> list[str]:
    """Return the pages of the rules reported at an offset."""
    names: dict[str, None] = {}
    for diagnostic in opened.report.diagnostics:
        if diagnostic.span is not None:
            start, end = opened.source.offsets(diagnostic.span)
            if start <= offset <= end and diagnostic.span.line == diagnostic.span.end_line:
                names[diagnostic.name] = None
    return [_rule_page(name) for name in names]


def _rule_page(name: str) -> str:
    from ptcompile.diagnostics.codes import CODES
    from ptcompile.linter.pages import pages

    _, text = pages([name])[name]
    return f"**{CODES[name]} {name}**\n\n{text}"
