"""Definitions of kinds for one call: the CRDs and schemas that the caller names, and the CRDs of its sources."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ptcompile._internal import arguments
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.source.documents import Source


def definitions_for(sources: Sequence[Source], schemas: Iterable[str | os.PathLike[str]]) -> Definitions | None:
    """Return the kinds that the given files and the CRDs of the sources define.

    Raises TypeError for a schema that is not a path, and ValueError for one that cannot be read or defines no kind.
    """
    if not isinstance(schemas, str | os.PathLike):
        arguments.check(schemas=schemas)
    paths = (schemas,) if isinstance(schemas, str | os.PathLike) else tuple(schemas)
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"schemas must be a list of paths, but contains {type(path).__name__}")
    defining = [source for source in sources if _may_define(source)]
    if not paths and not defining:
        return None
    from ptcompile.apiserver.crds.loader import definitions_of, read_definitions

    loaded = read_definitions(paths)
    manifests = (
        item for source in defining for document in source.documents for _, item in streams.objects_in(document.data)
    )
    return loaded._replace(kinds={**loaded.kinds, **definitions_of(manifests)})


def _may_define(source: Source) -> bool:
    """Return whether the stream may contain a CRD. A text is searched for the word; mappings are checked by kind."""
    if source.text:
        return "CustomResourceDefinition" in source.text
    return any(
        manifest.get("kind") == "CustomResourceDefinition"
        for document in source.documents
        for _, manifest in streams.objects_in(document.data)
    )
