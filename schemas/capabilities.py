"""Capabilities of each target, measured: one small spec per feature, compiled for every target.

Only the targets know what they can do. A new spec field is a new row of `probes.json`. The results
are stored in `targets.json`, which `python schemas/update.py` writes and `ptcompile targets` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ptcompile._internal.spelling import pluralize
from ptcompile.compiler.checks.targets import room
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.pipeline import compile_document
from ptcompile.ir.job import Target
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.operators.targets import every_target
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import Spec

Support = Literal["yes", "roughly", "no"]
"""`roughly`: it compiles, with a warning about how the operator interprets it."""


class Probe(NamedTuple):
    """One feature that a job may need: its spec fields, and the profile of a cluster that
    supports it.
    """

    name: str
    spec: Json
    profile: Mapping[str, Any] = {}  # shared by all probes: never changed


_TABLE = (Path(__file__).parent / "probes.json").read_text(encoding="utf-8")
PROBES = tuple(Probe(**row) for row in json.loads(_TABLE))
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
