"""Hover: a field, the page of a code, a variable in each pod."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position

from ptcompile._internal.paths import MISSING, get
from ptcompile.diagnostics import Path
from ptcompile.explainer.model import Cause
from ptcompile.explainer.provenance import provenance
from ptcompile.explainer.values import shown_value
from ptcompile.kubernetes.unstructured import as_mapping, kind_of
from ptcompile.server.document import Object, OpenDocument
from ptcompile.server.schema import SchemaNode, at, leaves, root, since, sort_of
from ptcompile.simulator.as_json import shown_jobs
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.pod import Pod

_MOST: Final = 8
"""Pods of a role that have a line of their own."""
_TORCHRUN: Final = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
"""Variables that torchrun sets for each process (torch/distributed/elastic/agent/server/local_elastic_agent.py)."""


def seen_by_pods(opened: OpenDocument, one: Object, name: str) -> str:
    """A table of the pods of an object and the variable's value in each, as Markdown; empty where it has no pods."""
    jobs = shown_jobs(opened.jobs.get((one.document.index, one.under), []))
    rows = [row for job in jobs for row in _rows(job, name)]
    if not rows:
        return ""
    values = {value for _, value in rows}
    total = sum(job.size for job in jobs)
    if len(values) == 1 and len(rows) > 1:
        return f"**{name}** is {_code(values.pop())} in {_all(total)}"
    table = [f"| `{pod}` | {_code(value)} |" for pod, value in rows]
    left = total - len(rows)
    more = [f"| and {left} more | |"] if left > 0 else []
    return "\n".join([f"| Pod | {name} |", "|---|---|", *table, *more])


def _all(total: int) -> str:
    return "both pods" if total == 2 else f"all {total} pods"


def _rows(job: SimulatedJob, name: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for role in job.roles:
        indexes = range(role.count) if role.count <= _MOST else (*range(_MOST - 1), role.count - 1)
        for index in indexes:
            pod = job.pod(role, index)
            found.append((pod.shown, _value(pod, name)))
    return found if any(value is not None for _, value in found) else []


def _value(pod: Pod, name: str) -> str | None:
    """The value in the processes of a pod; None where there is no such variable."""
    if name in _TORCHRUN and pod.rendezvous.launcher == "torchrun" and (value := _by_torchrun(pod, name)):
        return value
    return pod.env.get(name)


def _by_torchrun(pod: Pod, name: str) -> str | None:
    """What torchrun sets for the processes of a pod."""
    seen = pod.rendezvous
    if name == "WORLD_SIZE":
        return seen.world_text
    if name == "LOCAL_WORLD_SIZE":
        return seen.processes_text
    if seen.processes is None:
        return None
    if name == "LOCAL_RANK":
        return _range(0, seen.processes)
    if name == "RANK":
        fixed = seen.node_rank.isdigit()
        return _range(int(seen.node_rank) * seen.processes, seen.processes) if fixed else AT_RENDEZVOUS
    if seen.backend != "static":
        return AT_RENDEZVOUS
    return seen.host if name == "MASTER_ADDR" else seen.endpoint.rpartition(":")[2]


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first} to {first + count - 1}"


def _code(value: str | None) -> str:
    if value is None:
        return "not set"
    short = value if len(value) <= 120 else f"{value[:117]}..."
    return "`" + short.replace("`", "'").replace("|", "\\|").replace("\n", "\\n") + "`"


_LARGEST: Final = 40
"""A line that holds more lines than this is not asked for what it is good for: that would take a compilation each."""


def field_text(name: str, node: SchemaNode) -> str:
    """The field as Markdown."""
    leaf = next(leaves(node), node)
    description = node.description or leaf.description
    parts = [f"**{name}** ({sort_of(node)})", description]
    default = node.schema.get("default")
    if default is not None and default not in ({}, []):
        parts.append(f"Default: `{json.dumps(default)}`")
    if (version := since(node)) is not None:
        parts.append(f"Since Kubernetes {version}.")
    return "\n\n".join(filter(None, parts))


