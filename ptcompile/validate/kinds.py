"""The API server's kinds beside those that a training job is made of: which schema each has, and in which versions.

The tables are read when such a kind comes by, and not before.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from ptcompile.documents.schema_files import load
from ptcompile.validate.schemas import BUILT_IN, CUSTOM, as_tuple

_INDEX: Final = "kubernetes/kinds.json"


class Place(NamedTuple):
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
def other_kind(kind: tuple[str, str]) -> Place | None:
    """The schema of one of the server's other kinds, by apiVersion and kind; None for a kind that it has not."""
    entry: dict[str, Any] | None = load(_INDEX).get(kind[0], {}).get(kind[1])
    if entry is None:
        return None
    file, _, definition = entry["schema"].partition("#/$defs/")
    return Place(f"kubernetes/{file}", definition, entry.get("x-since"), entry.get("x-until"))


def api_versions(name: str, kubernetes: tuple[int, int]) -> list[str]:
    """The apiVersions under which a kind is known, those of the server that it serves only."""
    index = load(_INDEX)
    own = [version for version, kinds in index.items() if name in kinds]
    served = [version for version in own if (place := other_kind((version, name))) and place.served(kubernetes)]
    return served + [version for version, kind in CUSTOM if kind == name]


def is_built_in_group(api_version: str) -> bool:
    """Whether an apiVersion is of a group that the server has itself: `apps/v1beta1` is, `cert-manager.io/v1` is not."""
    group = api_version.rpartition("/")[0]
    return any(version.rpartition("/")[0] == group for version in (*load(_INDEX), *(v for v, _ in BUILT_IN)))
