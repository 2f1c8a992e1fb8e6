"""The profile that a proof is made with: one that adds nothing, unless the manifests are to be told apart from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ptcompile.importing.compiled import manifests
from ptcompile.vocabulary.from_schema import default_cluster

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile

Json = dict[str, Any]

MINIMAL: Final[Json] = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "imported"},
    "spec": {"gpu": {"tolerations": []}},
}
"""The built-in profile without the tolerations that it gives to pods with GPUs."""


def needed(specs: Sequence[Json], profile: ClusterProfile) -> bool:
    """Whether the built-in profile makes something else of a spec than this one does."""
    return any(manifests(one, default_cluster()) != manifests(one, profile) for one in specs)
