"""Lower a spec to a job: roles, pod templates, explicit nulls and the launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal.namedtuple import Any, cast
from ptcompile.compiler.frontend.parts import (
    POD_FIELDS,
    PodField,
    SpecParts,
    lower_resources,
    parts_of,
)
from ptcompile.diagnostics import Path
from ptcompile.ir import job as ir, pods
from ptcompile.kubernetes.merging import merge
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_map, without_none
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import (
        Elastic,
        EnvSource,
        JobSpec,
        PodFields,
        RoleSpec,
        RunPolicy,
        RuntimeRef,
        SideRole,
        Spec,
    )

    Tree = JsonDict


KeyPath = tuple[str, ...]

_NULLABLE = tuple(word for word in POD_FIELDS if word.nullable)


def nulls_of_fields(fields: PodFields, path: Path, container: str) -> Tree:
    """Return the fields that a block sets to null. `path` is the block's, `container` names its
    main container.
    """
    tree: Tree = {}
    holders = {
        "metadata": ("metadata",),
        "spec": ("spec",),
        "main": ("spec", "containers", container),
    }
    set_fields = fields.model_fields_set
    for spec_key, attribute, holder, field, _, _ in [
        word for word in _NULLABLE if word.attribute in set_fields
    ]:
        value = getattr(fields, attribute)
        if value is None:
            _set_null(tree, (*holders[holder], field), (*path, spec_key))
        elif value and isinstance(value, Mapping) and None in value.values():
            for key in [key for key, item in value.items() if item is None]:
                _set_null(tree, (*holders[holder], field, key), (*path, spec_key, key))

    return tree


def nulls_of_patch(patch: Any, path: Path, field: str = "") -> Tree:
    """Return the fields that a pod template patch sets to null. `path` is the patch's, `field`
    the key of the value.
    """
    nulls: Tree = {}
    if isinstance(patch, Mapping):
        for key, value in patch.items():
            inner: Any = (*path, key) if value is None else nulls_of_patch(value, (*path, key), key)
            if inner:
                nulls[key] = inner
    elif field in MERGE_KEYS and isinstance(patch, list):
        for index, item in enumerate(patch):
            if inner := nulls_of_patch(item, (*path, index)):
                name = str(item.get(MERGE_KEYS[field]))
                nulls[name] = merge_nulls(nulls.get(name, {}), inner)

    return nulls


def merge_nulls(tree: Tree, over: Tree) -> Tree:
    """Merge two trees of nulls; the null of a whole field wins over nulls of its parts."""
    result = {**tree, **over}
    for key in tree.keys() & over.keys():
        if isinstance(tree[key], dict) and isinstance(over[key], dict):
            result[key] = merge_nulls(tree[key], over[key])
        elif isinstance(tree[key], tuple):
            result[key] = tree[key]
    return result


def _set_null(tree: Tree, key_path: KeyPath, spec_path: Path) -> None:
    for part in key_path[:-1]:
        tree = tree.setdefault(part, {})
    tree[key_path[-1]] = spec_path


MAIN = "pytorch"
"""Name of the main container in a spec, and on every target that leaves the choice."""

_JOB: Path = ("spec",)


def roles_of(job: JobSpec) -> tuple[ir.Role, ...]:
    """Return all roles of a job: training roles, then auxiliary roles."""
    return (
        *_training_roles(job),
        *(_auxiliary_role(name, job, role) for name, role in job.roles.items()),
    )


def _training_roles(job: JobSpec) -> tuple[ir.Role, ...]:
    if job.master is None and job.worker is None:
        return (_training_role("node", job.initial_nodes(), job, None),)
    workers = job.worker.replicas if job.worker is not None else 0
    master = _training_role("master", 1, job, job.master)
    if workers:
        return (master, _training_role("worker", workers, job, job.worker))
    return (master,)


def _training_role(name: str, replicas: int, job: JobSpec, role: RoleSpec | None) -> ir.Role:
    """Return a training role: the job's fields, overridden by the role's, then both patches."""
    template = template_of(job)
    nulls = nulls_of_fields(job, _JOB, MAIN)
    own_amounts = pods.Resources()
    restart = job.restart_policy
    patches = [((*_JOB, "podTemplate"), _with_main_name(job.pod_template, job, name))]
    if role is not None:
        role_nulls = nulls_of_fields(role, (*_JOB, name), MAIN)
        template = merge(pods.without_paths(template, role_nulls), template_of(role))
        nulls = merge_nulls(nulls, role_nulls)
        own_amounts = lower_resources(role.resources)
        restart = role.restart_policy or restart
        patches.append(
            ((*_JOB, name, "podTemplate"), _with_main_name(role.pod_template, job, name))
        )

    return ir.Role(
        name, replicas, _apply_patches(template, nulls, own_amounts, patches, MAIN), restart
    )


def _apply_patches(
    template: JsonDict,
    nulls: JsonDict,
    own_amounts: pods.Resources,
    patches: list[tuple[Path, Any]],
    main: str,
) -> pods.PodTemplate:
    """Return a role's template with its amounts and patches, and the nulls that no later field
    sets.
    """
    if own_amounts.requests or own_amounts.limits:
        template["spec"]["containers"][0]["resources"] = {
            "requests": own_amounts.requests,
            "limits": own_amounts.limits,
        }

    for path, patch in patches:
        if patch:
            template = merge(template, patch)
            nulls = merge_nulls(nulls, nulls_of_patch(patch, path))

    pod = pods.read(template, main)
    if own_amounts.nulls:
        pod = pod.with_main(
            pod.main._replace(resources=pod.main.resources._replace(nulls=own_amounts.nulls))
        )
    if nulls:
        return pod._replace(nulls=pods.absent_nulls(nulls, template))

    return pod


def _with_main_name(patch: Json, job: JobSpec, role: str) -> Json:
    """Return a patch that calls the main container `pytorch`, as a spec does; the given patch may
    call the container by its name in the manifest.
    """
    name = _names(job).container_of(role) if patch else None
    if name in {None, MAIN}:
        return patch

    spec = nested_map(patch, "spec")
    containers = spec.get("containers")
    if not isinstance(containers, list):
        return patch

    return {
        **patch,
        "spec": {
            **spec,
            "containers": [
                {**container, "name": MAIN} if container.get("name") == name else container
                for container in containers
            ],
        },
    }


def _auxiliary_role(name: str, job: JobSpec, role: SideRole) -> ir.Role:
    """Return an auxiliary role: the job's fields except the command, overridden by the role's, then
    its patch.

    A failed container restarts in its pod (OnFailure) unless the user sets a policy: it keeps its
    name and the training pods can reconnect to it, while a failed pod would end the job.
    """
    template = template_of(job, name)
    nulls = nulls_of_fields(job, _JOB, name)
    for key in ("command", "args"):
        template["spec"]["containers"][0].pop(key, None)
    path = (*_JOB, "roles", name)
    role_nulls = nulls_of_fields(role, path, name)
    template = merge(pods.without_paths(template, role_nulls), template_of(role, name))
    patches = [((*path, "podTemplate"), role.pod_template)]
    pod = _apply_patches(
        template, merge_nulls(nulls, role_nulls), lower_resources(role.resources), patches, name
    )

    return ir.Role(name, role.replicas, pod, role.restart_policy or "OnFailure", trains=False)


def template_of(fields: PodFields, name: str = MAIN) -> JsonDict:
    """Return a block's pods as a Kubernetes pod template with only the fields that it sets.

    `name` is the name of its main container. Amounts are left out; `lower_resources` reads them.
    """
    template = pod_template_of(fields, _WORDS, name)
    if fields.host_network:
        template["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet"
    return template


def pod_template_of(fields: PodFields, words: Iterable[PodField], name: str = MAIN) -> JsonDict:
    """Return some fields of a block as a pod template, without nulls, empty lists and empty
    mappings.
    """
    main = {"name": name}
    pod = {"containers": [main]}
    metadata: JsonDict = {}
    holders = {"metadata": metadata, "spec": pod, "main": main}
    set_fields = fields.model_fields_set
    for _, attribute, holder, field, _, nullable in [
        word for word in words if word.attribute in set_fields
    ]:
        value = getattr(fields, attribute)
        if value and nullable and type(value) is dict:
            value = without_none(value)
            if field == "env":
                value = [env_entry(key, item) for key, item in value.items()]
        if value or not (
            value is None
            or value is False
            or (type(value) in _EMPTY and field not in _MEANINGFUL_WHEN_EMPTY)
        ):
            holders[holder][field] = value

    return {"metadata": metadata, "spec": pod}


_WORDS = tuple(word for word in POD_FIELDS if word.field != "resources")
_EMPTY = frozenset({list, dict})
_MEANINGFUL_WHEN_EMPTY = frozenset({"command", "args"})
"""Lists whose empty value has a meaning."""


def env_entry(name: str, value: str | EnvSource) -> JsonDict:
    """Return a variable of a spec as a Kubernetes env entry."""
    if isinstance(value, str):
        return {"name": name, "value": value}
    return {"name": name, "valueFrom": value.non_null_fields()}


def lower(spec: Spec, cluster: ClusterProfile, parts: SpecParts | None = None) -> ir.Job:
    """Lower a checked spec to a `Job`: all defaults of the spec are set, nothing of the profile is
    applied yet.

    `parts` are those of the spec, if already computed.
    """
    job = spec.spec
    if parts is None:
        parts = parts_of(spec, cluster)
    least, most = job.node_range()
    reference = job.runtime_ref

    return ir.Job(
        name=spec.metadata.name,
        namespace=spec.metadata.namespace,
        labels=spec.metadata.labels,
        annotations=spec.metadata.annotations,
        roles=roles_of(job),
        min_nodes=least,
        resources=parts.every[0].own_amounts,
        launch=_launch(parts),
        run_policy=lower_run_policy(job.run_policy),
        shared_memory=cast("bool | str", job.shared_memory),
        accelerator=job.accelerator,
        spot=job.spot,
        pod_security=job.pod_security,
        fabric=job.fabric,
        queue=job.queue or (None if "queue" not in job.model_fields_set else ""),
        master_port=job.master_port,
        names=_names(job),
        priority=job.priority,
        topology=_topology(job),
        max_nodes=most if job.initial_nodes() < most else None,
        runtime=_runtime(reference),
        runtime_nodes=reference is not None
        and job.nodes is None
        and (job.elastic is None or not job.elastic.nnodes),
        min_available=job.min_available,
    )


def lower_run_policy(policy: RunPolicy) -> ir.RunPolicy:
    """Return the run policy of a spec as the compiler's."""
    return ir.RunPolicy(
        clean_pod_policy=policy.clean_pod_policy,
        ttl_seconds_after_finished=policy.ttl_seconds_after_finished,
        active_deadline_seconds=policy.active_deadline_seconds,
        backoff_limit=ir.UNLIMITED if policy.backoff_limit == "Unlimited" else policy.backoff_limit,
        suspend=policy.suspend,
        on_pod_failure=policy.on_pod_failure,
        on_disruption=policy.on_disruption,
        success_policy=policy.success_policy,
        restart_in_place=None
        if policy.restart_in_place is None
        else ir.RestartRule(
            tuple(policy.restart_in_place.exit_codes), policy.restart_in_place.action
        ),
    )


