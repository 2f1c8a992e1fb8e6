"""What the manifests of a task say that Flyte's would not, and nobody asked for in as many words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import noted

_POLICY: Path = ("task_config", "run_policy")
_WORDS = {"cleanPodPolicy": "clean_pod_policy", "backoffLimit": "backoff_limit"}


def surprises(document: Mapping[str, Any], manifests: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Notes on the run policy and the restart policy of a PyTorchJob that the task itself does not name."""
    made = next((one["spec"] for one in manifests if one.get("kind") == "PyTorchJob"), None)
    if made is None:
        return []
    job = document["spec"]
    said = job.get("runPolicy") or {}
    why = _why(job)
    out = [
        noted("unlike-flyte", (*_POLICY, word), f"the job says {key}: {value}, which Flyte would not write: {why}")
        for key, word in _WORDS.items()
        if (value := made.get("runPolicy", {}).get(key)) is not None and key not in said
    ]
    named = {key for key in ("master", "worker") if "restartPolicy" in (job.get(key) or {})}
    roles = made["pytorchReplicaSpecs"].items()
    policies = {role["restartPolicy"] for name, role in roles if name.lower() not in named} - {"Never"}
    for policy in sorted(policies):
        out.append(
            noted(
                "unlike-flyte", ("task_config",), f"the pods say restartPolicy: {policy}, and Flyte's say Never: {why}"
            )
        )
    return out


def _why(job: Mapping[str, Any]) -> str:
    """What in the task brings pods that start again."""
    elastic = job.get("elastic") or {}
    causes = {
        f"nnodes {elastic.get('nnodes')} lets pods come and go": ":" in str(elastic.get("nnodes")),
        "interruptible pods are lost and start again": bool(job.get("spot")),
        "retries and backoff_limit count only pods that start again": bool(
            (job.get("runPolicy") or {}).get("backoffLimit")
        ),
        "a restart policy other than Never lets pods start again": any(
            (job.get(role) or {}).get("restartPolicy", "Never") != "Never" for role in ("master", "worker")
        ),
    }
    return ", and ".join(cause for cause, true in causes.items() if true) or "the operator's own default differs"
