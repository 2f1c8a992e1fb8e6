"""Contradictions in a spec: names, start, shape, launch, roles, images, restarts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.limits import limits
from ptcompile._internal.spelling import closest_match
from ptcompile.compiler.frontend.errors import conflict, invalid_field, problem, such_as
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts
from ptcompile.compiler.frontend.reader import stand_in
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.hardware.nodes import levels_of
from ptcompile.ir.job import Context, Job, Target
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.registry.table import OPERATORS
from ptcompile.simulator.launchers.torchrun import why_not_option
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN, split_endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields, RestartPolicy, Spec


_WORDS = frozenset({"true", "false", "null"})
"""What kubectl makes of a key that YAML takes for a word of its own."""


def metadata(parts: SpecParts) -> Iterator[Problem]:
    """Yield what is wrong with the names of the job and of its namespace."""
    spec = parts.spec
    beginning, named = spec.metadata.generate_name, "name" in spec.metadata.model_fields_set
    if not named and beginning is None:
        yield problem("spec-missing-field", ("metadata", "name"), "is missing", "add name")
    elif named and beginning is not None and spec.metadata.name != stand_in(beginning):
        yield conflict(("metadata", "generateName"), "name already names the job", "remove one of them")
    elif named and (reason := names.why_not_dns_label(spec.metadata.name)):
        yield invalid_field(
            ("metadata", "name"), f"{spec.metadata.name!r} {reason}", such_as(spec.metadata.name, "llama-sft")
        )
    if spec.metadata.namespace is not None and (reason := names.why_not_dns_label(spec.metadata.namespace)):
        help = such_as(spec.metadata.namespace, "research")
        yield invalid_field(("metadata", "namespace"), f"{spec.metadata.namespace!r} {reason}", help)


def containers(parts: SpecParts) -> Iterator[Problem]:
    """Yield what is wrong with the variables of each part, and an error where its container has no image."""
    job = parts.job
    for path, fields, _, _ in parts.every:
        yield from _env(path, fields)
        if fields.image is None and job.image is None and job.runtime_ref is None:
            roles_train = job.master is not None or job.worker is not None  # then the job need not have one
            if len(path) == 2 or roles_train == (len(path) == 3):
                yield problem("spec-missing-field", (*path, "image"), "is missing: every node needs one", "add image")


def only_too_long(name: str) -> bool:
    """Whether a name has all that a name needs, and too much of it: how much is each target's own (targets.budget)."""
    return names.is_dns_subdomain(name) and "." not in name and not names.is_dns_label(name)


def reserved_env(spec: Spec, job: Job, context: Context) -> Iterator[Problem]:
    """Yield an error for each variable whose value the operator overwrites: this target has no way to give it."""
    cluster, target = context.cluster, context.target
    if not target.overwrites:
        return
    for where, env in _of_profile(job, cluster):
        for name in _overwritten(env, target):
            yield _reserved(("spec",), f"the profile's {where} sets {name}", name, target)
    for role in job.roles:
        own = {str(entry.get("name")): entry.get("value") for entry in role.template.main.env}
        if role.template.nulls:
            own |= _kept_empty(role.template)
        if not role.trains:  # it has no rank and no torchrun, so no operator gives it one
            own = {k: v for k, v in own.items() if k != "RANK" and not k.startswith("PET_")}
        for name in _overwritten(own, target):
            path = _said(spec.spec, role.name, name)
            yield _reserved(path, field_path(path), name, target)


def _kept_empty(template: PodTemplate) -> dict[str, None]:
    """The variables that a role keeps away from its main container, by name."""
    main = template.nulls.get("spec", {}).get("containers", {}).get(template.main.name, {})
    env = main.get("env", {})
    return {} if isinstance(env, tuple) else dict.fromkeys(name for name in env if isinstance(env[name], tuple))