def _runtime(reference: RuntimeRef | None) -> JsonDict | None:
    if reference is None:
        return None
    return {"apiGroup": reference.api_group, "kind": reference.kind, "name": reference.name}


def _names(job: JobSpec) -> ir.JobNames:
    names = job.names
    containers = names.master_container, names.worker_container

    return ir.JobNames(
        names.container,
        names.node or "node",
        *job.node_names(),
        *containers,
        names.service,
        names.task,
    )


def _topology(job: JobSpec) -> ir.TopologyConstraint | None:
    topology = job.topology
    if topology is None:
        return None
    return ir.TopologyConstraint(
        topology.required or topology.preferred or "", required=topology.required is not None
    )


def _launch(parts: SpecParts) -> ir.Launch | None:
    """Return how torchrun starts the job, or None if it does not."""
    spec = parts.spec
    job = parts.job
    elastic = parts.job.elastic
    if job.script is not None:
        entry: tuple[str, ...] = (job.script,)
    elif job.module is not None:
        entry = ("-m", job.module)
    elif elastic is not None:
        entry = ()
    else:
        return None

    # a runtime's command gets only what the spec sets
    runtime_decides = job.runtime_ref is not None and not entry
    is_bare = elastic is not None and elastic.defaults == "torchrun"
    sets_id = elastic is not None and "rdzv_id" in elastic.model_fields_set
    sets_interval = elastic is not None and "monitor_interval" in elastic.model_fields_set
    interval = None if runtime_decides or is_bare else 5
    # all jobs share one etcd store
    uses_etcd = elastic is not None and elastic.rdzv_backend in {
        "etcd",
        "etcd-v2",
    }
    prefix = spec.metadata.generate_name
    common_id = spec.metadata.name if prefix is None or uses_etcd else prefix.rstrip("-")
    default_id = None if is_bare else common_id

    return ir.Launch(
        entry=entry,
        nproc_per_node=(elastic and elastic.nproc_per_node) or _default_processes(parts),
        rdzv_backend=(elastic and elastic.rdzv_backend) or None,
        rdzv_id=elastic.rdzv_id if elastic and sets_id else default_id,
        rdzv_endpoint=elastic.rdzv_endpoint if elastic else None,
        rdzv_conf={**_NO_WAITS, **_configs(elastic)} if is_bare else _configs(elastic),
        monitor_interval=elastic.monitor_interval if elastic and sets_interval else interval,
        max_restarts=elastic.max_restarts if elastic else 0,
        start_method=elastic.start_method if elastic else "spawn",
        adds_variables=not is_bare,
        standalone=elastic is None or elastic.rdzv_backend != "static",
    )


_NO_WAITS: dict[str, str | None] = dict.fromkeys(sorted(ir.WAITS))


def _configs(elastic: Elastic | None) -> dict[str, str | None]:
    configs = elastic.rdzv_configs if elastic else {}
    return {key: None if value is None else str(value) for key, value in configs.items()}


def _default_processes(parts: SpecParts) -> int | str:
    """Return the processes per node if the spec does not set them: one per accelerator of a worker,
    or one without any.

    A device that takes several, such as a Trainium with its cores, gets them. If the runtime may
    define the resources, it also decides the number of processes.
    """
    limits = parts.nodes[-1].amounts.limits
    if parts.job.runtime_ref is not None and not hardware.count_accelerators(parts.cluster, limits):
        return ir.OF_RUNTIME
    return hardware.count_processes(parts.cluster, limits, parts.job.accelerator) or 1
