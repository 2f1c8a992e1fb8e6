"""Releases of Kubernetes and the operators, and their feature gates: what they do and what they
reject depends on both.

A cluster's administrator switches gates with `--feature-gates` of kube-apiserver and of JobSet's
manager; a profile repeats that in `featureGates`. `schemas/kubernetes/gates.json` has the default
of each gate by release.
Source: pkg/features/kube_features.go of Kubernetes 1.35, kubernetes.io's Feature Gates of 1.37, and
pkg/features/features.go of JobSet 0.12; see docs/facts/feature-gates.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load, load_table
from ptcompile._internal.spelling import is_short_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    ManagedPlatform = Literal["gke-autopilot", "openshift"]
    Switches = tuple[tuple[str, bool], ...]
    """Gates that a profile switches on or off, by name."""


Version = tuple[int, int]
"""Major and minor, for example `(1, 36)`; no patch release changes anything that is modeled."""


def parse_version(text: str) -> Version:
    """Return the major and minor of `v1.9.4`, `1.9` or `1.9.0-rc.1`.

    Raises:
        ValueError: the text does not begin with two numbers.
    """
    major, _, rest = text.strip().removeprefix("v").partition(".")
    digits = rest.partition(".")[0].partition("-")[0].partition("+")[0]
    if not (is_short_number(major) and is_short_number(digits)):
        message = f"not a version such as 1.36: {text!r}"
        raise ValueError(message)
    return int(major), int(digits)


RELEASES: Mapping[str, Mapping[str, str]] = load_table("kubernetes/releases.json")["releases"]
"""For each software its `title`, the `oldest` release that is supported, if that is known, the
newest that is `modeled`, and the newest whose answers are `recorded`, if there are any.
"""


def newest(software: str, known: str = "modeled") -> Version:
    """Return the newest release of a software that is modeled, or recorded."""
    return parse_version(RELEASES[software][known])


class Versions(NamedTuple):
    """The releases that decide what is accepted and created. The defaults are the newest that
    are modeled.
    """

    kubernetes: Version = newest("kubernetes")
    training_operator: Version = newest("training_operator")
    trainer: Version = newest("trainer")
    jobset: Version = newest("jobset")
    volcano: Version = newest("volcano")
    kueue: Version = newest("kueue")
    kai: Version = newest("kai")
    mpi_operator: Version = newest("mpi_operator")
    lws: Version = newest("lws")
    kuberay: Version = newest("kuberay")
    nvidia_dra: Version = newest("nvidia_dra")
    """NVIDIA's DRA driver for GPUs. Its releases after 25.12 are numbered 0.x; `no_dns_names`
    tells the two apart.
    """
    device_plugin: Version = newest("device_plugin")
    """NVIDIA's device plugin for GPUs."""
    torch: Version = newest("torch")
    """PyTorch in the training images; `torch_of` reads an image's tag first."""
    gates: tuple[tuple[str, str, bool], ...] = ()
    """Feature gates that the profile switches on or off, each with the field of the software
    that has it.
    """
    declared: frozenset[str] = frozenset()
    """The fields that the profile sets; the others have their defaults."""
    platform: ManagedPlatform | None = None
    """The managed platform, whose admission comes after the API server's own."""
    gpu_shares: tuple[str, bool | None] | None = None
    """What divides GPUs, and whether the kubelet refuses several shares, as in `gpu.sharing` of
    the profile.
    """
    domain: str = "cluster.local"
    """The last labels of the names of Services and pods."""

    def gates_of(self, software: str) -> tuple[tuple[str, bool], ...]:
        """Return the feature gates that the profile switches on or off in one software, such as
        `kubernetes`.
        """
        if self.gates:
            return tuple([(gate, value) for name, gate, value in self.gates if name == software])
        return ()


def version_text(version: Version) -> str:
    """Return a version as it is written: `1.36`."""
    return ".".join(map(str, version))


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


_GROUPS = {"alpha": "AllAlpha", "beta": "AllBeta"}
"""Gates that switch all gates of a stage, except those that are switched by name."""


def gates_of(software: str) -> Mapping[str, list[list[Any]]]:
    """Return the gates of `kubernetes` or `jobset`, by name."""
    gates: Mapping[str, list[list[Any]]] = load("kubernetes/gates.json")[software]
    return gates


def stages_of(software: str, gate: str) -> list[GateStage]:
    """Return the stages of a gate, the first one first; empty if no release is known to have the
    gate.
    """
    rows = gates_of(software).get(gate, ())
    return [GateStage(since, name, default, bool(lock)) for since, name, default, *lock in rows]


def stage_in(software: str, gate: str, release: Version) -> GateStage | None:
    """Return the stage of a gate in a release, or None if the release does not have the gate."""
    stages = reversed(stages_of(software, gate))
    return next((stage for stage in stages if stage.since <= release[1]), None)


def is_on(software: str, gate: str, versions: Versions) -> bool:
    """Return whether a gate is on in the release that runs: as a profile switches it, else by
    default.
    """
    release: Version = getattr(versions, software)
    switched = is_switched(software, gate, release, versions.gates_of(software))
    stage = stage_in(software, gate, release)
    if switched is not None:
        return switched
    return stage is not None and stage.default


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
    if stage is not None:
        return values.get(_GROUPS.get(stage.name, ""))
    return None
