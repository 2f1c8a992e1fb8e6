"""What happens when a pod fails and when the job ends, one sentence each, by kind.

Sources: training-operator 1.9, Volcano 1.16, JobSet 0.12, Trainer 2.3, the Job controller of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptcompile.kubernetes.untyped import Json, at, integer, items, kind_of, mapping, text, texts
from ptcompile.operators.trainer import runtimes

Sentences = Callable[[Json, Sequence[Json]], Iterator[str]]
"""A manifest and the other objects of its stream -> sentences."""

_RESTART: dict[str, str] = {
    "Always": "a container that ends is restarted in its pod by the kubelet, for ever, also after success",
    "OnFailure": "a container that fails is restarted in its pod by the kubelet",
    "Never": "a container that fails is not restarted in its pod",
}


def on_failure(manifest: Json, others: Sequence[Json]) -> tuple[str, ...]:
    """The sentences for a manifest."""
    sentences = _KINDS.get(kind_of(manifest))
    return tuple(sentences(manifest, others)) if sentences else ()


def _pod_restart(template: Json, default: str) -> str:
    policy = text(template.get("restartPolicy")) or default
    return f"restartPolicy {policy}: {_RESTART.get(policy, 'no such policy')}"


def _limits(spec: Json, what: str, *, ttl: str = "deletes it with its pods") -> Iterator[str]:
    deadline, keep = spec.get("activeDeadlineSeconds"), spec.get("ttlSecondsAfterFinished")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: {what} fails when it has run that long"
    if keep is not None:
        yield f"ttlSecondsAfterFinished {keep}: that long after its end the cluster {ttl}"


def _pod(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    spec = at(manifest, "spec")
    yield _pod_restart(spec, "Always")
    yield from _limits({"activeDeadlineSeconds": spec.get("activeDeadlineSeconds")}, "the pod")
    yield "a node that goes: nobody makes a new pod"


def _job_spec(spec: Json, restart: str) -> Iterator[str]:
    template = at(spec, "template", "spec")
    yield _pod_restart(template, restart)
    if spec.get("backoffLimitPerIndex") is not None:
        yield f"backoffLimitPerIndex {spec.get('backoffLimitPerIndex')}: retries of each index"
    else:
        limit = integer(spec.get("backoffLimit"), 6)
        yield (
            "backoffLimit 0: the first failure fails the Job"
            if limit == 0
            else f"backoffLimit {limit}: that many failures are retried, then the Job fails; "
            "only the failed pod is made again, and its peers go on without it"
        )
    yield from _job_rules(items(at(spec, "podFailurePolicy").get("rules")))
    for rule in items(at(spec, "successPolicy").get("rules"))[:1]:
        indexes = text(rule.get("succeededIndexes"))
        yield f"successPolicy: done when index {indexes} succeeds" if indexes else "successPolicy: done by count"
    yield from _limits(spec, "the Job")


_LOST: dict[str, str] = {
    "Ignore": "the pod is made again, and it is not counted",
    "Count": "the pod has failed like any other",
    "FailJob": "the Job fails",
    "FailIndex": "the pod's index fails",
}
"""A Job's actions where a node goes, which is the pod condition DisruptionTarget (Kubernetes 1.36)."""


def _job_rules(rules: list[Json]) -> Iterator[str]:
    if rules:
        actions = ", ".join(text(rule.get("action")) for rule in rules)
        yield f"podFailurePolicy: the first rule that matches decides ({actions})"
    action = next((text(rule.get("action")) for rule in rules if _is_of_disruption(rule)), "Count")
    yield f"a node that goes: {_LOST.get(action, 'no such action')}"


def _is_of_disruption(rule: Json) -> bool:
    conditions = items(rule.get("onPodConditions"))
    return any(
        one.get("type") == "DisruptionTarget" and (text(one.get("status")) or "True") == "True" for one in conditions
    )


