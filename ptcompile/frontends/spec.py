"""Our own kinds: a TrainingJob document to a `Job`, a ClusterProfile document to a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.frontends.amounts import Parts, parts_of
from ptcompile.frontends.roles import roles_of
from ptcompile.job import model as ir
from ptcompile.typed import cast
from ptcompile.vocabulary import from_schema
from ptcompile.vocabulary.blocks import CLUSTER, SPEC, Block
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import Model
    from ptcompile.vocabulary.spec import Elastic, JobSpec, RuntimeRef, Spec


def read_spec(data: Any) -> tuple[Spec | None, list[Problem]]:
    """Read a decoded TrainingJob document. Return a `Spec`, or an object that is equal to it, or what is wrong."""
    spec, problems = _read(SPEC, data)
    return spec and with_stand_in(spec), problems


def with_stand_in(spec: Spec) -> Spec:
    """The spec with a stand-in for a name that the server will complete."""
    beginning = spec.metadata.generate_name
    if beginning is None or "name" in spec.metadata.model_fields_set:
        return spec
    return spec.but(metadata=spec.metadata.but(name=stand_in(beginning)))


def stand_in(beginning: str) -> str:
    """What stands for a name that the server completes: as long as it will be, and unlike any other text."""
    return f"{beginning[:_MOST_OF_A_NAME]}x7k2m"


_MOST_OF_A_NAME = 58
"""Characters of a generateName that the API server keeps, before the five that it adds (Kubernetes 1.36)."""


def read_cluster(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """Read a decoded ClusterProfile document, as `read_spec` does."""
    return _read(CLUSTER, data)


def _read(document: Block, data: Any) -> tuple[Any, list[Problem]]:
    value, faults = from_schema.read(document, data)
    if not faults:
        return value, []
    from ptcompile.frontends import errors

    return None, errors.problems(faults, data, document)


def lower(spec: Spec, cluster: ClusterProfile, parts: Parts | None = None) -> ir.Job:
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
        max_nodes=most if job.first_nodes() < most else None,
        runtime=_runtime(reference),
        runtime_nodes=reference is not None and job.nodes is None and (job.elastic is None or not job.elastic.nnodes),
    )


def _runtime(reference: RuntimeRef | None) -> dict[str, Any] | None:
    if reference is None:
        return None
    return {"apiGroup": reference.api_group, "kind": reference.kind, "name": reference.name}


def _names(job: JobSpec) -> ir.Names:
    names = job.names
    return ir.Names(names.container, names.node or "node", *job.names_of_nodes())


def _nearness(job: JobSpec) -> ir.Nearness | None:
    wish = job.topology
    if wish is None:
        return None
    return ir.Nearness(wish.required or wish.preferred or "", required=wish.required is not None)


def _launch(parts: Parts) -> ir.Launch | None:
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
        nproc_per_node=elastic.nproc_per_node if elastic else _by_devices(parts),
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


def _by_devices(parts: Parts) -> int:
    """Processes on a node of a job that does not say: one for each GPU of a worker, one without GPUs.

    A device that takes several, such as a Trainium with its cores, gets them.
    """
    return hardware.processes_in(parts.cluster, parts.nodes[-1].amounts.limits, parts.job.accelerator) or 1


READERS: dict[str, Callable[[Any], tuple[Model | None, list[Problem]]]] = {
    "TrainingJob": read_spec,
    "ClusterProfile": read_cluster,
}
"""Our own kinds, each with its reader."""
