"""Which kinds have a schema, and for which versions. `schemas/README.md` describes the files and their dialect."""

from __future__ import annotations

from functools import cache

from ptcompile.documents.schema_files import load
from ptcompile.operators.all import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

CORE: Final = "kubernetes/core.json"

BUILT_IN: Final[dict[tuple[str, str], str]] = {
    ("v1", "Pod"): "Pod",
    ("batch/v1", "Job"): "Job",
    ("v1", "Service"): "Service",
    ("v1", "ConfigMap"): "ConfigMap",
    ("v1", "Secret"): "Secret",
    ("v1", "PersistentVolumeClaim"): "PersistentVolumeClaim",
    ("v1", "Namespace"): "Namespace",
    ("networking.k8s.io/v1", "NetworkPolicy"): "NetworkPolicy",
}
"""The API server's own kinds, by apiVersion and kind, and their definition in the core schema."""

CUSTOM: Final = {key: kind.schema for key, (_, kind) in KINDS.items() if kind.schema}
"""The operators' kinds, and their schema."""


@cache
def versions() -> tuple[str, ...]:
    """The Kubernetes versions that the core schema knows, oldest first: `("1.30", ...)`."""
    return tuple(load(CORE)["x-versions"])


@cache
def known_version(wanted: tuple[int, int]) -> str:
    """The version of the core schema for a server of version `wanted`: its own, else the nearest one."""
    have = versions()
    below = [version for version in have if as_tuple(version) <= wanted]
    return below[-1] if below else have[0]


def as_tuple(version: str) -> tuple[int, int]:
    """`1.30` -> `(1, 30)`, to compare."""
    major, _, minor = version.partition(".")
    return int(major), int(minor)


def resolve(document: str, reference: str) -> tuple[str, str]:
    """The file and the definition that a `$ref` in `document` names: `../kubernetes/core.json#/$defs/PodSpec`."""
    file, _, pointer = reference.partition("#/$defs/")
    if not file:
        return document, pointer
    folder = document.rpartition("/")[0]
    while file.startswith("../"):
        file = file[3:]
        folder = folder.rpartition("/")[0]
    return (f"{folder}/{file}" if folder else file), pointer


SHIPPED: Final = ("kueue.x-k8s.io", "leaderworkerset.x-k8s.io", "ray.io")
"""The API groups whose CRDs ship with us, in `schemas/crds/`."""
