"""Kinds that have a schema, their schema files, and the Kubernetes versions that serve them.

The tables are loaded when the first such kind is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from posixpath import dirname, join, normpath

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.diagnostics import Problem, problem_at
from ptcompile.kubernetes.unstructured import Json, JsonDict, api_group
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.table import KINDS, OPERATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Schema = Json


CORE = "kubernetes/core.json"

BUILT_IN: dict[tuple[str, str], str] = {
    ("v1", "Pod"): "Pod",
    ("batch/v1", "Job"): "Job",
    ("v1", "Service"): "Service",
    ("v1", "ConfigMap"): "ConfigMap",
    ("v1", "Secret"): "Secret",
    ("v1", "PersistentVolumeClaim"): "PersistentVolumeClaim",
    ("v1", "Namespace"): "Namespace",
    ("networking.k8s.io/v1", "NetworkPolicy"): "NetworkPolicy",
}
"""Definitions in the core schema, keyed by apiVersion and kind."""

CUSTOM = {key: kind.schema for key, (_, kind) in KINDS.items() if kind.schema}
"""Schema files of the operators' kinds."""


@cache
def versions() -> tuple[str, ...]:
    """Return the Kubernetes versions of the core schema, oldest first: `("1.30", ...)`."""
    return tuple(load(CORE)["x-versions"])


@cache
def known_version(server: tuple[int, int]) -> str:
    """Return the core schema version for a server: the newest one that is not newer than
    `server`, else the oldest.
    """
    available = versions()
    below = [version for version in available if as_tuple(version) <= server]
    return below[-1] if below else available[0]


def as_tuple(version: str) -> tuple[int, int]:
    """Convert `1.30` to `(1, 30)` for comparisons."""
    major, _, minor = version.partition(".")
    return int(major), int(minor)


def resolve(document: str, reference: str) -> tuple[str, str]:
    """Return the file and the definition that a `$ref` in `document` names:
    `../kubernetes/core.json#/$defs/PodSpec`.
    """
    file, _, pointer = reference.partition("#/$defs/")
    if not file:
        return document, pointer

    return normpath(join(dirname(document), file)), pointer


SHIPPED_GROUPS = ("kueue.x-k8s.io", "leaderworkerset.x-k8s.io", "ray.io")
"""API groups whose CRDs are shipped in `schemas/crds/`."""


_KIND_INDEX = "kubernetes/kinds.json"


class ServedKind(NamedTuple):
    """Location of a kind's schema, and the Kubernetes versions that serve the kind."""

    document: str
    definition: str
    since: str | None
    until: str | None

    def served(self, kubernetes: tuple[int, int]) -> bool:
        """Return whether a server of this version serves the kind under this apiVersion."""
        if self.since is not None and kubernetes < as_tuple(self.since):
            return False
        return self.until is None or kubernetes <= as_tuple(self.until)


@cache
def other_kind(kind: tuple[str, str]) -> ServedKind | None:
    """Return the schema of one of the server's other kinds, or None if the server does not have
    the kind.
    """
    api_version, name = kind
    entry: JsonDict | None = load(_KIND_INDEX).get(api_version, {}).get(name)
    if entry is None:
        return None

    file, _, definition = entry["schema"].partition("#/$defs/")
    return ServedKind(f"kubernetes/{file}", definition, entry.get("x-since"), entry.get("x-until"))


def is_built_in(kind: tuple[str, str]) -> bool:
    """Return whether Kubernetes itself has the kind, so that kubectl merges its lists; a CRD's
    lists are replaced.
    """
    return kind in BUILT_IN or other_kind(kind) is not None


def not_served(kind: tuple[str, str], kubernetes: Version) -> Problem:
    """Return the problem of a kind that the server does not serve under this apiVersion."""
    api_version, name = kind
    api_versions = _api_versions(name, kubernetes)
    message = f'no matches for kind "{name}" in version "{api_version}"'
    if api_versions:
        help = f"write apiVersion: {' or '.join(api_versions)}"
    else:
        help = "check apiVersion and kind"
    return problem_at("no-such-kind", ("apiVersion",), message, help)


def check_api_version(manifest: Json, kubernetes: Version) -> list[Problem] | None:
    """Return the problem of an object whose kind exists under another apiVersion, or None if the
    kind is unknown.
    """
    api_version = str(manifest.get("apiVersion"))
    name = str(manifest.get("kind"))
    # the server reads an apiVersion with an empty group, such as "/v1", as v1
    if api_version in _OLDER_API_VERSIONS or api_version.startswith("/"):
        return None

    group, _, version = api_version.rpartition("/")
    # malformed, or with a group that no CRD can have, because it has no dot
    cannot_exist = not version or "/" in group or "." not in group
    is_known = (
        group in _built_in_groups()
        or (cannot_exist and _api_versions(name, kubernetes))
        or (name not in _AMBIGUOUS_KINDS and name in {kind for _, kind in _custom_kinds()})
    )

    if is_known:
        return [not_served((api_version, name), kubernetes)]
    return None


_OLDER_API_VERSIONS = frozenset(
    {
        "kubeflow.org/v1",
        "kubeflow.org/v2beta1",
        "ray.io/v1alpha1",
        *(api_version for operator in OPERATORS for api_version in operator.older),
    }
)
"""apiVersions of older operator releases, whose kinds are not checked."""

_AMBIGUOUS_KINDS = frozenset(
    {"AdmissionCheck", "Cohort", "Job", "PodGroup", "Topology", "Workload"}
)
"""Kinds of operators whose names other projects use too."""


def _api_versions(name: str, kubernetes: Version) -> list[str]:
    """Return the apiVersions that serve a kind, for built-in kinds on this server version."""
    index = load(_KIND_INDEX)
    candidates = {
        version: other_kind((version, name)) for version, kinds in index.items() if name in kinds
    }
    served = [
        version
        for version, kind in candidates.items()
        if kind is not None and kind.served(kubernetes)
    ]
    stable = [version for version in served if "alpha" not in version and "beta" not in version]

    return (stable or served) + [version for version, kind in _custom_kinds() if kind == name]


def known_kinds() -> Iterator[tuple[str, str]]:
    """Yield each apiVersion and kind that has a schema: the server's, the operators', and those
    of shipped CRDs.
    """
    yield from BUILT_IN
    yield from _custom_kinds()
    yield from ((version, kind) for version, kinds in load(_KIND_INDEX).items() for kind in kinds)


@cache
def _custom_kinds() -> tuple[tuple[str, str], ...]:
    """Return the operators' kinds and those of shipped CRDs."""
    documents = [load(f"crds/{group}.json")["kinds"] for group in SHIPPED_GROUPS]
    shipped = (
        (version, kind) for kinds in documents for version, names in kinds.items() for kind in names
    )
    return (*CUSTOM, *shipped)


@cache
def _built_in_groups() -> frozenset[str]:
    """Return the server's own API groups: `apps` is one, `cert-manager.io` is not."""
    return frozenset({"extensions", *map(api_group, load(_KIND_INDEX))})


@cache
def function_named(package: str, name: str) -> Any:
    """Return a function that a table of kinds names, as `module.function` of a package, and
    import its module.
    """
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"{package}.{module}"), function)
