"""Which kinds have a schema, in which files, and which Kubernetes versions serve them.

The tables are read when such a kind comes by, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.versions import Version
from ptcompile.registry.table import KINDS, OPERATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


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


_INDEX: Final = "kubernetes/kinds.json"


class ServedKind(NamedTuple):
    """Where a kind's schema stands, and which Kubernetes versions serve the kind."""

    document: str
    definition: str
    since: str | None
    until: str | None

    def served(self, kubernetes: tuple[int, int]) -> bool:
        """Whether a server of this version knows the kind under this apiVersion."""
        if self.since is not None and kubernetes < as_tuple(self.since):
            return False
        return self.until is None or kubernetes <= as_tuple(self.until)


@cache
def other_kind(kind: tuple[str, str]) -> ServedKind | None:
    """The schema of one of the server's other kinds, by apiVersion and kind; None for a kind that it has not."""
    entry: dict[str, Any] | None = load(_INDEX).get(kind[0], {}).get(kind[1])
    if entry is None:
        return None
    file, _, definition = entry["schema"].partition("#/$defs/")
    return ServedKind(f"kubernetes/{file}", definition, entry.get("x-since"), entry.get("x-until"))


def not_served(kind: tuple[str, str], kubernetes: Version) -> Problem:
    """The server knows no such kind under this apiVersion."""
    right = _api_versions(kind[1], kubernetes)
    message = f'apiVersion: no matches for kind "{kind[1]}" in version "{kind[0]}"'
    help = f"write apiVersion: {' or '.join(right)}" if right else "check apiVersion and kind"
    return Problem("no-such-kind", ("apiVersion",), message, help)


def check_api_version(manifest: Mapping[str, Any], kubernetes: Version) -> list[Problem] | None:
    """What is said of an object whose kind is known under another apiVersion; None where nothing is known of it."""
    kind = str(manifest.get("apiVersion")), str(manifest.get("kind"))
    group = kind[0].rpartition("/")[0]
    if kind[0] in _OLDER:
        return None
    if group in _built_in_groups():
        return [not_served(kind, kubernetes)]
    own = kind[1] not in _COMMON and any(kind[1] == name for _, name in _custom())
    return [not_served(kind, kubernetes)] if own else None


_OLDER: Final = frozenset(
    {"kubeflow.org/v1", "kubeflow.org/v2beta1", "ray.io/v1alpha1", *(one for each in OPERATORS for one in each.older)}
)
"""What older releases of operators serve, of which nothing is known here."""

_COMMON: Final = frozenset({"AdmissionCheck", "Cohort", "Job", "PodGroup", "Topology", "Workload"})
"""Names of the operators' kinds that other people's kinds have too."""


def _api_versions(name: str, kubernetes: Version) -> list[str]:
    """The apiVersions under which a kind is known, of the server's own those that it serves."""
    index = load(_INDEX)
    places = {version: other_kind((version, name)) for version, kinds in index.items() if name in kinds}
    served = [version for version, place in places.items() if place is not None and place.served(kubernetes)]
    stable = [version for version in served if "alpha" not in version and "beta" not in version]
    return (stable or served) + [version for version, kind in _custom() if kind == name]


def known_kinds() -> Iterator[tuple[str, str]]:
    """Every apiVersion and kind that has a schema here: the server's, the operators', those whose CRDs ship with us."""
    yield from BUILT_IN
    yield from _custom()
    yield from ((version, kind) for version, kinds in load(_INDEX).items() for kind in kinds)


@cache
def _custom() -> tuple[tuple[str, str], ...]:
    """The operators' kinds, and those whose CRDs ship with us."""
    documents = [load(f"crds/{group}.json")["kinds"] for group in SHIPPED]
    shipped = ((version, kind) for kinds in documents for version, of in kinds.items() for kind in of)
    return (*CUSTOM, *shipped)


@cache
def _built_in_groups() -> frozenset[str]:
    """The groups that the server has itself: `apps` is one, `cert-manager.io` is not."""
    return frozenset({"extensions", *(version.rpartition("/")[0] for version in load(_INDEX))})
