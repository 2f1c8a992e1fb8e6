"""Feature gates of Kubernetes and JobSet: which are on in which release.

A cluster's administrator switches gates with `--feature-gates` of kube-apiserver and of JobSet's manager; a profile
repeats that in `featureGates`. `schemas/kubernetes/gates.json` has the default of each gate by release.
Source: pkg/features/kube_features.go of Kubernetes 1.35, kubernetes.io's Feature Gates of 1.37, and
pkg/features/features.go of JobSet 0.12; see docs/facts/feature-gates.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.versions import Version

    Switches = tuple[tuple[str, bool], ...]
    """Gates that a profile switches on or off, by name."""


class GateStage(NamedTuple):
    """The state of a gate from one release on, until the next stage begins."""

    since: int
    """Minor version of the release."""
    name: str
    """`alpha`, `beta`, `stable` or `deprecated`."""
    default: bool
    """Whether the gate is on by default."""
    locked: bool = False
    """Whether the component refuses to start with another value than the default."""


_GROUPS: Final = {"alpha": "AllAlpha", "beta": "AllBeta"}
"""Gates that switch all gates of a stage, except those that are switched by name."""


def gates_of(software: str) -> Mapping[str, list[list[object]]]:
    """Return the gates of `kubernetes` or `jobset`, by name."""
    gates: Mapping[str, list[list[object]]] = load("kubernetes/gates.json")[software]
    return gates


def first_stage(software: str, gate: str) -> GateStage | None:
    """Return the stage in which a gate begins, or None if no release is known to have the gate."""
    stages = gates_of(software).get(gate)
    return _to_stage(stages[0]) if stages else None


def stage_in(software: str, gate: str, release: Version) -> GateStage | None:
    """Return the stage of a gate in a release, or None if the release does not have the gate."""
    stages = [_to_stage(stage) for stage in gates_of(software).get(gate, ())]
    return next((stage for stage in reversed(stages) if stage.since <= release[1]), None)


def _to_stage(values: list[object]) -> GateStage:
    since, name, default, *lock = values
    return GateStage(int(str(since)), str(name), bool(default), bool(lock))


def is_on(software: str, gate: str, release: Version, switches: Switches) -> bool:
    """Return whether a gate is on in a release: as a profile switches it, else by default."""
    switched, stage = is_switched(software, gate, release, switches), stage_in(software, gate, release)
    return switched if switched is not None else stage is not None and stage.default


def is_group(gate: str) -> bool:
    """Return whether a gate switches a whole stage, as `AllAlpha` does."""
    return gate in _GROUPS.values()


def is_switched(software: str, gate: str, release: Version, switches: Switches) -> bool | None:
    """Return whether a profile switches a gate on or off, or None if the gate keeps its default."""
    if not switches:
        return None
    values = dict(switches)
    if gate in values:
        return values[gate]
    stage = stage_in(software, gate, release)
    return values.get(_GROUPS.get(stage.name, "")) if stage is not None else None
