"""The roles of a spec as pod templates: the job's words, the role's own over them, then both patches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.frontends.amounts import lowered
from ptcompile.frontends.nulls import merged, of_fields, of_patch
from ptcompile.job import model as ir
from ptcompile.job import pod_template, pods
from ptcompile.job.pod_words import POD_WORDS, PodWord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.pod_fields import EnvSource, PodFields, RoleSpec, SideRole
    from ptcompile.vocabulary.spec import JobSpec

MAIN = "pytorch"
"""What the container that trains is called in a spec's own words, and on every target that leaves the choice."""

_JOB: Path = ("spec",)


def roles_of(job: JobSpec) -> tuple[ir.Role, ...]:
    """All roles of a job: those that train, then those beside them."""
    return (*_trainers(job), *(_side_role(name, job, role) for name, role in job.roles.items()))


def _trainers(job: JobSpec) -> tuple[ir.Role, ...]:
    if job.master is None and job.worker is None:
        return (_role("node", job.first_nodes(), job, None),)
    workers = job.worker.replicas if job.worker is not None else 0
    master = _role("master", 1, job, job.master)
    return (master, _role("worker", workers, job, job.worker)) if workers else (master,)


def _role(name: str, replicas: int, job: JobSpec, role: RoleSpec | None) -> ir.Role:
    """One role: the job's words, the role's laid over them, then both patches."""
    template, nulls = template_of(job), of_fields(job, _JOB, MAIN)
    own = pods.Resources()
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
    template: dict[str, Any], nulls: dict[str, Any], own: pods.Resources, patches: list[tuple[Path, Any]], main: str
) -> pods.PodTemplate:
    """A role's template with its amounts and its patches, and what all of it keeps empty.

    What a later word gives again is not empty.
    """
    if own.requests or own.limits:
        template["spec"]["containers"][0]["resources"] = {"requests": own.requests, "limits": own.limits}
    for path, patch in patches:
        if patch:
            template, nulls = pod_template.merge(template, patch), merged(nulls, of_patch(patch, path))
    read = pod_template.read(template, main)
    if own.nulls:
        read = read.with_main(read.main._replace(resources=read.main.resources._replace(nulls=own.nulls)))
    return read._replace(nulls=pod_template.absent(nulls, template)) if nulls else read


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
    template = pod_template.merge(pod_template.without(template, of_role), template_of(role, name))
    patches = [((*at, "podTemplate"), role.pod_template)]
    read = _patched(template, merged(nulls, of_role), lowered(role.resources), patches, name)
    return ir.Role(name, role.replicas, read, role.restart_policy or "OnFailure", trains=False)


def template_of(fields: PodFields, name: str = MAIN) -> dict[str, Any]:
    """What a block says of its pods, as a Kubernetes pod template with only the fields that it gives.

    `name` is that of its main container. Amounts are not in it: `lowered` reads them.
    """
    template = written(fields, _WORDS, name)
    if fields.host_network:
        template["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet"
    return template


def written(fields: PodFields, words: Iterable[PodWord], name: str = MAIN) -> dict[str, Any]:
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


_WORDS = tuple(one for one in POD_WORDS if one.field != "resources")
_EMPTY = frozenset({list, dict})
_EMPTY_SAYS = frozenset({"command", "args"})
"""Lists that say something when they are empty."""


def variable(name: str, value: str | EnvSource) -> dict[str, Any]:
    """A variable of a spec as Kubernetes writes it."""
    if isinstance(value, str):
        return {"name": name, "value": value}
    return {"name": name, "valueFrom": value.given()}
