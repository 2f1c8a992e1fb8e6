"""Types that the readers share: problems with offsets, and the positions of a document's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Authority, Path, Severity, Stage
from ptcompile.kubernetes.unstructured import entries_of

MAX_DEPTH = 100
"""Maximum nesting of collections; real manifests stay below 30."""
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
MAX_VALUES = 100_000
"""Maximum number of values in one document, without keys; an alias counts as the values it
refers to. Aliases of all documents of a file together may stand for as many.
"""
MAX_DOCUMENT = 3 * 1024 * 1024
"""Maximum number of characters in one document, with aliases expanded: the API server rejects
requests above 3 MiB. Aliases of all documents of a file together may stand for as many.
"""


TOO_LARGE = (
    f"the document is larger than {MAX_DOCUMENT >> 20} MiB, the API server's limit for a request"
)


class ReaderProblem(NamedTuple):
    """A reader's problem, with offsets into the document's text instead of a path."""

    name: str
    message: str
    help: str | None
    start: int
    end: int
    authority: Authority = "kube-apiserver"
    severity: Severity = "error"
    stage: Stage = "apply"
    first: int | None = None
    """For a duplicate key, the offset of its first occurrence. The reader, which knows lines, adds
    it to the message.
    """


class ValueNode:
    """The position of a value: offsets of its text, and its children by key (with the key's own
    offsets) or by index.
    """

    __slots__ = ("children", "end", "start")

    def __init__(
        self,
        start: int,
        end: int,
        children: dict[str, tuple[int, int, ValueNode]] | list[ValueNode] | None,
    ) -> None:
        self.start = start
        self.end = end
        self.children = children


class Parsed(NamedTuple):
    """One document: its data, the root of its positions (None if it is empty or rejected), and
    its problems.
    """

    data: Any
    root: ValueNode | None
    findings: list[ReaderProblem]
    texts: frozenset[str] | None = None
    """All its keys and strings, or None if the reader did not visit them all."""
    repeated_values: int = 0
    """The values that its aliases stand for."""
    repeated_characters: int = 0
    """The characters of these values and their keys."""


def walk(root: ValueNode, path: Path) -> tuple[list[tuple[int, int, ValueNode]], bool]:
    """Return the nodes on a path, each with its key's offsets (-1 in lists), and whether the path
    exists to its end.

    A part that does not exist is skipped if everything after it does; otherwise the walk ends
    before it.
    """
    steps: list[tuple[int, int, ValueNode]] = []
    node = root
    for index, part in enumerate(path):
        step = _step(node, part)
        if step is None:
            rest, exact = walk(node, path[index + 1 :]) if index + 1 < len(path) else ([], False)
            return (steps + rest, True) if exact else (steps, False)
        steps.append(step)
        _, _, node = step

    return steps, True


def leaf_nodes(
    node: ValueNode | None, value: Any, path: Path = ()
) -> Iterator[tuple[Path, ValueNode | None]]:
    """Yield the path of each scalar, empty mapping and empty list of a value, with its node if
    the path has one.
    """
    if not value or not isinstance(value, Mapping | list):
        yield path, node
        return

    for part, inner in entries_of(value):
        step = _step(node, part) if node is not None else None
        yield from leaf_nodes(step[2] if step is not None else None, inner, (*path, part))


def find(root: ValueNode, offset: int) -> tuple[Path, bool]:
    """Return the path of the innermost value around an offset, and whether the offset is on its
    key.
    """
    path: Path = ()
    node = root
    while node.children:
        inner = None
        for part, (start, end, child) in _steps(node):
            if start <= offset <= end:
                return (*path, part), True
            if inner is None and child.start <= offset <= child.end:
                inner = part, child

        if inner is None:
            break

        part, node = inner
        path = (*path, part)

    return path, False


def _steps(node: ValueNode) -> Iterator[tuple[str | int, tuple[int, int, ValueNode]]]:
    """Yield the children of a node, each with its key's offsets, -1 in lists."""
    if isinstance(node.children, dict):
        yield from node.children.items()
    else:
        yield from ((index, (-1, -1, child)) for index, child in enumerate(node.children or ()))


def scalars(root: ValueNode) -> list[tuple[int, int]]:
    """Return the spans of all scalars and keys below a node, in order. An alias has the spans of
    its anchor.
    """
    spans: set[tuple[int, int]] = set()
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        children = node.children
        if type(children) is dict:
            if id(children) not in seen:
                spans.update((start, end) for start, end, _ in children.values())
                stack.extend(child for _, _, child in children.values())
        elif type(children) is list:
            if id(children) not in seen:
                stack.extend(children)
        else:
            spans.add((node.start, node.end))

        seen.add(id(children))

    return sorted(spans)


def _step(node: ValueNode, part: str | int) -> tuple[int, int, ValueNode] | None:
    """Return a child with its key's offsets, -1 for an item of a list, or None if it is missing."""
    children = node.children
    if type(children) is dict:
        return children.get(str(part))
    if type(children) is list and type(part) is int and 0 <= part < len(children):
        return -1, -1, children[part]
    return None


class UnreadableError(Exception):
    """Raised when a document cannot be read any further. `exact_reader.parse` catches it."""

    def __init__(self, finding: ReaderProblem) -> None:
        self.finding = finding


def unreadable_error(
    event: Any, name: str, message: str, help: str | None, authority: Authority = "kube-apiserver"
) -> UnreadableError:
    """Return the exception for a parser event that kubectl rejects."""
    start = event.start_mark.index
    return UnreadableError(
        ReaderProblem(name, message, help, start, max(event.end_mark.index, start + 1), authority)
    )
