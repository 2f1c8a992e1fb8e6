"""Our own kinds: a TrainingJob document to a `Job`, a ClusterProfile document to a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.amounts import lowered, processes_per_node
from ptcompile.frontends.nulls import merged, of_fields, of_patch
from ptcompile.job import model as ir
from ptcompile.job import pod_template
from ptcompile.vocabulary import from_schema

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import Model
    from ptcompile.vocabulary.spec import Elastic, EnvSource, JobSpec, PodFields, RoleSpec, RuntimeRef, SideRole, Spec

MAIN = "pytorch"
"""What the container that trains is called in a spec's own words, and on every target that leaves the choice."""

MEETING_SECONDS = 900
"""How long nodes wait for each other where the user says nothing: flytekitplugins-kfpytorch 1.16 `Elastic`."""

_JOB: Path = ("spec",)

_Model = TypeVar("_Model", bound="Model")


def read_spec(data: Any) -> tuple[Spec | None, list[Problem]]:
    """A decoded TrainingJob document as a `Spec`, or as its plain equal; or what is wrong with it."""
    if (spec := from_schema.spec(data)) is not None:
        return spec, []
    from ptcompile.vocabulary.spec import Spec

    return _validated(Spec, data)


def read_cluster(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """A decoded ClusterProfile document, or its plain equal; or what is wrong with it."""
    if (cluster := from_schema.cluster(data)) is not None:
        return cluster, []
    from ptcompile.vocabulary.cluster.model import ClusterProfile

    return _validated(ClusterProfile, data)


def _validated(model: type[_Model], data: Any) -> tuple[_Model | None, list[Problem]]:
    from pydantic import ValidationError

    from ptcompile.frontends import errors

    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, errors.problems(error, data, model)


def lower(spec: Spec, cluster: ClusterProfile) -> ir.Job:
    """A checked spec as a `Job`: every default of the vocabulary decided, nothing of the profile applied yet."""
    job = spec.spec
    least, most = job.node_range()
    policy = job.run_policy
    reference = job.runtime_ref
    return ir.Job(
        name=spec.metadata.name,
        namespace=spec.metadata.namespace,
        labels=spec.metadata.labels,
        annotations=spec.metadata.annotations,
        roles=(*_roles(job), *(_side_role(name, job, role) for name, role in job.roles.items())),
        min_nodes=least,
        resources=lowered(job.resources),
        launch=_launch(spec, cluster),
        run_policy=ir.RunPolicy(
            clean_pod_policy=policy.clean_pod_policy,
            ttl_seconds_after_finished=policy.ttl_seconds_after_finished,
            active_deadline_seconds=policy.active_deadline_seconds,
            backoff_limit=ir.UNLIMITED if policy.backoff_limit == "Unlimited" else policy.backoff_limit,
            suspend=policy.suspend,
            on_pod_failure=policy.on_pod_failure,
            on_disruption=policy.on_disruption,
            success_policy=policy.success_policy,
        ),
        shared_memory=cast("bool | str", job.shared_memory),
        accelerator=job.accelerator,
        spot=job.spot,
        fabric=job.fabric,
        queue=job.queue or (None if "queue" not in job.model_fields_set else ""),
        master_port=job.master_port,
        names=_names(job),
        priority=job.priority,
        topology=_nearness(job),
        max_nodes=most if job.first_nodes() < most else None,
        runtime=_runtime(reference),
        runtime_nodes=reference is not None and job.nodes is None and (job.elastic is None or not job.elastic.nnodes),
    )


def _runtime(reference: RuntimeRef | None) -> dict[str, Any] | None:
    if reference is None:
        return None
    return {"apiGroup": reference.api_group, "kind": reference.kind, "name": reference.name}


def _names(job: JobSpec) -> ir.Names:
    names, tasks = job.names, job.volcano
    return ir.Names(
        names.container, names.node or "node", names.master or tasks.master_task, names.worker or tasks.worker_task
    )


def _nearness(job: JobSpec) -> ir.Nearness | None:
    wish = job.topology
    if wish is None:
        return None
    return ir.Nearness(wish.required or wish.preferred or "", required=wish.required is not None)


def _roles(job: JobSpec) -> tuple[ir.Role, ...]:
    if job.master is None and job.worker is None:
        return (_role("node", job.first_nodes(), job, None),)
    workers = job.worker.replicas if job.worker is not None else 0
    master = _role("master", 1, job, job.master)
    return (master, _role("worker", workers, job, job.worker)) if workers else (master,)


def _role(name: str, replicas: int, job: JobSpec, role: RoleSpec | None) -> ir.Role:
    """One role: the job's words, the role's laid over them, then both patches."""
    template, nulls = template_of(job), of_fields(job, _JOB, MAIN)
    own = ir.Resources()
    if role is not None:
        of_role = of_fields(role, (*_JOB, name), MAIN)
        template = pod_template.merge(pod_template.without(template, of_role), template_of(role))
        nulls, own = merged(nulls, of_role), lowered(role.resources)
    called = job.names.container
    patches = [((*_JOB, "podTemplate"), _of_main(job.pod_template, called))]
    if role is not None:
        patches.append(((*_JOB, name, "podTemplate"), _of_main(role.pod_template, called)))
    restart = (role.restart_policy if role is not None else None) or job.restart_policy
    return ir.Role(name, replicas, _patched(template, nulls, own, patches, MAIN), restart)


def _patched(
    template: dict[str, Any], nulls: dict[str, Any], own: ir.Resources, patches: list[tuple[Path, Any]], main: str
) -> ir.PodTemplate:
    """A role's template with its amounts and its patches, and what all of it keeps empty.

    What a later word gives again is not empty.
    """
    if own.requests or own.limits:
        template["spec"]["containers"][0]["resources"] = {"requests": own.requests, "limits": own.limits}
    for path, patch in patches:
        if patch:
            template, nulls = pod_template.merge(template, patch), merged(nulls, of_patch(patch, path))
    read = pod_template.read(template, main)
    amounts = read.main.resources._replace(nulls=own.nulls)
    return read._replace(
        main=read.main._replace(resources=amounts), nulls=pod_template.absent(nulls, template) if nulls else nulls
    )


def _of_main(patch: Mapping[str, Any], name: str | None) -> Mapping[str, Any]:
    """A patch in which the container that trains may be called by its name in the manifest too."""
    spec = patch.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    if name in {None, MAIN} or not isinstance(containers, list) or not isinstance(spec, Mapping):
        return patch
    return {
        **patch,
        "spec": {**spec, "containers": [{**c, "name": MAIN} if c.get("name") == name else c for c in containers]},
    }


def _side_role(name: str, job: JobSpec, role: SideRole) -> ir.Role:
    """A role beside the trainers: the job's words but for what starts, the role's own over them, then its patch.

    A container that fails is restarted in its pod (OnFailure) unless the user says otherwise: it keeps its name and
    the trainers can come back to it, where a failed pod would end the job.
    """
    template, nulls = template_of(job, name), of_fields(job, _JOB, name)
    for key in ("command", "args"):
        template["spec"]["containers"][0].pop(key, None)
    at = (*_JOB, "roles", name)
    of_role = of_fields(role, at, name)
    template = pod_template.merge(pod_template.without(template, of_role), template_of(role, name))
    patches = [((*at, "podTemplate"), role.pod_template)]
    read = _patched(template, merged(nulls, of_role), lowered(role.resources), patches, name)
    return ir.Role(name, role.replicas, read, role.restart_policy or "OnFailure", trains=False)


def template_of(fields: PodFields, name: str = MAIN) -> dict[str, Any]:
    """What a block says of its pods, as a Kubernetes pod template with only the fields that it gives.

    `name` is that of its main container.
    """
    container = {
        "name": name,
        "image": fields.image,
        "imagePullPolicy": fields.image_pull_policy,
        "command": fields.command,
        "args": fields.args,
        "workingDir": fields.working_dir,
        "envFrom": fields.env_from,
        "env": [variable(name, value) for name, value in fields.env.items() if value is not None],
        "volumeMounts": fields.volume_mounts,
        "securityContext": fields.security_context,
    }
    pod = {
        "serviceAccountName": fields.service_account_name,
        "schedulerName": fields.scheduler_name,
        "priorityClassName": fields.priority_class_name,
        "hostNetwork": fields.host_network or None,
        "dnsPolicy": "ClusterFirstWithHostNet" if fields.host_network else None,
        "terminationGracePeriodSeconds": fields.termination_grace_period_seconds,
        "imagePullSecrets": fields.image_pull_secrets,
        "securityContext": fields.pod_security_context,
        "nodeSelector": _not_null(fields.node_selector),
        "affinity": fields.affinity,
        "tolerations": fields.tolerations,
        "containers": [_given(container)],
        "volumes": fields.volumes,
    }
    metadata = {"labels": _not_null(fields.pod_labels), "annotations": _not_null(fields.pod_annotations)}
    return {"metadata": _given(metadata), "spec": _given(pod)}


def _not_null(words: Mapping[str, str | None]) -> dict[str, str]:
    return {key: text for key, text in words.items() if text is not None}


_EMPTY_SAYS = frozenset({"command", "args"})


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not said: null, and empty lists and mappings. An empty argument list is a word of its own."""
    return {k: v for k, v in fields.items() if v or (v is not None and (k in _EMPTY_SAYS or v not in ([], {})))}


def variable(name: str, value: str | EnvSource) -> dict[str, Any]:
    """A variable of a spec as Kubernetes writes it."""
    if isinstance(value, str):
        return {"name": name, "value": value}
    return {"name": name, "valueFrom": value.given()}


def _launch(spec: Spec, cluster: ClusterProfile) -> ir.Launch | None:
    """How torchrun starts the job; None where it does not."""
    job, elastic = spec.spec, spec.spec.elastic
    if job.script is not None:
        entry: tuple[str, ...] = (job.script,)
    elif job.module is not None:
        entry = ("-m", job.module)
    elif elastic is not None:
        entry = ()
    else:
        return None
    least, most = job.node_range()
    restarts = elastic.max_restarts if elastic else 0
    own_conf = elastic.rdzv_configs if elastic else {}
    told_by_runtime = job.runtime_ref is not None and not entry  # a runtime's command gets what the spec says, no more
    waits = {"timeout": MEETING_SECONDS, "join_timeout": MEETING_SECONDS} if most > 1 and not told_by_runtime else {}
    own_id = elastic is not None and "rdzv_id" in elastic.model_fields_set
    meets_again = most > 1 and (least < most or restarts > 0 or _a_pod_returns(job))
    return ir.Launch(
        entry=entry,
        nproc_per_node=elastic.nproc_per_node if elastic else _by_devices(job, cluster),
        rdzv_backend=(elastic and elastic.rdzv_backend) or ("c10d" if meets_again else "static"),
        rdzv_id=elastic.rdzv_id if elastic and own_id else spec.metadata.name,
        rdzv_endpoint=elastic.rdzv_endpoint if elastic else None,
        rdzv_conf={key: str(value) for key, value in {**waits, **own_conf}.items() if value is not None},
        monitor_interval=_interval(elastic, None if told_by_runtime else 5),
        max_restarts=restarts,
        start_method=elastic.start_method if elastic else "spawn",
    )


def _interval(elastic: Elastic | None, otherwise: float | None) -> float | None:
    return elastic.monitor_interval if elastic and "monitor_interval" in elastic.model_fields_set else otherwise


def _a_pod_returns(job: JobSpec) -> bool:
    """Whether a container or a pod that trains may start again while the others go on.

    A static rendezvous cannot bear that. Roles beside the trainers take no part in it.
    """
    policy = job.run_policy
    blocks: tuple[PodFields | None, ...] = (job, job.master, job.worker)
    if any(block is not None and block.restart_policy not in {None, "Never"} for block in blocks):
        return True
    if policy.on_pod_failure == "RestartJob":
        return False
    outlives_nodes = policy.on_disruption == "Ignore" or (job.spot and policy.on_disruption is None)
    return bool(policy.backoff_limit) or policy.on_pod_failure == "RestartPod" or outlives_nodes


def _by_devices(job: JobSpec, cluster: ClusterProfile) -> int:
    """Processes on a node of a job that does not say: one for each GPU of a worker, one without GPUs.

    A device that takes several, such as a Trainium with its cores, gets them.
    """
    block: PodFields = job.worker or job.master or job
    return processes_per_node(job, block, cluster) or 1


READERS: dict[str, Callable[[Any], tuple[Model | None, list[Problem]]]] = {
    "TrainingJob": read_spec,
    "ClusterProfile": read_cluster,
}
"""Our own kinds, each with its reader."""