def _of_profile(job: Job, cluster: ClusterProfile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The variables that the profile gives the job, with the words that give them."""
    profile = cluster.spec
    yield "defaults.env", profile.defaults.env
    yield "defaults.podTemplate", _main_env(profile.defaults.pod_template)
    if accelerator := profile.accelerators.get(job.accelerator or ""):
        yield f"accelerators.{job.accelerator}", accelerator.env
    if fabric := profile.fabrics.get(job.fabric or ""):
        yield f"fabrics.{job.fabric}", {**_main_env(fabric.pod_template), **fabric.env}


def _main_env(template: Mapping[str, Any]) -> dict[str, Any]:
    """What a pod template of the profile sets in the container that trains."""
    containers = template.get("spec", {}).get("containers", ())
    entries = (entry for one in containers if one.get("name") == MAIN for entry in one.get("env", ()))
    return {str(entry.get("name")): entry.get("value") for entry in entries}


def _overwritten(env: Mapping[str, Any], target: Target) -> list[str]:
    return [k for k, v in env.items() if k in target.overwrites and (v is None or v != target.overwrites[k])]


def _said(job: JobSpec, role: str, name: str) -> Path:
    """Where a spec sets a variable of a role: in the role's env, the job's, or one of the two patches."""
    beside = job.roles.get(role)
    own, at = (getattr(job, role, None), ("spec", role)) if beside is None else (beside, ("spec", "roles", role))
    for path, fields in ((at, own), (("spec",), job)):
        if fields is not None and name in fields.env:
            return (*path, "env", name)
    return (*at, "podTemplate") if own is not None and own.pod_template else ("spec", "podTemplate")


def _reserved(path: Path, text: str, name: str, target: Target) -> Problem:
    message = f"{text}: the target {target.name} cannot pass it to the pods: the operator sets {name} itself"
    return problem("unsupported-by-target", path, message, f"remove {name}", on_key=True)


def start(parts: SpecParts) -> Iterator[Problem]:
    """Yield an error unless exactly one word says what runs, and where nothing starts torchrun."""
    job = parts.job
    given = [name for name in ("script", "module", "command") if getattr(job, name) is not None]
    for name in given[1:]:
        yield conflict(("spec", name), f"{given[0]} already sets what runs", f"remove {given[0]} or {name}")
    if job.elastic is not None and not given and job.args is None and job.runtime_ref is None:
        yield conflict(
            ("spec", "elastic"),
            "it is for torchrun, which nothing here starts",
            "add script or module, or a command that starts torchrun itself, or remove elastic",
        )


def shape(parts: SpecParts) -> Iterator[Problem]:
    """Yield contradictions about the number of nodes."""
    job = parts.job
    ways: list[tuple[Path, bool]] = [
        (("spec", "nodes"), job.nodes is not None),
        (("spec", "elastic", "nnodes"), job.elastic is not None and job.elastic.nnodes is not None),
        (("spec", "master"), job.master is not None),
        (("spec", "worker"), job.worker is not None and job.master is None),
    ]
    given = [path for path, there in ways if there]
    least, most = job.node_range()
    if given[:2] == [("spec", "nodes"), ("spec", "elastic", "nnodes")] and least < most:
        del given[0]
        if job.nodes is not None and not least <= job.nodes <= most:
            message = f"the job starts with {job.nodes} nodes, but elastic.nnodes allows {least} to {most}"
            yield conflict(("spec", "nodes"), message, f"use a number from {least} to {most}, or remove it")
    for path in given[1:]:
        yield conflict(path, f"{field_path(given[0])} already sets the number of nodes", "set it in one place")
    if job.master is not None and job.master.replicas != 1:
        message = f"a job has one master, not {job.master.replicas}"
        yield invalid_field(
            ("spec", "master", "replicas"), message, "write 1 or remove it; worker.replicas is the rest"
        )


def torchrun(parts: SpecParts) -> Iterator[Problem]:
    """Yield contradictions about how torchrun starts the job."""
    job, elastic = parts.job, parts.job.elastic
    if elastic is None:
        return
    at: Path = ("spec", "elastic")
    least, most = job.node_range()
    if elastic.rdzv_backend == "static" and least < most:
        yield conflict((*at, "rdzvBackend"), "a static rendezvous has no range of nodes", "use c10d")
    etcd = elastic.rdzv_backend in {"etcd", "etcd-v2"}
    if etcd and most == 1:
        yield conflict((*at, "rdzvBackend"), "one node has no other node to meet", "remove it, or use more nodes")
    elif etcd and elastic.rdzv_endpoint is None:
        yield conflict((*at, "rdzvBackend"), f"{elastic.rdzv_backend} needs a server", "add rdzvEndpoint: HOST:PORT")
    if elastic.rdzv_endpoint is not None and not etcd:
        yield conflict((*at, "rdzvEndpoint"), "it is only for etcd: other backends meet at node 0", "remove it")
    elif elastic.rdzv_endpoint is not None and split_endpoint(elastic.rdzv_endpoint) is None:
        yield invalid_field(
            (*at, "rdzvEndpoint"), f"{elastic.rdzv_endpoint!r} is not HOST:PORT", "such as etcd.infra:2379"
        )
    for key, value in elastic.rdzv_configs.items():
        if "," in f"{key}{value}" or "=" in key:
            message = "torchrun splits its --rdzv-conf at commas and '=', so neither is allowed here"
            yield invalid_field((*at, "rdzvConfigs", key), message, None)
        elif value is not None and (why := why_not_option(key, str(value), elastic.rdzv_backend)):
            yield invalid_field((*at, "rdzvConfigs", key), f"{value!r} {why}, or torchrun does not start", None)


def of_profile(parts: SpecParts) -> Iterator[Problem]:
    """Yield what the profile does not define: the accelerator, spot nodes."""
    job, cluster = parts.job, parts.cluster
    if job.accelerator is not None and hardware.accelerator(cluster, job.accelerator) is None:
        from ptcompile.compiler.checks.devices import unknown

        yield unknown(job.accelerator, cluster)
    if job.spot and job.runtime_ref is None:
        yield from _spot(cluster)


def _spot(cluster: ClusterProfile) -> Iterator[Problem]:
    """Yield an error if nothing tells spot nodes from others, and a warning if the profile leaves them undescribed."""
    at, own, name = ("spec", "spot"), cluster.spec.spot, cluster.metadata.name
    if own.node_labels or own.tolerations or own.match_expressions or hardware.spot_nodes(cluster) is not None:
        return
    if "spot" in cluster.spec.model_fields_set:
        message = f"spec.spot: the profile {name!r} defines no spot nodes, so `spot: true` has no effect"
        help = "describe them in spec.spot of the profile"
        yield problem("spec-invalid-value", at, message, help, severity="warning")
    else:
        message = f"spec.spot: the profile {name!r} has no cloud and no spot nodes, so nothing selects them"
        help = "set spec.cloud in the profile (gke, eks, aks or oke), or describe its spot nodes in spec.spot"
        yield conflict(at, message, help)


def queue(parts: SpecParts) -> Iterator[Problem]:
    """Yield what is wrong with the queue, the priority and the topology."""
    job, cluster = parts.job, parts.cluster
    for field, name in (("queue", job.queue), ("priority", job.priority)):
        if name is not None and (reason := names.why_not_dns_subdomain(name)):
            yield invalid_field(("spec", field), f"{name!r} {reason}", such_as(name, "team-a"))
    if job.topology is None:
        return
    levels = {**levels_of(cluster.spec.cloud), **cluster.spec.topology.levels}
    for how, level in job.topology.given().items():
        if level not in levels:
            near = closest_match(level, levels)
            known = f"the levels are {', '.join(levels)}"
            message = f"{level!r} is not a level of the profile {cluster.metadata.name!r}"
            yield invalid_field(("spec", "topology", how), message, f"did you mean {near}?" if near else known)


def part_names(parts: SpecParts) -> Iterator[Problem]:
    """Yield what is wrong with the names of the job's parts."""
    job = parts.job
    if not job.names_parts():
        return
    named = job.names_of_parts()
    for place, name in named.items():
        if reason := names.why_not_dns_label(name):
            yield invalid_field(("spec", *place), f"{name!r} {reason}", such_as(name, "master"))
    master, worker = job.names_of_nodes()
    if master == worker:
        of_workers = ("names", "worker") if job.names.given() else list(named)[1]
        yield conflict(("spec", *of_workers), "master and worker have the same name", "give them different names")


def _env(path: Path, fields: PodFields) -> Iterator[Problem]:
    for name, value in fields.env.items():
        if name in _WORDS:
            message = f"a variable called {name}: YAML reads words such as on, yes and n as true or false"
            at: Path = (*path, "env", name)
            help = "write the name in quotes"
            yield problem("spec-invalid-value", at, message, help, severity="warning", on_key=True)
        if value is not None and not isinstance(value, str) and len(value.given()) != 1:
            help = "use one of secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef"
            yield invalid_field((*path, "env", name), "a variable has exactly one source", help)


_POLICY: Path = ("spec", "runPolicy")


def endings(parts: SpecParts) -> Iterator[Problem]:
    """Yield every contradiction about restarts.

    onPodFailure is for the pods that train; those of other roles restart in place beside it.
    """
    policy = parts.job.run_policy
    if not policy.model_fields_set:
        return
    restarts = _in_place(part for part in parts.every if not part.auxiliary)
    if policy.on_pod_failure is not None and restarts is not None:
        message = f"restartPolicy {restarts} restarts a failed container in its pod, so no pod ever fails"
        yield conflict((*_POLICY, "onPodFailure"), message, "set only one of the two")
    if policy.on_pod_failure == "FailJob" and policy.backoff_limit:
        message = f"FailJob retries nothing, but backoffLimit allows {policy.backoff_limit}"
        yield conflict((*_POLICY, "onPodFailure"), message, "use RestartPod or RestartJob, or remove backoffLimit")
    anywhere = _in_place(parts.every)
    asks = policy.on_pod_failure if policy.on_pod_failure in {"RestartPod", "RestartJob"} else anywhere
    if policy.backoff_limit == 0 and asks is not None and asks != "Always":
        yield problem(
            "no-retries-left",
            (*_POLICY, "backoffLimit"),
            f"0 allows no restart, but {asks} needs them: the first failure ends the job",
            "use a number above 0, or remove it",
            severity="warning",
            stage="run",
        )


def _in_place(parts: Iterable[SpecPart]) -> RestartPolicy | None:
    """The first restart policy by which the kubelet starts a failed container again."""
    said = (part.fields.restart_policy for part in parts)
    return next((one for one in said if one not in {None, "Never"}), None)


def images(parts: SpecParts) -> Iterator[Problem]:
    """Yield what is wrong with the images of a spec's parts and of the containers in their patches."""
    for path, fields, _, _ in parts.every:
        if fields.image:
            yield from _image((*path, "image"), fields.image)
        main = str(path[-1]) if path[1:2] == ("roles",) else MAIN
        image = fields.image or parts.every[0].fields.image
        for key in ("initContainers", "containers") if fields.pod_template else ():
            for at, one in _containers(fields.pod_template.get("spec"), key):
                here = (*path, "podTemplate", "spec", key, at)
                if isinstance(one.get("image"), str) and one["image"]:
                    yield from _image((*here, "image"), one["image"])
                if key == "containers":
                    yield from _beside(here, one, main, image)


def _containers(pod: Any, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = pod.get(key) if isinstance(pod, dict) else None
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict):
            yield at, one


def _image(path: Path, image: str) -> Iterator[Problem]:
    why = why_not_image(image)
    if why is None:
        return
    if is_placeholder(image):
        why, help = "a placeholder, but a spec is not a template", "write the image, or set it with --set"
    else:
        why, help = f"not the name of an image: {why}", "write REGISTRY/REPOSITORY:TAG"
    yield problem("invalid-image", path, why, help, stage="pod", authority="kubelet")


def _beside(path: Path, container: dict[str, Any], main: str, image: str | None) -> Iterator[Problem]:
    """A container that is not named like the main one is a further one: a mistake if it has the same image."""
    name = container.get("name")
    if isinstance(name, str) and name != main and container.get("image") in (None, image):
        text = f"{field_path(path)}: {name} is a container beside {main} with the same image"
        help = f"to change the main container, name it {main}"
        yield problem("same-image-beside", path, text, help, severity="warning", stage="run", authority="ptcompile")


_TAKEN = {
    "master": "write it as spec.master",
    "worker": "write it as spec.worker",
    "node": "nodes of the job have this name",
}

_MOST = 32
"""Characters of a role's name: what is left of a pod's 63 for the job's own."""


def role_names(parts: SpecParts) -> Iterator[Problem]:
    """Yield an error for every name that cannot be that of an auxiliary role."""
    job = parts.job
    if not job.roles:
        return
    if len(job.roles) > (most := limits().roles):
        yield problem(
            "too-large", ("spec", "roles"), f"has more than {most} roles", "use fewer roles with more pods each"
        )
        return
    named = {name: word for (word, part), name in job.names_of_parts().items() if part != "container"}
    variables = {one.role_prefix: one.title for one in OPERATORS if one.role_prefix}
    template = parts.cluster.spec.defaults.pod_template.get("spec", {})
    sidecars = {one.get("name") for key in ("containers", "initContainers") for one in template.get(key, ())}
    for name in job.roles:
        path: Path = ("spec", "roles", name)
        if name in _TAKEN:
            yield _bad(path, f"a role that trains has the name {name!r}", f"{_TAKEN[name]}, or choose another name")
        elif name in named:
            yield _bad(
                path,
                f"spec.{named[name]} names pods that train {name!r}",
                "choose another name",
            )
        elif reason := names.why_not_dns_1035_label(name):
            yield _bad(path, f"{name!r} {reason}", such_as(name.lstrip("0123456789-_."), "loader"))
        elif len(name) > _MOST:
            message = f"{name!r} has {len(name)} characters and leaves too few for the job's name in those of its pods"
            yield _bad(path, message, f"at most {_MOST} characters, such as loader")
        elif titles := [title for start, title in variables.items() if name.startswith(start)]:
            yield _bad(path, f"the variable of {name!r} would be one that {titles[0]} sets", "choose another name")
        elif name in sidecars:
            message = f"a container of the profile's pod template is named {name!r}, as the role's would be"
            yield _bad(path, message, "choose another name")


def _bad(path: Path, message: str, help: str) -> Problem:
    return problem("spec-invalid-value", path, message, help, on_key=True)
