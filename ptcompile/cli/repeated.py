"""Files of one folder that define the same object."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.index import ObjectIdentity

    ObjectDigests = tuple[tuple[ObjectIdentity, str], ...]
    """The objects of a file, each with a digest of its content."""
    RepeatedObjects = dict[str, dict[ObjectIdentity, str]]
    """The objects that a file repeats, each with the name of the earlier file; keyed by the file's path."""

_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def repeated_objects(files: Iterable[tuple[str, ObjectDigests]]) -> RepeatedObjects:
    """Return the objects that files repeat from an earlier file of their folder.

    Copies with the same content are left out, except jobs, whose digest is empty.
    """
    kustomized = cache(is_kustomized)
    first: dict[tuple[str, ObjectIdentity], tuple[str, str]] = {}
    repeated: RepeatedObjects = {}
    for path, objects in files:
        folder, name = os.path.split(path)
        for key, digest in objects if path != "<stdin>" else ():
            earlier, content = first.setdefault((folder, key), (name, digest))
            same = digest != "" and digest == content
            if earlier != name and not same and not kustomized(folder):
                repeated.setdefault(path, {})[key] = earlier
    return repeated


def is_kustomized(folder: str) -> bool:
    """Return whether a folder, or the one above it, has a kustomization: its files may be patches of one object."""
    above = os.path.join(folder, os.pardir)
    return any(os.path.isfile(os.path.join(place, name)) for place in (folder, above) for name in _KUSTOMIZATIONS)
