"""From a spec to a job: roles, pod templates, explicit nulls, the launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal.namedtuple import cast
from ptcompile.compiler.frontend.parts import SpecParts, lower_resources, parts_of
from ptcompile.diagnostics import Path
from ptcompile.ir import job as ir, pods
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.spec import devices as hardware
from ptcompile.spec.pod_fields import POD_FIELDS, PodField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Elastic, EnvSource, JobSpec, PodFields, RoleSpec, RuntimeRef, SideRole, Spec

    Tree = dict[str, Any]


KeyPath = tuple[str, ...]

_NULLABLE = tuple(one for one in POD_FIELDS if one.nullable)


def of_fields(fields: PodFields, at: Path, main: str) -> Tree:
    """What the words of a block keep empty. `at` is the block's path, `main` what its container is called."""
    tree: Tree = {}
    holders: dict[str, KeyPath] = {"metadata": ("metadata",), "spec": ("spec",), "main": ("spec", "containers", main)}
    given = fields.model_fields_set
    for word, attribute, holder, field, _, _ in [one for one in _NULLABLE if one.attribute in given]:
        value = getattr(fields, attribute)
        if value is None:
            _put(tree, (*holders[holder], field), (*at, word))
        elif value and isinstance(value, Mapping) and None in value.values():
            for key in [key for key, one in value.items() if one is None]:
                _put(tree, (*holders[holder], field, key), (*at, word, key))
    return tree


def of_patch(patch: Any, at: Path, field: str = "") -> Tree:
    """What a pod template patch keeps empty. `at` is the patch's path, `field` what holds the value."""
    out: Tree = {}
    if isinstance(patch, Mapping):
        for key, value in patch.items():
            inner: Any = (*at, key) if value is None else of_patch(value, (*at, key), key)
            if inner:
                out[key] = inner
    elif field in MERGE_KEYS and isinstance(patch, list):
        for index, item in enumerate(patch):
            if inner := of_patch(item, (*at, index)):
                name = str(item.get(MERGE_KEYS[field]))
                out[name] = merged(out.get(name, {}), inner)
    return out


def merged(tree: Tree, over: Tree) -> Tree:
    """Both; what one keeps empty as a whole stands before the other's parts of it."""
    out = {**tree, **over}
    for key in tree.keys() & over.keys():
        if isinstance(tree[key], dict) and isinstance(over[key], dict):
            out[key] = merged(tree[key], over[key])
        elif isinstance(tree[key], tuple):
            out[key] = tree[key]
    return out


def _put(tree: Tree, place: KeyPath, said: Path) -> None:
    for part in place[:-1]:
        tree = tree.setdefault(part, {})
    tree[place[-1]] = said


MAIN = "pytorch"
"""What the container that trains is called in a spec's own words, and on every target that leaves the choice."""

_JOB: Path = ("spec",)


def roles_of(job: JobSpec) -> tuple[ir.Role, ...]:
    """All roles of a job: those that train, then those beside them."""
    return (*_trainers(job), *(_side_role(name, job, role) for name, role in job.roles.items()))


def _trainers(job: JobSpec) -> tuple[ir.Role, ...]:
    if job.master is None and job.worker is None:
        return (_role("node", job.initial_nodes(), job, None),)
    workers = job.worker.replicas if job.worker is not None else 0
    master = _role("master", 1, job, job.master)
    return (master, _role("worker", workers, job, job.worker)) if workers else (master,)


def _role(name: str, replicas: int, job: JobSpec, role: RoleSpec | None) -> ir.Role:
    """One role: the job's words, the role's laid over them, then both patches."""
    template, nulls = template_of(job), of_fields(job, _JOB, MAIN)
    own = pods.Resources()
    if role is not None:
        of_role = of_fields(role, (*_JOB, name), MAIN)
        template = pods.merge(pods.without_paths(template, of_role), template_of(role))
        nulls, own = merged(nulls, of_role), lower_resources(role.resources)
    called = job.names.container
    patches = [((*_JOB, "podTemplate"), _of_main(job.pod_template, called))]
    if role is not None:
        patches.append(((*_JOB, name, "podTemplate"), _of_main(role.pod_template, called)))
    restart = (role.restart_policy if role is not None else None) or job.restart_policy
    return ir.Role(name, replicas, _patched(template, nulls, own, patches, MAIN), restart)


