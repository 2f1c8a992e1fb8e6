"""Objects of some files that decide what happens to the objects of others: namespaces, queues, quotas.

`lint jobs/ queues/` judges each file by itself, with these of all the others beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.cli.files import InputFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_KINDS: Final = frozenset(
    {"Namespace", "LimitRange", "ResourceQuota", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor"}
)
_WORDS: Final = tuple(kind.encode() for kind in sorted(_KINDS))


class RelatedObjects:
    """What each file has for the others. Only files that name such a kind are read for it, once it is asked for."""

    def __init__(self, inputs: Sequence[InputFile]) -> None:
        some = len(inputs) > 1
        self.files = {file.name: file for file in inputs if some and _may_decide(file.content)}
        """The files that may have such an object, by name."""
        self._found: dict[str, list[Mapping[str, Any]]] | None = None

    def of(self, file: InputFile) -> list[Mapping[str, Any]]:
        """What the other files have for this one."""
        return [one for name, found in self.found().items() if name != file.name for one in found]

    def found(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """The objects of every file that has some."""
        if self._found is None:
            self._found = {name: list(_deciding(file)) for name, file in self.files.items()}
        return self._found


def _may_decide(content: bytes) -> bool:
    return any(word in content for word in _WORDS)


def _deciding(file: InputFile) -> Iterator[Mapping[str, Any]]:
    from ptcompile.source import documents as source
    from ptcompile.source.streams import objects_in

    for document in source.read(file.content, file.name).documents:
        for _, one in objects_in(document.data):
            kind = one.get("kind")
            if isinstance(kind, str) and kind in _KINDS:
                yield one
