"""Acme's target: a JobSet in an AppWrapper, which Kueue admits and retries as one."""

from __future__ import annotations

from typing import Any

from ptcompile.extending import Job, target_named

_JOBSET = target_named("jobset")


def _emit(job: Job, cluster: Any) -> list[dict[str, Any]]:
    components = [{"template": one} for one in _JOBSET.emit(job, cluster)]
    wrapper: dict[str, Any] = {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {key: value for key, value in _metadata(job).items() if value},
        "spec": {"components": components},
    }
    return [wrapper]


def _metadata(job: Job) -> dict[str, Any]:
    labels = {key: value for key, value in job.labels.items() if value is not None}
    return {"name": job.name, "namespace": job.namespace, "labels": labels}


APPWRAPPER = _JOBSET._replace(name="appwrapper", title="AppWrapper around a JobSet", emit=_emit)