def _patched(
    template: dict[str, Any], nulls: dict[str, Any], own: pods.Resources, patches: list[tuple[Path, Any]], main: str
) -> pods.PodTemplate:
    """A role's template with its amounts and its patches, and what all of it keeps empty.

    What a later word gives again is not empty.
    """
    if own.requests or own.limits:
        template["spec"]["containers"][0]["resources"] = {"requests": own.requests, "limits": own.limits}
    for path, patch in patches:
        if patch:
            template, nulls = pods.merge(template, patch), merged(nulls, of_patch(patch, path))
    read = pods.read(template, main)
    if own.nulls:
        read = read.with_main(read.main._replace(resources=read.main.resources._replace(nulls=own.nulls)))
    return read._replace(nulls=pods.absent_nulls(nulls, template)) if nulls else read


def _of_main(patch: Mapping[str, Any], name: str | None) -> Mapping[str, Any]:
    """A patch in which the container that trains may be called by its name in the manifest too."""
    if name in {None, MAIN}:
        return patch
    spec = patch.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    if not isinstance(containers, list) or not isinstance(spec, Mapping):
        return patch
    return {
        **patch,
        "spec": {**spec, "containers": [{**c, "name": MAIN} if c.get("name") == name else c for c in containers]},
    }


def _side_role(name: str, job: JobSpec, role: SideRole) -> ir.Role:
    """An auxiliary role: the job's words but for what starts, the role's own over them, then its patch.

    A container that fails is restarted in its pod (OnFailure) unless the user says otherwise: it keeps its name and
    the trainers can come back to it, where a failed pod would end the job.
    """
    template, nulls = template_of(job, name), of_fields(job, _JOB, name)
    for key in ("command", "args"):
        template["spec"]["containers"][0].pop(key, None)
    at = (*_JOB, "roles", name)
    of_role = of_fields(role, at, name)
    template = pods.merge(pods.without_paths(template, of_role), template_of(role, name))
    patches = [((*at, "podTemplate"), role.pod_template)]
    read = _patched(template, merged(nulls, of_role), lower_resources(role.resources), patches, name)
    return ir.Role(name, role.replicas, read, role.restart_policy or "OnFailure", trains=False)