def uses(opened: OpenDocument, one: Object, path: Path) -> str:
    """Which values of the manifests a line of a spec decides, and which pass or target writes them; Markdown."""
    compiled = opened.compiled.get((one.document.index, one.under))
    if compiled is None or compiled.target is None or not compiled.manifests or len(path) < 2 or _size(one, path):
        return ""
    causes = provenance(one.data, compiled, only=path)
    found: dict[str, list[Cause]] = {}
    for cause in causes:
        if any(one.file == "spec" and one.path[: len(path)] == path for one in cause.inputs):
            found.setdefault(cause.by, []).append(cause)
    if not found:
        return ""
    return "\n".join([f"What it decides, for `{compiled.target.name}`:", "", *(map(_line, found.values()))])


def _line(causes: list[Cause]) -> str:
    """Who writes some values, how many, and the first of them with the rule."""
    first = causes[0]
    by = {"spec": "carried over", "target": "the target"}.get(first.by, f"the pass **{first.by}**")
    more = f" and {len(causes) - 1} more" if len(causes) > 1 else ""
    return f"- {by}: `{first.shown}: {shown_value(first.value, 60)}`{more}. {first.rule}"


def _size(one: Object, path: Path) -> bool:
    """Whether too much is below a path."""
    value = get(one.data, path, MISSING)
    return value is MISSING or len(json.dumps(value, default=str)) > _LARGEST * 80


_reference = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_ignoring = re.compile(r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[([^\]\n]*)\]?")
_word = re.compile(r"[\w-]+")
_RULE: Final = "\n\n---\n\n"


def hover(opened: OpenDocument, position: Position) -> Hover | None:
    """What there is to say about a position."""
    offset = opened.lines.offset(position)
    start, end = opened.lines.bounds(offset)
    line, column = opened.text[start:end], offset - start
    code = _code_in_comment(line, column)
    if code is not None:
        return _markdown([_page(code)])
    one = opened.object_at(offset)
    found = one.document.path_at(offset) if one is not None else None
    if one is None or found is None:
        return _markdown(_pages(opened, offset))
    path, on_key = found
    name = _variable(one, path, on_key=on_key) or next(
        (match[1] for match in _reference.finditer(line) if match.start() <= column <= match.end()), None
    )
    parts: list[str] = []
    if name is not None:
        parts += [seen_by_pods(opened, one, name)]
    if on_key:
        parts += [*_field(opened, one, path), uses(opened, one, path)]
    return _markdown([*filter(None, parts), *_pages(opened, offset)])


def _markdown(parts: list[str]) -> Hover | None:
    text = _RULE.join(part for part in parts if part)
    return Hover(MarkupContent(MarkupKind.Markdown, text)) if text else None


def _field(opened: OpenDocument, one: Object, path: Path) -> Iterator[str]:
    """The description of the field that a path ends with."""
    inner = path[len(one.under) :] if path[: len(one.under)] == one.under else path
    nodes = at(root(kind_of(one.data), opened.definitions), inner)
    if nodes and inner and isinstance(inner[-1], str):
        yield field_text(inner[-1], nodes[0])


def _variable(one: Object, path: Path, *, on_key: bool) -> str | None:
    """The environment variable that a path is about: its key in a spec of ours, its name or value in a container."""
    if one.is_spec or (len(path) > 1 and path[-2] == "env" and isinstance(path[-1], str)):
        return str(path[-1]) if on_key and path[-2:-1] == ("env",) else None
    if len(path) < 3 or path[-3] != "env" or path[-1] not in ("name", "value"):
        return None
    name = as_mapping(get(one.data, path[:-1])).get("name")
    return name if isinstance(name, str) else None


def _code_in_comment(line: str, column: int) -> str | None:
    """The code or name under the cursor in a comment that ignores it."""
    from ptcompile.linter.pages import named

    for match in _ignoring.finditer(line):
        for word in _word.finditer(line, match.start(1), match.end(1)):
            if word.start() <= column <= word.end():
                return named(word[0])
    return None


def _pages(opened: OpenDocument, offset: int) -> list[str]:
    """The pages of what was found at an offset."""
    names: dict[str, None] = {}
    for one in opened.report.diagnostics:
        if one.span is not None:
            start, end = opened.source.offset(*one.span[:2]), opened.source.offset(*one.span[2:])
            if start <= offset <= end and one.span.line == one.span.end_line:
                names[one.name] = None
    return [_page(name) for name in names]


def _page(name: str) -> str:
    from ptcompile.diagnostics.codes import CODES
    from ptcompile.linter.pages import pages

    _, text = pages([name])[name]
    return f"**{CODES[name]} {name}**\n\n{text}"
