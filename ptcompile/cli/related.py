"""Objects of some files that decide what happens to the objects of others: namespaces, queues, quotas, Services.

`lint jobs/ queues/` judges each file by itself, with these of all the others beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.cli.files import InputFile
from ptcompile.kubernetes.index import selector
from ptcompile.kubernetes.unstructured import object_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_KINDS: Final = frozenset(
    {"Namespace", "LimitRange", "ResourceQuota", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Service"}
)
_WORDS: Final = tuple(kind.encode() for kind in sorted(_KINDS))


class RelatedObjects:
    """What each file has for the others. Only files that name such a kind are read for it, once it is asked for.

    `whole` says that no file is left out: several files or a folder are given, and not one file of unknown others.
    """

    def __init__(self, inputs: Sequence[InputFile], *, whole: bool) -> None:
        self.whole = whole
        some = len(inputs) > 1
        self.files = {file.name: file for file in inputs if some and any(word in file.content for word in _WORDS)}
        """The files that may have such an object, by name."""
        self._found: dict[str, list[Mapping[str, Any]]] | None = None

    def of(self, file: InputFile) -> list[Mapping[str, Any]] | None:
        """Return what the other files have for this one, or None if other files are not known."""
        if not self.whole:
            return None
        every = (one for name, found in self.found().items() if name != file.name for one in found)
        return [one for one in every if one["kind"] != "Service" or _may_serve(one, file.content)]

    def found(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """The objects of every file that has some."""
        if self._found is None:
            self._found = {name: list(_deciding(file)) for name, file in self.files.items()}
        return self._found


def _may_serve(service: Mapping[str, Any], content: bytes) -> bool:
    """Return whether a file may name a Service, or have pods that it selects: most files of many have neither."""
    words = [object_name(service), *selector(service).values()]
    return any(word and word.encode(errors="replace") in content for word in words)


def _deciding(file: InputFile) -> Iterator[Mapping[str, Any]]:
    from ptcompile.source import documents as source
    from ptcompile.source.streams import objects_in

    for document in source.read(file.content, file.name).documents:
        for _, one in objects_in(document.data):
            kind = one.get("kind")
            if isinstance(kind, str) and kind in _KINDS:
                yield one
