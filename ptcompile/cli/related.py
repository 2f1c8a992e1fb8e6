"""Objects in other files that affect the objects of a file: namespaces, queues, quotas, Services.

`lint jobs/ queues/` checks each file separately, together with these objects of all other files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ptcompile.cli.files import InputFile
from ptcompile.kubernetes.index import selector
from ptcompile.kubernetes.unstructured import nested_map, object_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_KINDS: Final = frozenset(
    {
        "Namespace",
        "LimitRange",
        "PriorityClass",
        "ResourceQuota",
        "LocalQueue",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "Service",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
)
_KIND_WORDS: Final = tuple(kind.encode() for kind in sorted(_KINDS))
_PARAM_KIND: Final = b"paramKind"


class RelatedObject(dict[str, object]):
    """An object with the name of its file, which findings about other objects name."""

    origin: str = ""


class RelatedObjects:
    """The objects of each file that affect other files. Only files that name such a kind are read, on first use.

    `is_complete`: no file is missing, because several files or a folder are given and not one file of an unknown set.
    """

    def __init__(self, inputs: Sequence[InputFile], *, is_complete: bool) -> None:
        self.is_complete = is_complete
        some = len(inputs) > 1
        with_params = any(_PARAM_KIND in file.content for file in inputs)  # any kind may be a parameter
        self.files = {
            file.name: file
            for file in inputs
            if some and (with_params or any(word in file.content for word in _KIND_WORDS))
        }
        """Files that may contain such an object, by name."""
        self._objects: dict[str, list[Mapping[str, Any]]] | None = None

    def objects_for(self, file: InputFile) -> list[Mapping[str, Any]] | None:
        """Return the related objects in other files, or None if the other files are not known."""
        if not self.is_complete:
            return None
        objects = (
            manifest
            for name, manifests in self.objects_by_file().items()
            if name != file.name
            for manifest in manifests
        )
        return [manifest for manifest in objects if manifest["kind"] != "Service" or _may_serve(manifest, file.content)]

    def objects_by_file(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return the related objects of every file that may have some."""
        if self._objects is None:
            policies = [file for file in self.files.values() if _PARAM_KIND in file.content]
            params = {kind for file in policies for kind in _param_kinds(_related_objects(file))}
            self._objects = {name: list(_related_objects(file, params)) for name, file in self.files.items()}
        return self._objects


def _may_serve(service: Mapping[str, Any], content: bytes) -> bool:
    """Return whether a file may name a Service or have pods that it selects; most files do neither."""
    words = [object_name(service), *selector(service).values()]
    return any(word and word.encode(errors="replace") in content for word in words)


def _param_kinds(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the kinds of the parameters of admission policies."""
    for manifest in objects:
        kind = nested_map(manifest, "spec", "paramKind").get("kind")
        if manifest["kind"] == "ValidatingAdmissionPolicy" and isinstance(kind, str):
            yield kind


def _related_objects(file: InputFile, more: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file that affect other files; `more` are further kinds."""
    from ptcompile.source import documents as source
    from ptcompile.source.streams import objects_in

    for document in source.read(file.content, file.name).documents:
        for _, manifest in objects_in(document.data):
            kind = manifest.get("kind")
            if isinstance(kind, str) and (kind in _KINDS or kind in more):
                related = RelatedObject(manifest)
                related.origin = file.name
                yield related
