"""What the API server answers to what Trainer makes of a TrainJob and of a runtime (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.jobset.pod_checks import check_jobs
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.patches import check_runtime_patches, check_trainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def train_job(_manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """What a TrainJob adds to its runtime's pods."""
    check_trainer(spec, context, found)
    check_runtime_patches(spec.get("runtimePatches"), ("spec", "runtimePatches"), context, found)


def runtime(_manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """The JobSet of a runtime, whose counts Trainer sets itself where it has a policy for them."""
    jobs = f.mapping(f.mapping(spec.get("template")).get("spec"))
    counted = type(spec.get("mlPolicy")) is dict
    check_jobs(jobs, ("spec", "template", "spec"), None, counted, context, found)
