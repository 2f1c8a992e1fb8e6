"""Pod templates inside operators' kinds: the object is accepted, and the server refuses what is made of it.

Every problem here has the stage "pod". Findings of a pod stand under its template; what only the operator's child Job
or replica gets wrong stands outside it, since the template alone is a good pod. The
checks of child Jobs and of TrainJobs' patches are imported by the kinds that have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Context
from ptcompile.validate.core.metadata import check_finalizers
from ptcompile.validate.core.pod import check_pod_spec, check_template_metadata
from ptcompile.validate.core.pod_admission import check_pod_annotations
from ptcompile.validate.core.pvc import check_claim_spec
from ptcompile.validate.same import same

_REPLICA_RESTART: Final = ("Always", "ExitCode", "Never", "OnFailure")


def template_problems(manifest: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """What the server answers to the pods (and child Jobs, and claims) that an operator makes of a manifest.

    Empty for kinds without templates. The stage is "pod", the authority kube-apiserver.
    """
    version, kind, spec = manifest.get("apiVersion"), manifest.get("kind"), manifest.get("spec")
    walk = _WALKS.get((version, kind)) if type(version) is str and type(kind) is str else None
    if walk is None or type(spec) is not dict:
        return iter(())
    found: f.Found = []
    walk(manifest, spec, context, found)
    return f.at_stage(found, "pod")


def check_template(
    template: Any, path: Path, context: Context, found: f.Found, volumes: frozenset[str], clean: Any = None
) -> Any:
    """One pod template, as the Pod that will be made of it. Gives it back where nothing is wrong with it.

    `clean` is such a template of the same object: what is the same is right too, and is not looked at again.
    """
    if type(template) is not dict or same(template, clean):
        return clean
    start = len(found)
    meta, spec = template.get("metadata"), template.get("spec")
    here = (*path, "metadata")
    check_template_metadata(meta, here, found, here)
    check_pod_annotations(meta, spec, here, found)
    check_pod_spec(spec, (*path, "spec"), context, found, template=False, extra_volumes=volumes)
    found[start:] = [_of_operator(p, path, spec) for p in found[start:]]
    return clean if len(found) > start else template


def _of_operator(problem: Problem, path: Path, spec: Any) -> Problem:
    """What is inferred here, and not said by the server's pod validation.

    A class is looked up by name among the cluster's before the pod is validated, and no class can have such a name;
    ExitCode is a word for replicas of Kubeflow's kinds, and no pod has it.
    """
    field = problem.path[len(path) + 1 :]
    if field != ("priorityClassName",) and (field != ("restartPolicy",) or spec["restartPolicy"] != "ExitCode"):
        return problem
    return problem._replace(authority="ptcompile")


def _walk_pytorch(manifest: Mapping[str, Any], spec: dict[str, Any], context: Context, found: f.Found) -> None:
    """PyTorchJob (training-operator 1.9): the replica's restartPolicy overwrites the template's."""
    clean: Any = None
    for key, replica in f.mapping(spec.get("pytorchReplicaSpecs")).items():
        path: Path = ("spec", "pytorchReplicaSpecs", key)
        replica = f.mapping(replica)
        template, policy = replica.get("template"), replica.get("restartPolicy")
        clean = check_template(_without_restart(template), (*path, "template"), context, found, frozenset(), clean)
        if type(template) is dict:
            finalizers = f.mapping(template.get("metadata")).get("finalizers")
            check_finalizers(finalizers, (*path, "template", "metadata", "finalizers"), found)
        if policy:
            f.check_choice(found, (*path, "restartPolicy"), policy, _REPLICA_RESTART)


def _without_restart(template: Any) -> Any:
    spec = f.mapping(template).get("spec")
    if type(spec) is not dict or "restartPolicy" not in spec:
        return template
    return {**template, "spec": {key: value for key, value in spec.items() if key != "restartPolicy"}}


def _walk_volcano(manifest: Mapping[str, Any], spec: dict[str, Any], context: Context, found: f.Found) -> None:
    """Volcano Job: the template as it is; claims of `spec.volumes` are made by the controller."""
    clean: Any = None
    for index, task in f.objects(spec.get("tasks")):
        here = ("spec", "tasks", index, "template")
        clean = check_template(task.get("template"), here, context, found, frozenset(), clean)
    for index, volume in f.objects(spec.get("volumes")):
        if type(volume.get("volumeClaim")) is dict:
            check_claim_spec(volume["volumeClaim"], ("spec", "volumes", index, "volumeClaim"), found)


def _walk_jobset(manifest: Mapping[str, Any], spec: dict[str, Any], context: Context, found: f.Found) -> None:
    meta = manifest.get("metadata")
    _walk_jobs(spec, ("spec",), f.mapping(meta).get("name"), False, context, found)


def _walk_runtime(manifest: Mapping[str, Any], spec: dict[str, Any], context: Context, found: f.Found) -> None:
    jobs = f.mapping(f.mapping(spec.get("template")).get("spec"))
    counted = type(spec.get("mlPolicy")) is dict
    _walk_jobs(jobs, ("spec", "template", "spec"), None, counted, context, found)


def _walk_jobs(spec: Any, path: Path, name: Any, counted: bool, context: Context, found: f.Found) -> None:
    """The replicated jobs of a JobSet spec. `counted`: Trainer sets parallelism and completions itself."""
    from ptcompile.validate.core.job import check_job_template_metadata

    volumes = _claim_volumes(spec, path, found)
    clean: Any = None
    for index, job in f.objects(spec.get("replicatedJobs")):
        here = (*path, "replicatedJobs", index, "template")
        template = f.mapping(job.get("template"))
        child = template.get("spec")
        if type(child) is not dict:
            continue
        clean = check_template(child.get("template"), (*here, "spec", "template"), context, found, volumes, clean)
        problems: f.Found = []
        check_job_template_metadata(template.get("metadata"), (*here, "metadata"), problems)
        full = f"{name}-{job.get('name')}-0" if type(name) is str else None
        _check_child(child, (*here, "spec"), full, counted, context, problems)
        found.extend(_outside(problems, (*here, "spec")))


def _claim_volumes(spec: Any, path: Path, found: f.Found) -> frozenset[str]:
    """The volumes that JobSet adds for its volumeClaimPolicies (named as the claim templates)."""
    out = set()
    for index, policy in f.objects(spec.get("volumeClaimPolicies")):
        for number, template in f.objects(policy.get("templates")):
            here = (*path, "volumeClaimPolicies", index, "templates", number, "spec")
            check_claim_spec(template.get("spec"), here, found)
            name = f.mapping(template.get("metadata")).get("name")
            if type(name) is str:
                out.add(name)
    return frozenset(out)


def _check_child(
    spec: dict[str, Any], path: Path, name: str | None, counted: bool, context: Context, found: f.Found
) -> None:
    """The child Job, with JobSet's defaults: completionMode Indexed, restartPolicy OnFailure (JobSet 0.12 webhook)."""
    from ptcompile.validate.core.job import check_job_counts, check_job_selector, check_restart_policy

    child = spec if spec.get("completionMode") else {**spec, "completionMode": "Indexed"}
    if counted and child.get("completions") is None:
        child = {**child, "completions": f.integer(child.get("parallelism")) or 1}
    check_job_counts(child, path, context, found)
    check_job_selector({"name": name}, child, path, found)
    pod = f.mapping(child.get("template")).get("spec")
    if type(pod) is dict and pod.get("restartPolicy") == "Always":
        check_restart_policy(pod, (*path, "template", "spec"), found)


def _outside(problems: list[Problem], path: Path) -> Iterator[Problem]:
    """The same problems, those under the pod template moved to the child Job: the template alone is no mistake."""
    size = len(path) + 1
    for p in problems:
        inside = p.path[:size] == (*path, "template")
        yield Problem(p.name, path if inside else p.path, p.message, p.help)


def _walk_train_job(manifest: Mapping[str, Any], spec: dict[str, Any], context: Context, found: f.Found) -> None:
    from ptcompile.validate.core.patches import check_runtime_patches, check_trainer

    check_trainer(spec, context, found)
    check_runtime_patches(spec.get("runtimePatches"), ("spec", "runtimePatches"), context, found)


Walk = Callable[[Mapping[str, Any], dict[str, Any], Context, f.Found], None]

_WALKS: Final[dict[tuple[str, str], Walk]] = {
    ("kubeflow.org/v1", "PyTorchJob"): _walk_pytorch,
    ("batch.volcano.sh/v1alpha1", "Job"): _walk_volcano,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _walk_jobset,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): _walk_train_job,
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): _walk_runtime,
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): _walk_runtime,
}