def template_of(fields: PodFields, name: str = MAIN) -> dict[str, Any]:
    """What a block says of its pods, as a Kubernetes pod template with only the fields that it gives.

    `name` is that of its main container. Amounts are not in it: `lowered` reads them.
    """
    template = pod_template_of(fields, _WORDS, name)
    if fields.host_network:
        template["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet"
    return template


def pod_template_of(fields: PodFields, words: Iterable[PodField], name: str = MAIN) -> dict[str, Any]:
    """Some of a block's words as a pod template. What is not said is left out: null, empty lists and mappings."""
    main: dict[str, Any] = {"name": name}
    pod: dict[str, Any] = {"containers": [main]}
    metadata: dict[str, Any] = {}
    holders = {"metadata": metadata, "spec": pod, "main": main}
    given = fields.model_fields_set
    for _, attribute, holder, field, _, nullable in [one for one in words if one.attribute in given]:
        value = getattr(fields, attribute)
        if value and nullable and type(value) is dict:
            value = {key: one for key, one in value.items() if one is not None}
            if field == "env":
                value = [variable(key, one) for key, one in value.items()]
        if value or not (value is None or value is False or (type(value) in _EMPTY and field not in _EMPTY_SAYS)):
            holders[holder][field] = value
    return {"metadata": metadata, "spec": pod}


_WORDS = tuple(one for one in POD_FIELDS if one.field != "resources")
_EMPTY = frozenset({list, dict})
_EMPTY_SAYS = frozenset({"command", "args"})
"""Lists that say something when they are empty."""


def variable(name: str, value: str | EnvSource) -> dict[str, Any]:
    """A variable of a spec as Kubernetes writes it."""
    if isinstance(value, str):
        return {"name": name, "value": value}
    return {"name": name, "valueFrom": value.non_null_fields()}


def lower(spec: Spec, cluster: ClusterProfile, parts: SpecParts | None = None) -> ir.Job:
    """A checked spec as a `Job`: every default of the vocabulary decided, nothing of the profile applied yet.

    `parts` are those of the spec, where they are known.
    """
    job = spec.spec
    parts = parts_of(spec, cluster) if parts is None else parts
    least, most = job.node_range()
    policy = job.run_policy
    reference = job.runtime_ref
    return ir.Job(
        name=spec.metadata.name,
        namespace=spec.metadata.namespace,
        labels=spec.metadata.labels,
        annotations=spec.metadata.annotations,
        roles=roles_of(job),
        min_nodes=least,
        resources=parts.every[0].own,
        launch=_launch(parts),
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
        pod_security=job.pod_security,
        fabric=job.fabric,
        queue=job.queue or (None if "queue" not in job.model_fields_set else ""),
        master_port=job.master_port,
        names=_names(job),
        priority=job.priority,
        topology=_nearness(job),
        max_nodes=most if job.initial_nodes() < most else None,
        runtime=_runtime(reference),
        runtime_nodes=reference is not None and job.nodes is None and (job.elastic is None or not job.elastic.nnodes),
    )


def _runtime(reference: RuntimeRef | None) -> dict[str, Any] | None:
    if reference is None:
        return None
    return {"apiGroup": reference.api_group, "kind": reference.kind, "name": reference.name}


def _names(job: JobSpec) -> ir.JobNames:
    names = job.names
    return ir.JobNames(names.container, names.node or "node", *job.node_names())


def _nearness(job: JobSpec) -> ir.TopologyConstraint | None:
    wish = job.topology
    if wish is None:
        return None
    return ir.TopologyConstraint(wish.required or wish.preferred or "", required=wish.required is not None)


def _launch(parts: SpecParts) -> ir.Launch | None:
    """How torchrun starts the job; None where it does not."""
    spec, job, elastic = parts.spec, parts.job, parts.job.elastic
    if job.script is not None:
        entry: tuple[str, ...] = (job.script,)
    elif job.module is not None:
        entry = ("-m", job.module)
    elif elastic is not None:
        entry = ()
    else:
        return None
    told_by_runtime = job.runtime_ref is not None and not entry  # a runtime's command gets what the spec says, no more
    own_id = elastic is not None and "rdzv_id" in elastic.model_fields_set
    etcd = elastic is not None and elastic.rdzv_backend in {"etcd", "etcd-v2"}  # one store for all jobs
    beginning = spec.metadata.generate_name
    common_id = spec.metadata.name if beginning is None or etcd else beginning.rstrip("-")
    return ir.Launch(
        entry=entry,
        nproc_per_node=(elastic and elastic.nproc_per_node) or _default_processes(parts),
        rdzv_backend=(elastic and elastic.rdzv_backend) or None,
        rdzv_id=elastic.rdzv_id if elastic and own_id else common_id,
        rdzv_endpoint=elastic.rdzv_endpoint if elastic else None,
        rdzv_conf=_settings(elastic.rdzv_configs) if elastic else {},
        monitor_interval=_interval(elastic, None if told_by_runtime else 5),
        max_restarts=elastic.max_restarts if elastic else 0,
        start_method=elastic.start_method if elastic else "spawn",
    )


def _settings(given: Mapping[str, str | int | None]) -> dict[str, str | None]:
    return {key: None if value is None else str(value) for key, value in given.items()}


def _interval(elastic: Elastic | None, otherwise: float | None) -> float | None:
    return elastic.monitor_interval if elastic and "monitor_interval" in elastic.model_fields_set else otherwise


def _default_processes(parts: SpecParts) -> int | str:
    """Return the processes per node of a job that does not set them: one per accelerator of a worker, one without any.

    A device that takes several, such as a Trainium with its cores, gets them. If the resources may be those of a
    runtime, the runtime decides.
    """
    limits = parts.nodes[-1].amounts.limits
    if parts.job.runtime_ref is not None and not hardware.count_accelerators(parts.cluster, limits):
        return ir.OF_RUNTIME
    return hardware.count_processes(parts.cluster, limits, parts.job.accelerator) or 1
