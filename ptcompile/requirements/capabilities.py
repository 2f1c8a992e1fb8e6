"""What each target can express, found by asking: one small spec for each word, compiled for every target.

Nothing here says what a target can do; the targets do. A new word of the spec is a new row of `PROBES`. The answers are
kept in `schemas/targets.json`, which `python schemas/targets.py` writes and `ptcompile targets` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.about import SITE
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.checks.targets import room
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.pipeline import compile_document
from ptcompile.ir.job import Target
from ptcompile.registry.model import Feature
from ptcompile.registry.table import BY_GANG_SCHEDULER, BY_QUEUE_SYSTEM, FEATURES
from ptcompile.registry.targets import every_target
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal

    Support = Literal["yes", "roughly", "no"]
    """`roughly`: it compiles, and a warning says what the operator means by it."""

    Json = dict[str, Any]


class Probe(NamedTuple):
    """One thing that a job may want: what a spec says for it, and the profile of a cluster that has it."""

    name: str
    spec: Mapping[str, Any]
    profile: Mapping[str, Any] = {}  # never changed


_LEVELS: Json = {"topology": {"name": "network", "levels": {"rack": {"nodeLabel": "example.com/rack", "tier": 1}}}}
_AGAIN: Json = {"elastic": {"maxRestarts": 3}}
_NEAR: Json = {"queue": "q", "topology": {"required": "rack"}}


def _queues() -> Iterator[Probe]:
    """What is asked of the queue systems; first of those that only admit, and place no pods."""
    for one in sorted(BY_QUEUE_SYSTEM.values(), key=lambda one: bool(one.gang_scheduler)):
        profile: Json = {"queueSystem": one.queue_system, **_LEVELS}
        yield Probe(f"queue of {one.title}", {"queue": "q", "priority": "high"}, profile)
        yield Probe(f"queue of {one.title}, topology", _NEAR, profile)
        for name, spec, more in () if one.gang_scheduler else one.probes:
            yield Probe(name, spec, {**more, **_LEVELS})


def _gangs() -> Iterator[Probe]:
    """What is asked of the gang schedulers."""
    for one in BY_GANG_SCHEDULER.values():
        yield Probe(f"gang of {one.title or one.gang_scheduler}", {}, {"gangScheduler": one.gang_scheduler})
        yield from (Probe(*more) for more in one.probes)


PROBES: Final = (
    Probe("several nodes", {"nodes": 2}),
    Probe("a range of nodes", {"elastic": {"nnodes": "2:4"}}),
    Probe("master and workers that differ", {"master": {"image": "other:1"}, "worker": {"replicas": 1}}),
    Probe("auxiliary roles", {"roles": {"loader": {"command": ["serve"]}}}),
    Probe("accelerator", {"accelerator": "nvidia-h100", "resources": {"gpu": 1}}, {"cloud": "gke"}),
    Probe("fabric", {"fabric": "efa", "accelerator": "nvidia-h100", "resources": {"gpu": 8}}, {"cloud": "eks"}),
    Probe("NVLink domain", {"fabric": "nvlink-domain", "accelerator": "nvidia-gb200", "resources": {"gpu": 4}}),
    Probe("GPUs by claim", {"resources": {"gpu": 1}}, {"gpu": {"claim": {}}}),
    Probe("restartPolicy OnFailure", {"restartPolicy": "OnFailure"}),
    Probe("restartPolicy Always", {"restartPolicy": "Always"}),
    Probe("restartPolicy ExitCode", {"restartPolicy": "ExitCode"}),
    Probe("runPolicy.backoffLimit", {"runPolicy": {"backoffLimit": 3}}),
    Probe("runPolicy.activeDeadlineSeconds", {"runPolicy": {"activeDeadlineSeconds": 60}}),
    Probe("runPolicy.ttlSecondsAfterFinished", {"runPolicy": {"ttlSecondsAfterFinished": 60}}),
    Probe("runPolicy.cleanPodPolicy Running", {"runPolicy": {"cleanPodPolicy": "Running"}}),
    Probe("runPolicy.cleanPodPolicy All", {"runPolicy": {"cleanPodPolicy": "All"}}),
    Probe("runPolicy.suspend", {"runPolicy": {"suspend": True}}),
    Probe("runPolicy.onPodFailure RestartPod", {"runPolicy": {"onPodFailure": "RestartPod"}}),
    Probe("runPolicy.onPodFailure RestartJob", {"runPolicy": {"onPodFailure": "RestartJob"}}),
    Probe("runPolicy.onPodFailure FailJob", {"runPolicy": {"onPodFailure": "FailJob"}}),
    Probe("runPolicy.onDisruption Ignore", {"runPolicy": {"onDisruption": "Ignore"}, **_AGAIN}),
    Probe("the same, with backoffLimit", {"runPolicy": {"onDisruption": "Ignore", "backoffLimit": 3}, **_AGAIN}),
    Probe("runPolicy.onDisruption Count", {"runPolicy": {"onDisruption": "Count"}}),
    Probe("runPolicy.onDisruption FailJob", {"runPolicy": {"onDisruption": "FailJob"}}),
    Probe("runPolicy.successPolicy Node0", {"runPolicy": {"successPolicy": "Node0"}}),
    Probe("runPolicy.successPolicy AllNodes", {"runPolicy": {"successPolicy": "AllNodes"}}),
    Probe("spot", {"spot": True, **_AGAIN}, {"spot": {"nodeLabels": {"example.com/spot": "true"}}}),
    *_queues(),
    *_gangs(),
    Probe("host name of its own", {"podTemplate": {"spec": {"hostname": "h"}}}),
)
"""In the order of the table. A Pod is asked about one node, the others about two, unless the probe says how many."""

SIZES: Final = (1, 8, 100)
"""Numbers of nodes for which the longest name of a job is told."""

_SHAPES = ("nodes", "elastic", "master")


def table() -> dict[str, dict[str, Any]]:
    """What `schemas/targets.json` holds: the targets' titles, and what each answers in a cluster of newest releases."""
    answers: dict[str, dict[str, str]] = {
        probe.name: {one.name: _ask(probe, one) for one in every_target()} for probe in PROBES
    }
    sizes = {f"longest name, {size} {'node' if size == 1 else 'nodes'}": _names(size) for size in SIZES}
    return {"targets": {one.name: one.title for one in every_target()}, "capabilities": answers | sizes}


