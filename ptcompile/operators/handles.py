"""Handles on jobs: the data that an orchestrator needs to apply, follow, suspend and delete a
compiled job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.references import needed_objects
from ptcompile.kinds.status import Condition, Following, merge_patch_for
from ptcompile.kinds.templates import Template
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.operators.queues.queue_systems import KUEUE_QUEUE
from ptcompile.operators.table import kind_named, record_of, templates_of
from ptcompile.spec.objects import yaml_name

VERSION = 1
"""Version of the JSON form."""


class Reference(NamedTuple):
    """One object, as an API client addresses it."""

    api_version: str
    """Such as `batch/v1`."""
    kind: str
    """Such as `Job`."""
    plural: str
    """The name in addresses of the API server, such as `jobs`."""
    namespaced: bool
    """Whether the object is in a namespace."""
    namespace: str | None
    """The namespace, or None for that of the user who applies the object."""
    name: str
    """`metadata.name`."""


class RolePods(NamedTuple):
    """The pods of one role."""

    name: str
    """The name of the role."""
    selector: str | None
    """Label selector; None for a Pod, which is found by name: an empty one would select every
    pod.
    """
    replicas: int
    """The number of its pods."""
    first_rank: int | None
    """Rank of the role's pod 0; the others follow by index. None if the pods do not train. With a
    range of nodes it only gives the order: ranks are assigned at the rendezvous.
    """
    index_label: str | None
    """Label with the index; None for a Pod and for a non-Indexed Job, whose only pod is 0."""
    container: str
    """The container whose log represents the role."""


class Need(NamedTuple):
    """An object in the job's namespace that must exist before the pods start."""

    kind: str
    name: str


class Handle(NamedTuple):
    """One job as seen from outside. Store the form of `to_dict`; its schema is
    `ptcompile.schema("handle")`.
    """

    objects: tuple[Reference, ...]
    """In the order of applying; the job is last. Delete the job first, then the others: the job
    does not own them.
    """
    job: Reference
    """The job itself."""
    label_selector: str | None
    """Selects all pods of the job; None for a Pod."""
    field_selector: str | None
    """`metadata.name=NAME` for a Pod; otherwise None."""
    roles: tuple[RolePods, ...]
    """In rank order; roles that do not train come last."""
    succeeded: Condition
    """Whether the live object has succeeded."""
    failed: Condition
    """Whether it has failed."""
    running: str
    """CEL over `object`."""
    suspended: str | None
    """CEL over `object`, or None if the kind cannot be suspended."""
    suspend: JsonDict | None
    """JSON merge patch, or None if no patch suspends the kind."""
    resume: JsonDict | None
    """JSON merge patch that ends a suspension, or None."""
    propagation: Literal["Background", "Foreground"]
    """propagationPolicy of the deletion. Deleting a Job without one leaves its pods running."""
    needs: tuple[Need, ...]
    """What the job refers to and its namespace must have, such as Secrets and claims."""

    def to_dict(self) -> JsonDict:
        """Return the JSON form: plain data with names in camelCase."""
        return {"version": VERSION, **_to_plain(self)}


def handles(manifests: Sequence[Json]) -> Iterator[Handle]:
    """Yield a handle for each compiled job. Objects that precede a job belong to it.

    Raises ValueError for a job with generateName, because the handle needs its name.
    """
    before: list[Json] = []
    for manifest in manifests:
        following = record_of(manifest).following()
        if following is None:
            before.append(manifest)
            continue
        yield _handle(manifest, before, following)
        before = []


def _handle(job: Json, before: Sequence[Json], following: Following) -> Handle:
    """Return the handle of a job; `before` are the objects that are created before it."""
    name = nested_string(job, "metadata", "name")
    if not name:
        raise ValueError(f"handle: the {job['kind']} has generateName and no name; name the run")

    object_references = tuple(_reference(item) for item in (*before, job))
    succeeded = following.succeeded
    is_queued = KUEUE_QUEUE in nested_map(job, "metadata", "labels")
    begins_suspended = is_queued or nested_value(job, "spec", "suspend") is True
    if following.succeeded_after_resume is not None and begins_suspended:
        succeeded = following.succeeded_after_resume
    needs = dict.fromkeys(item for manifest in (*before, job) for item in needed_objects(manifest))

    return Handle(
        objects=object_references,
        job=object_references[-1],
        label_selector=_selector(name, "", following),
        field_selector=None if following.pods_label else f"metadata.name={name}",
        roles=tuple(_roles(job, before, following)),
        succeeded=succeeded,
        failed=following.failed,
        running=following.running,
        suspended=following.suspended,
        suspend=merge_patch_for(following.suspend, True),
        resume=merge_patch_for(following.suspend, False),
        propagation=following.propagation,
        needs=tuple(Need(*item) for item in needs),
    )