def _job(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    yield from _job_spec(at(manifest, "spec"), "Never")


_REPLICA: dict[str, str] = {
    "Always": "a failed pod is made again",
    "OnFailure": "the kubelet restarts a container that fails; a failed pod is made again",
    "Never": "a failed pod fails the job, and the other pods go on",
    "ExitCode": "exit codes from 128 on make the pod again, 1 to 127 fail the job",
}


def _pytorchjob(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    spec = at(manifest, "spec")
    policy = at(spec, "runPolicy")
    replicas = {str(k): mapping(v) for k, v in at(spec, "pytorchReplicaSpecs").items()}
    for name, replica in replicas.items():
        restart = text(replica.get("restartPolicy")) or "OnFailure"
        yield f"{name} restartPolicy {restart}: {_REPLICA.get(restart, 'no such policy')}"
        lost = "the job fails" if restart == "Never" else "the pod is made again, and it is not counted"
        yield f"{name}, a node that goes: {lost}"
    limit = policy.get("backoffLimit")
    yield (
        "no backoffLimit: restarts are not counted and go on for ever"
        if limit is None
        else "backoffLimit 0: the first restart of a container fails the job"
        if limit == 0
        else f"backoffLimit {limit}: the job fails when its running pods count that many container restarts"
    )
    if "Master" in replicas:
        yield "the job succeeds with its Master, even while workers run or have failed"
    elif spec.get("elasticPolicy") is not None:
        yield "the job succeeds with any of its workers (elastic)"
    else:
        yield "the job succeeds when all workers have"
    clean = text(policy.get("cleanPodPolicy")) or "None"
    kept = {"None": "all pods stay", "Running": "pods that still run are deleted", "All": "all pods are deleted"}
    yield f"cleanPodPolicy {clean}: at the end {kept.get(clean, 'nothing is known of that policy')}"
    yield from _limits(policy, "the job")


def _volcano(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    spec = at(manifest, "spec")
    tasks = items(spec.get("tasks"))
    for i, task in enumerate(tasks):
        name = _task_name(task, i)
        yield f"{name} {_pod_restart(at(task, 'template', 'spec'), 'Always')}"
        yield from (f"{name}: {_policy(policy)}" for policy in items(task.get("policies")))
    policies = items(spec.get("policies"))
    yield from (f"any task: {_policy(policy)}" for policy in policies)
    failing = {"PodFailed", "*"}
    lists = [policies, *(items(task.get("policies")) for task in tasks)]
    if not any(failing & set(_events(policy)) or policy.get("exitCode") for one in lists for policy in one):
        yield "no policy for PodFailed: a failed pod is not made again, and the others wait for it"
    elif tasks and all(text(at(task, "template", "spec").get("restartPolicy")) != "Never" for task in tasks):
        yield "the policy for PodFailed is dead: the kubelet restarts containers, and no pod fails by them"
    yield from _evicted_alone(tasks, policies)
    if spec.get("minSuccess") is not None:
        yield f"minSuccess {spec.get('minSuccess')}: the job is done when that many pods succeeded"
    most = integer(spec.get("maxRetry"), 3) or 3
    yield f"maxRetry {most}: " + (
        "restarts have no limit" if most == 2**31 - 1 else "the restart that makes it that many fails the job instead"
    )
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from _limits({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the job")


def _task_name(task: Json, i: int) -> str:
    return text(task.get("name")) or f"default{i}"


def _evicted_alone(tasks: Sequence[Json], policies: Sequence[Json]) -> Iterator[str]:
    """The tasks that neither their own policies nor the job's restart when a node goes."""
    alone = [
        _task_name(task, i)
        for i, task in enumerate(tasks)
        if not any({"PodEvicted", "*"} & set(_events(one)) for one in (*items(task.get("policies")), *policies))
    ]
    if alone:
        where = "" if len(alone) == len(tasks) else f"{', '.join(alone)}: "
        yield f"{where}no policy for PodEvicted: a pod whose node goes is made again alone, and it is not counted"


def _events(policy: Json) -> list[str]:
    return [*filter(None, [text(policy.get("event"))]), *texts(policy.get("events"))]


def _policy(policy: Json) -> str:
    on = " or ".join(_events(policy)) or f"exit code {policy.get('exitCode')}"
    after = f" after {text(policy.get('timeout'))}" if policy.get("timeout") else ""
    return f"{on} -> {text(policy.get('action')) or 'nothing'}{after}"


def _jobset(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    yield from _jobset_spec(at(manifest, "spec"))


def _jobset_spec(spec: Json) -> Iterator[str]:
    for replicated in items(spec.get("replicatedJobs")):
        name = text(replicated.get("name"))
        yield from (f"{name}: {one}" for one in _job_spec(at(replicated, "template", "spec"), "OnFailure"))
    policy = spec.get("failurePolicy")
    if policy is None:
        yield "no failurePolicy: the first Job that fails fails the JobSet"
    else:
        rules = "; ".join(_rule(rule) for rule in items(mapping(policy).get("rules")))
        limit = integer(mapping(policy).get("maxRestarts"))
        again = f"starts all Jobs again, at most {limit} times" if limit else "fails the JobSet"
        yield f"failurePolicy: a failed Job {again}" + (f"; rules before that: {rules}" * bool(rules))
    success = at(spec, "successPolicy")
    some = texts(success.get("targetReplicatedJobs"))
    operator = text(success.get("operator")) or "All"
    yield f"successPolicy {operator}: done when {operator.lower()} of {', '.join(some) or 'the Jobs'} succeeded"
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from _limits({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the JobSet")


def _rule(rule: Json) -> str:
    why = " or ".join(texts(rule.get("onJobFailureReasons"))) or "any failure"
    where = f" of {', '.join(texts(rule.get('targetReplicatedJobs')))}" if rule.get("targetReplicatedJobs") else ""
    return f"{why}{where} -> {text(rule.get('action'))}"


def _trainjob(manifest: Json, others: Sequence[Json]) -> Iterator[str]:
    runtime = runtimes.find(manifest, others)[0]
    yield from _jobset_spec(at(runtime, "spec", "template", "spec"))
    deadline = at(manifest, "spec").get("activeDeadlineSeconds")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: then the TrainJob fails and its pods are deleted"


_KINDS: dict[tuple[str, str], Sentences] = {
    ("v1", "Pod"): _pod,
    ("batch/v1", "Job"): _job,
    ("kubeflow.org/v1", "PyTorchJob"): _pytorchjob,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _jobset,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): _trainjob,
}
