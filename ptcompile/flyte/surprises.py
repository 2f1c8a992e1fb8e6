"""What the manifests of a task say that Flyte's would not, and the task does not ask for explicitly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import noted

_LIMIT: Path = ("task_config", "run_policy", "backoff_limit")


def surprises(document: Mapping[str, Any], manifests: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Notes on the backoff limit and the restart policy of a PyTorchJob that the task itself does not name."""
    made = next((one["spec"] for one in manifests if one.get("kind") == "PyTorchJob"), None)
    if made is None:
        return []
    job = document["spec"]
    why = _why(job)
    limit = made.get("runPolicy", {}).get("backoffLimit")
    unasked = limit is not None and "backoffLimit" not in (job.get("runPolicy") or {})
    message = f"the job has backoffLimit: {limit}, which Flyte would not write: {why}"
    out = [noted("unlike-flyte", _LIMIT, message)] if unasked else []
    named = {key for key in ("master", "worker") if "restartPolicy" in (job.get(key) or {})}
    roles = made["pytorchReplicaSpecs"].items()
    policies = {role["restartPolicy"] for name, role in roles if name.lower() not in named} - {"Never"}
    for policy in sorted(policies):
        message = f"the pods have restartPolicy: {policy}, and Flyte's have Never: {why}"
        out.append(noted("unlike-flyte", ("task_config",), message))
    return out


def _why(job: Mapping[str, Any]) -> str:
    """What in the task brings pods that start again."""
    elastic = job.get("elastic") or {}
    causes = {
        f"nnodes {elastic.get('nnodes')} lets pods come and go": ":" in str(elastic.get("nnodes")),
        "interruptible pods are lost and restarted": bool(job.get("spot")),
        "retries and backoff_limit count only pods that are restarted": bool(
            (job.get("runPolicy") or {}).get("backoffLimit")
        ),
        "a restart policy other than Never restarts pods": any(
            (job.get(role) or {}).get("restartPolicy", "Never") != "Never" for role in ("master", "worker")
        ),
    }
    return ", and ".join(cause for cause, true in causes.items() if true) or "the operator's own default differs"