def _roles(job: Json, before: Sequence[Json], following: Following) -> Iterator[RolePods]:
    """Yield the pods of each role. The main container is the first container of the first role; a
    role trains if it has a container of that name.
    """
    templates = [
        (template, is_separate, _containers(template))
        for template, is_separate in _templates(job, before)
    ]
    main = next((name for _, _, names in templates for name in names), "")

    rank = 0
    for template, is_separate, names in templates:
        trains = main in names
        yield RolePods(
            name=template.role or "node",
            selector=_selector(object_name(job), template.role, following),
            replicas=template.replicas,
            first_rank=rank if trains else None,
            index_label=_index_label(job, following, alone=is_separate),
            container=main if trains else next(iter(names), ""),
        )
        if trains:
            rank += template.replicas


def _index_label(job: Json, following: Following, *, alone: bool) -> str | None:
    """Return the label with a pod's index. Pods of a batch/v1 Job have one only if the Job is
    Indexed; JobSet's child Jobs are.
    """
    if (
        kind_of(job) == ("batch/v1", "Job")
        and nested_value(job, "spec", "completionMode") != "Indexed"
    ):
        return None
    return (following.child_job_label if alone else following.index_label) or None


def _templates(job: Json, before: Sequence[Json]) -> Iterator[tuple[Template, bool]]:
    """Yield the pod templates of a job, and whether each of several pods is a separate child Job.

    A TrainJob's templates are in its runtime, but its number of nodes is its own.
    """
    if job.get("kind") != "TrainJob":
        yield from ((item, _is_child_job(job, item)) for item in templates_of(job))
        return

    nodes = nested_int(job, "spec", "trainer", "numNodes", default=1)
    runtime = next((item for item in before if item.get("kind") == "TrainingRuntime"), None)
    # without a TrainingRuntime among the objects, the job names one that Trainer provides
    if runtime is None:
        yield Template((), {"spec": {"containers": [{"name": "node"}]}}, "node", nodes), False
        return

    for item in templates_of(runtime):
        if item.role == "node":
            yield item._replace(replicas=nodes), False
        else:
            yield item, _is_child_job(runtime, item)


def _is_child_job(manifest: Json, template: Template) -> bool:
    if "replicatedJobs" not in template.path:
        return False
    child: Any = manifest
    for key in template.path[:-1]:
        child = child[key]
    return template.replicas > 1 and nested_int(child, "parallelism", default=1) == 1


def _containers(template: Template) -> list[str]:
    return [
        nested_string(container, "name")
        for container in nested_maps(template.template, "spec", "containers")
    ]


def _selector(name: str, role: str, following: Following) -> str | None:
    """Return the selector of a role's pods, or of all pods for the role ""; None if no label has
    the job's name.
    """
    if not following.pods_label:
        return None
    selector = f"{following.pods_label}={name}"
    if role and following.role_label:
        return f"{selector},{following.role_label}={role.lower()}"
    return selector


def _reference(manifest: Json) -> Reference:
    metadata = nested_map(manifest, "metadata")
    kind = kind_of(manifest)
    following = kind_named(kind).following()
    # a kind whose end is not followed is an auxiliary object; their plurals are all regular
    plural = following.plural if following is not None else f"{kind.name.lower()}s"
    return Reference(
        *kind, plural, True, nested_string(metadata, "namespace") or None, object_name(manifest)
    )


def _to_plain(value: Any) -> Any:
    """Return named tuples as mappings and tuples as lists."""
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return [_to_plain(item) for item in value]
        return {yaml_name(name): _to_plain(item) for name, item in zip(fields, value, strict=True)}
    return value
