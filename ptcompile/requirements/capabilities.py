"""Capabilities of each target, measured: one small spec per feature, compiled for every target.

Only the targets know what they can do. A new spec field is a new row of `probes.json`. The results
are stored in `schemas/targets.json`, which `python schemas/update.py` writes and `ptcompile
targets` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.about import SITE
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import pluralize
from ptcompile.compiler.checks.targets import room
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.pipeline import compile_document
from ptcompile.ir.job import Target
from ptcompile.kinds.model import Feature
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.kubernetes.versions import version_text
from ptcompile.operators.table import BY_GANG_SCHEDULER, BY_QUEUE_SYSTEM, FEATURES
from ptcompile.operators.targets import every_target
from ptcompile.report.layout import table
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Support = Literal["yes", "roughly", "no"]
    """`roughly`: it compiles, with a warning about how the operator interprets it."""


class Probe(NamedTuple):
    """One feature that a job may need: its spec fields, and the profile of a cluster that
    supports it.
    """

    name: str
    spec: Json
    profile: Mapping[str, Any] = {}  # shared by all probes: never changed


_LEVELS: JsonDict = {
    "topology": {
        "name": "network",
        "levels": {"rack": {"nodeLabel": "example.com/rack", "tier": 1}},
    }
}
_QUEUED_TOPOLOGY: JsonDict = {"queue": "q", "topology": {"required": "rack"}}


def _queue_probes() -> Iterator[Probe]:
    """Yield the probes of the queue systems, those without a scheduler first."""
    for operator in sorted(
        BY_QUEUE_SYSTEM.values(), key=lambda operator: bool(operator.gang_scheduler)
    ):
        profile: JsonDict = {"queueSystem": operator.queue_system, **_LEVELS}
        yield Probe(f"queue of {operator.title}", {"queue": "q", "priority": "high"}, profile)
        yield Probe(f"queue of {operator.title}, topology", _QUEUED_TOPOLOGY, profile)
        if operator.gang_scheduler:
            continue
        for name, spec, more in operator.probes:
            yield Probe(name, spec, {**more, **_LEVELS})


def _gang_probes() -> Iterator[Probe]:
    """Yield the probes of the gang schedulers."""
    for operator in BY_GANG_SCHEDULER.values():
        yield Probe(
            f"gang of {operator.title or operator.gang_scheduler}",
            {},
            {"gangScheduler": operator.gang_scheduler, **operator.gang_profile},
        )
        yield from (Probe(*probe) for probe in operator.probes)


_TABLE = load_table("requirements/probes.json")
PROBES = (
    *[Probe(**row) for row in _TABLE["before"]],
    *_queue_probes(),
    *_gang_probes(),
    *[Probe(**row) for row in _TABLE["after"]],
)
"""Probes in table order. A Pod is probed with one node and other targets with two, unless the
probe sets the number.
"""

NAME_SIZES = (1, 8, 100)
"""Numbers of nodes for which the table has the longest job name."""

_SHAPE_FIELDS = ("nodes", "elastic", "master")


def capability_table() -> dict[str, JsonDict]:
    """Return the contents of `schemas/targets.json`: titles and capabilities of the targets, with
    the newest releases.
    """
    answers: dict[str, dict[str, str]] = {
        probe.name: {target.name: _probe_target(probe, target) for target in every_target()}
        for probe in PROBES
    }
    sizes = {
        f"longest name, {pluralize(size, 'node')}": _longest_names(size) for size in NAME_SIZES
    }

    return {
        "targets": {target.name: target.title for target in every_target()},
        "capabilities": answers | sizes,
    }


def _probe_target(probe: Probe, target: Target) -> Support:
    shape = {"nodes": 2}
    several = bool(_compile_probe(shape, {}, target)[0])
    if any(field in probe.spec for field in _SHAPE_FIELDS) or not several:
        shape = {}
    manifests, warned = _compile_probe({**shape, **probe.spec}, probe.profile, target)
    if not manifests:
        return "no"
    return "roughly" if warned else "yes"


def _compile_probe(
    fields: Json, profile: Json, target: Target
) -> tuple[tuple[JsonDict, ...], bool]:
    """Return the manifests of a spec with these fields, and whether there were warnings or
    errors.
    """
    compiled = compile_document(
        _document(fields), ClusterProfile.model_validate({"spec": profile}), target.name
    )
    return compiled.manifests, any(problem.severity != "note" for problem in compiled.problems)


def _document(fields: Json) -> JsonDict:
    spec = {"image": "image:1", "script": "train.py", **fields}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "job"},
        "spec": spec,
    }


def _longest_names(size: int) -> dict[str, str]:
    """Return the longest name of a job of equal nodes per target, or "" if the target cannot run
    so many.
    """
    job = lower(Spec.model_validate(_document({"nodes": size})), ClusterProfile.model_construct())
    able = {
        target.name: bool(_compile_probe({"nodes": size}, {}, target)[0])
        for target in every_target()
    }
    return {
        target.name: str(room(job, target).longest) if able[target.name] else ""
        for target in every_target()
    }


def version_rows() -> list[tuple[str, str, str, str]]:
    """Return rows of operator, releases, change and source: what each operator release changed
    in the manifests.
    """
    features = sorted(FEATURES.values(), key=lambda change: (change.operator, change.since))
    return [
        (feature.operator.replace("_", "-"), _release_range(feature), feature.what, feature.source)
        for feature in features
    ]


def versions_text() -> str:
    """Return the version rows as text, one line per change, followed by the address of the fact
    pages.
    """
    rows = [(*row, f"({source})") for *row, source in version_rows()]
    return "\n".join([*table(rows, ""), f"facts/NAME is {SITE}facts/NAME/", ""])


def _release_range(change: Feature) -> str:
    """Return the releases that have the change: `2.2`, `2.0 only`, `2.0 to 2.1`."""
    since = version_text(change.since)
    if change.until is None:
        return since
    if change.until == change.since:
        return f"{since} only"
    return f"{since} to {version_text(change.until)}"
