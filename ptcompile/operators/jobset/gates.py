"""What JobSet's feature gates change: in-place restarts, restarts of single Jobs, and JobSets that
grow and shrink.

Source: JobSet 0.12, pkg/webhooks/jobset_webhook.go; see docs/facts/jobset.md#feature-gates.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.apiserver.webhooks import ProblemFactory, webhook_rejection
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)
from ptcompile.kubernetes.versions import Versions, is_on, stage_in

_rejection = webhook_rejection("jobset")
_MAX_INT32 = 2**31 - 1
_REPLICAS_MAX = 1024
_RESTART_JOB = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
_RESTART_JOBSET = "use FailJobSet, RestartJobSet or RestartJobSetAndIgnoreMaxRestarts"
_SIZE_FIELDS = ("parallelism", "completions")


def _is_on(gate: str, versions: Versions) -> bool:
    """Return whether the cluster's JobSet has a gate, and it is on."""
    exists = stage_in("jobset", gate, versions.jobset) is not None
    return exists and is_on("jobset", gate, versions)


def check_restart_strategy(
    policy: Json, jobs: Sequence[Json], path: Path, rejection: ProblemFactory, versions: Versions
) -> Problems:
    """Check the strategy InPlaceRestart, and the Jobs that it restarts; `path` is that of the
    JobSet's spec.
    """
    if policy.get("restartStrategy") != "InPlaceRestart":
        return
    if not _is_on("InPlaceRestart", versions):
        strategy_path = (*path, "failurePolicy", "restartStrategy")
        help = "use Recreate or BlockingRecreate"
        yield _needs_gate("InPlaceRestart", "InPlaceRestart", strategy_path, rejection, help)
        return

    for index, job in enumerate(jobs):
        spec = nested_map(job, "template", "spec")
        job_path = (*path, "replicatedJobs", index, "template", "spec")
        if spec.get("backoffLimit") != _MAX_INT32:
            message = (
                f"Invalid value: must be set to {_MAX_INT32} (MaxInt32) when in-place restart is "
                "enabled"
            )
            yield rejection(
                (*job_path, "backoffLimit"), message, f"set backoffLimit to {_MAX_INT32}"
            )
        if spec.get("podReplacementPolicy") != "Failed":
            message = "Invalid value: must be set to Failed when in-place restart is enabled"
            yield rejection(
                (*job_path, "podReplacementPolicy"), message, "set podReplacementPolicy: Failed"
            )

        size = spec.get("completions")
        if size is None or size != spec.get("parallelism"):
            message = (
                "Invalid value: completions and parallelism must be set and equal to each other "
                "when in-place restart is enabled"
            )
            yield rejection((*job_path, "completions"), message, "set both to the number of pods")


def check_restart_action(
    rule: Json, jobs: Sequence[Json], path: Path, rejection: ProblemFactory, versions: Versions
) -> Problems:
    """Check the action of a failure policy's rule that restarts single Jobs."""
    action = rule.get("action")
    if action not in _RESTART_JOB:
        return
    if not _is_on("RestartJob", versions):
        yield _needs_gate(action, "RestartJob", (*path, "action"), rejection, _RESTART_JOBSET)
    elif any(nested_int(job, "replicas", default=1) > _REPLICAS_MAX for job in jobs):
        yield rejection(
            (*path, "action"),
            f"Forbidden: {action} restarts Jobs of a replicatedJob with at most {_REPLICAS_MAX} "
            "replicas",
            _RESTART_JOBSET,
        )


def _needs_gate(value: str, gate: str, path: Path, rejection: ProblemFactory, help: str) -> Problem:
    return rejection(
        path,
        f"Forbidden: {value} needs the feature gate {gate}, which is off by default",
        f"{help}; if the gate is on, set spec.featureGates.jobset.{gate} in the profile",
    )


def is_resize(path: tuple[str, ...], update: Update) -> bool:
    """Return whether a changed path is the size of an Indexed Job, which ElasticJobSet lets
    change.
    """
    if path[3:5] != ("template", "spec") or path[5:] not in (("parallelism",), ("completions",)):
        return False
    if not _is_on("ElasticJobSet", update.versions):
        return False
    return any(
        f"[{nested_string(job, 'name')}]" == path[2] and completion_mode(job) == "Indexed"
        for job in nested_maps(update.new, "spec", "replicatedJobs")
    )


def completion_mode(job: Json) -> str:
    """Return the completionMode of a replicatedJob's Jobs, which JobSet sets to Indexed."""
    return nested_string(job, "template", "spec", "completionMode") or "Indexed"


def resize_problems(update: Update) -> Problems:
    """Yield what the webhook rejects of new sizes of Indexed Jobs."""
    if not _is_on("ElasticJobSet", update.versions):
        return

    old = {job.get("name"): job for job in nested_maps(update.old, "spec", "replicatedJobs")}
    for index, job in enumerate(nested_maps(update.new, "spec", "replicatedJobs")):
        before, after = (
            nested_map(item, "template", "spec") for item in (old.get(job.get("name"), {}), job)
        )
        changed = [field for field in _SIZE_FIELDS if before.get(field) != after.get(field)]
        if changed and job.get("name") in old and completion_mode(job) == "Indexed":
            yield from _check_size(
                changed, after, ("spec", "replicatedJobs", index, "template", "spec"), update
            )


def _check_size(changed: list[str], spec: Json, path: Path, update: Update) -> Problems:
    conditions = nested_maps(update.old, "status", "conditions")
    has_ended = any(
        item.get("type") in ("Completed", "Failed") and item.get("status") == "True"
        for item in conditions
    )
    if has_ended:
        why = (
            "Cannot mutate parallelism or completions when JobSet is in a terminal state "
            "(Completed or Failed)"
        )
        yield _rejection(path, f"Forbidden: {why}", "delete the JobSet and apply again")
        return

    for field in changed:
        value = spec.get(field)
        if type(value) is int and value < 1:
            yield _rejection(
                (*path, field), f"Invalid value: {value}: {field} must be >= 1", "use 1 or more"
            )

    parallelism, completions = (spec.get(field) for field in _SIZE_FIELDS)
    if parallelism is not None and completions is not None and parallelism != completions:
        why = "completions must be equal to parallelism for Elastic Indexed Jobs"
        yield _rejection(
            (*path, "completions"), f"Invalid value: {completions}: {why}", "set both to one number"
        )