def _ask(probe: Probe, target: Target) -> Support:
    several = bool(_compiled({"nodes": 2}, {}, target)[0])
    shape = {} if any(word in probe.spec for word in _SHAPES) or not several else {"nodes": 2}
    manifests, warned = _compiled({**shape, **probe.spec}, probe.profile, target)
    return "no" if not manifests else "roughly" if warned else "yes"


def _compiled(words: Mapping[str, Any], profile: Mapping[str, Any], target: Target) -> tuple[tuple[Json, ...], bool]:
    done = compile_document(_document(words), ClusterProfile.model_validate({"spec": profile}), target.name)
    return done.manifests, bool(done.problems)


def _document(words: Mapping[str, Any]) -> Json:
    spec = {"image": "image:1", "script": "train.py", **words}
    return {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "metadata": {"name": "job"}, "spec": spec}


def _names(size: int) -> dict[str, str]:
    """The longest name of a job of equal nodes; nothing where a target has not so many."""
    job = lower(Spec.model_validate(_document({"nodes": size})), ClusterProfile.model_construct())
    able = {one.name: bool(_compiled({"nodes": size}, {}, one)[0]) for one in every_target()}
    return {one.name: str(room(job, one).longest) if able[one.name] else "" for one in every_target()}


def version_rows() -> list[tuple[str, str, str, str]]:
    """What each release of an operator changed in what is written: operator, releases, what, and the source."""
    rows_of = sorted(FEATURES.values(), key=lambda change: (change.operator, change.since))
    return [(one.operator.replace("_", "-"), _span(one), one.what, one.source) for one in rows_of]


def versions() -> str:
    """The same as text, one line a change, and where the pages of facts are."""
    rows = version_rows()
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return (
        "".join(
            "  ".join((*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), f"({row[3]})")) + "\n"
            for row in rows
        )
        + f"facts/NAME is {SITE}facts/NAME/\n"
    )


def _span(change: Feature) -> str:
    """The releases that have it: `2.2`, `2.0 only`, `2.0 to 2.1`."""
    since = ".".join(map(str, change.since))
    if change.until is None:
        return since
    return f"{since} only" if change.until == change.since else f"{since} to {'.'.join(map(str, change.until))}"
