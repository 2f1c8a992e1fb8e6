"""Handles on jobs: what an orchestrator must know to apply, follow, suspend and delete what was compiled, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, nested_map, object_name
from ptcompile.registry import table as operators
from ptcompile.registry.model import GroupVersionKind
from ptcompile.registry.references import referenced
from ptcompile.registry.status import QUEUE, Condition, Following, patch
from ptcompile.registry.table import templates_of
from ptcompile.registry.templates import Template
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

VERSION = 1
"""Of the JSON form."""


class Reference(NamedTuple):
    """One object, as an API client addresses it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    namespace: str | None
    """None: the namespace of the user who applies it."""
    name: str


class RolePods(NamedTuple):
    """The pods of one role."""

    name: str
    selector: str
    """Of labels; empty for a Pod, which is found by its name."""
    replicas: int
    first_rank: int | None
    """The rank of pod 0 of the role; the others follow by index. None where the pods do not train. With a range of
    nodes it is a place in this order alone: ranks are given when nodes meet."""
    index_label: str | None
    """The label with the index; None for a Pod and for a Job that is not Indexed, whose one pod is 0."""
    container: str
    """The one whose log is the role's."""


class Need(NamedTuple):
    """An object in the job's namespace that must exist before the pods start."""

    kind: str
    name: str


class Handle(NamedTuple):
    """One job from outside. `to_dict` is the form to keep; its schema is `ptcompile.schema("handle")`."""

    objects: tuple[Reference, ...]
    """In the order of applying; the job is the last. Delete the job first, then the others: it does not own them."""
    job: Reference
    label_selector: str
    """All pods of the job; empty for a Pod."""
    field_selector: str
    """`metadata.name=NAME` for a Pod; empty for all others."""
    roles: tuple[RolePods, ...]
    """In the order of ranks; those that do not train come last."""
    succeeded: Condition
    failed: Condition
    running: str
    """CEL over `object`."""
    suspended: str | None
    """CEL over `object`; None where the kind has no word for it."""
    suspend: dict[str, Any] | None
    """JSON merge patch; None where the kind cannot be suspended by one."""
    resume: dict[str, Any] | None
    propagation: Literal["Background", "Foreground"]
    """propagationPolicy of the deletion. A Job that is deleted without one leaves its pods running."""
    needs: tuple[Need, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain data, names in camelCase."""
        return {"version": VERSION, **_plain(self)}


def handles(manifests: Sequence[Mapping[str, Any]]) -> Iterator[Handle]:
    """A handle for each job of what was compiled. What stands before a job is its own.

    Raises ValueError for a job that the API server is to name: nothing can be known of it before.
    """
    before: list[Json] = []
    for one in manifests:
        following = operators.kind_named(_key(one)).following()
        if following is None:
            before.append(one)
            continue
        yield _handle(one, before, following)
        before = []


def _handle(job: Json, before: Sequence[Json], following: Following) -> Handle:
    name = as_string(nested_map(job, "metadata").get("name"))
    if not name:
        raise ValueError(f"handle: the {job['kind']} has generateName and no name; name the run")
    references = tuple(_reference(one) for one in (*before, job))
    succeeded = following.succeeded
    if following.resumed_first is not None and _begins_suspended(job):
        succeeded = following.resumed_first
    needs = dict.fromkeys(one for manifest in (*before, job) for one in referenced(manifest))
    return Handle(
        objects=references,
        job=references[-1],
        label_selector=f"{following.pods_label}={name}" if following.pods_label else "",
        field_selector="" if following.pods_label else f"metadata.name={name}",
        roles=tuple(_roles(job, before, following)),
        succeeded=succeeded,
        failed=following.failed,
        running=following.running,
        suspended=following.suspended,
        suspend=patch(following.suspend, True),
        resume=patch(following.suspend, False),
        propagation=following.propagation,
        needs=tuple(Need(*one) for one in needs),
    )


def _roles(job: Json, before: Sequence[Json], following: Following) -> Iterator[RolePods]:
    """The first container of the first role trains; the other roles that train have one of its name."""
    found = [(template, alone, _containers(template)) for template, alone in _templates(job, before)]
    main, rank = next((names[0] for _, _, names in found if names), ""), 0
    for template, alone, names in found:
        trains = main in names
        yield RolePods(
            name=template.role or "node",
            selector=_selector(object_name(job), template.role, following),
            replicas=template.replicas,
            first_rank=rank if trains else None,
            index_label=_index_label(job, following, alone=alone),
            container=main if trains else next(iter(names), ""),
        )
        rank += template.replicas if trains else 0


def _index_label(job: Json, following: Following, *, alone: bool) -> str | None:
    """The pods of a batch/v1 Job have an index where the Job is Indexed; JobSet makes its child Jobs so."""
    if _key(job) == ("batch/v1", "Job") and nested_map(job, "spec").get("completionMode") != "Indexed":
        return None
    return (following.alone_label if alone else following.index_label) or None


def _templates(job: Json, before: Sequence[Json]) -> Iterator[tuple[Template, bool]]:
    """The pod templates behind a job, and whether each of several pods is a child Job of its own.

    Those of a TrainJob stand in its runtime, and its nodes are its own to count.
    """
    if job.get("kind") != "TrainJob":
        yield from ((one, _alone(job, one)) for one in templates_of(_key(job), job))
        return
    nodes = as_int(nested_map(job, "spec", "trainer").get("numNodes"), 1)
    runtime = next((one for one in before if one.get("kind") == "TrainingRuntime"), None)
    if runtime is None:  # one of Trainer's own
        yield Template((), {"spec": {"containers": [{"name": "node"}]}}, "node", nodes), False
        return
    for one in templates_of(_key(runtime), runtime):
        yield (one._replace(replicas=nodes), False) if one.role == "node" else (one, _alone(runtime, one))


def _alone(manifest: Json, template: Template) -> bool:
    if "replicatedJobs" not in template.path:
        return False
    child: Any = manifest
    for key in template.path[:-1]:
        child = child[key]
    return template.replicas > 1 and as_int(child.get("parallelism"), 1) == 1


def _containers(template: Template) -> list[str]:
    return [as_string(one.get("name")) for one in as_mappings(nested_map(template.template, "spec").get("containers"))]


def _selector(name: str, role: str, following: Following) -> str:
    whole = f"{following.pods_label}={name}" if following.pods_label else ""
    return f"{whole},{following.role_label}={role.lower()}" if following.role_label else whole


def _begins_suspended(job: Json) -> bool:
    return nested_map(job, "spec").get("suspend") is True or QUEUE in nested_map(job, "metadata", "labels")


def _reference(manifest: Json) -> Reference:
    metadata, key = nested_map(manifest, "metadata"), _key(manifest)
    following = operators.kind_named(key).following()
    plural = following.plural if following is not None else f"{key[1].lower()}s"  # so are all that stand beside a job
    return Reference(*key, plural, True, as_string(metadata.get("namespace")) or None, object_name(manifest))


def _key(manifest: Json) -> GroupVersionKind:
    return as_string(manifest.get("apiVersion")), as_string(manifest.get("kind"))


def _plain(value: Any) -> Any:
    """Named tuples as mappings, tuples as lists."""
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return [_plain(one) for one in value]
        return {yaml_name(name): _plain(one) for name, one in zip(fields, value, strict=True)}
    return value
