"""What the models cannot say of a spec: fields that contradict each other, a profile, or arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.catalogue.rdzv_options import why_not_option
from ptcompile.catalogue.topology import levels_of
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import Parts
from ptcompile.frontends.errors import bad, conflict, problem, such_as
from ptcompile.frontends.spec import stand_in
from ptcompile.job.model import Context, Job, Target
from ptcompile.job.pods import PodTemplate
from ptcompile.kubernetes import names
from ptcompile.vocabulary.checks import split_endpoint
from ptcompile.vocabulary.cluster import hardware
from ptcompile.vocabulary.cluster.pod_base import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.pod_fields import PodFields
    from ptcompile.vocabulary.spec import JobSpec, Spec

_WORDS = frozenset({"true", "false", "null"})
"""What kubectl makes of a key that YAML takes for a word of its own."""


def metadata(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the names of the job and of its namespace."""
    spec = parts.spec
    beginning, named = spec.metadata.generate_name, "name" in spec.metadata.model_fields_set
    if not named and beginning is None:
        yield problem("spec-missing-field", ("metadata", "name"), "is missing", "add name")
    elif named and beginning is not None and spec.metadata.name != stand_in(beginning):
        yield conflict(("metadata", "generateName"), "name already names the job", "remove one of them")
    elif named and (reason := names.why_not_dns_label(spec.metadata.name)):
        yield bad(("metadata", "name"), f"{spec.metadata.name!r} {reason}", such_as(spec.metadata.name, "llama-sft"))
    if spec.metadata.namespace is not None and (reason := names.why_not_dns_label(spec.metadata.namespace)):
        help = such_as(spec.metadata.namespace, "research")
        yield bad(("metadata", "namespace"), f"{spec.metadata.namespace!r} {reason}", help)


def containers(parts: Parts) -> Iterator[Problem]:
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


def start(parts: Parts) -> Iterator[Problem]:
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


def shape(parts: Parts) -> Iterator[Problem]:
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
        yield bad(("spec", "master", "replicas"), message, "write 1 or remove it; worker.replicas is the rest")


def torchrun(parts: Parts) -> Iterator[Problem]:
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
        yield bad((*at, "rdzvEndpoint"), f"{elastic.rdzv_endpoint!r} is not HOST:PORT", "such as etcd.infra:2379")
    for key, value in elastic.rdzv_configs.items():
        if "," in f"{key}{value}" or "=" in key:
            message = "torchrun splits its --rdzv-conf at commas and '=', so neither is allowed here"
            yield bad((*at, "rdzvConfigs", key), message, None)
        elif value is not None and (why := why_not_option(key, str(value), elastic.rdzv_backend)):
            yield bad((*at, "rdzvConfigs", key), f"{value!r} {why}, or torchrun does not start", None)


def of_profile(parts: Parts) -> Iterator[Problem]:
    """Yield what the profile does not define: the accelerator, spot nodes."""
    job, cluster = parts.job, parts.cluster
    if job.accelerator is not None and hardware.accelerator(cluster, job.accelerator) is None:
        from ptcompile.frontends.checks_devices import unknown

        yield unknown(job.accelerator, cluster)
    spot = cluster.spec.spot
    if job.spot and not (spot.node_labels or spot.tolerations or spot.match_expressions):
        message = (
            f"spec.spot: the profile {cluster.metadata.name!r} defines no spot nodes, so `spot: true` has no effect"
        )
        yield problem(
            "spec-invalid-value", ("spec", "spot"), message, "add spec.spot to the profile", severity="warning"
        )


def queue(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the queue, the priority and the topology."""
    job, cluster = parts.job, parts.cluster
    for field, name in (("queue", job.queue), ("priority", job.priority)):
        if name is not None and (reason := names.why_not_dns_subdomain(name)):
            yield bad(("spec", field), f"{name!r} {reason}", such_as(name, "team-a"))
    if job.topology is None:
        return
    levels = {**levels_of(cluster.spec.cloud), **cluster.spec.topology.levels}
    for how, level in job.topology.given().items():
        if level not in levels:
            near = names.suggest(level, levels)
            known = f"the levels are {', '.join(levels)}"
            message = f"{level!r} is not a level of the profile {cluster.metadata.name!r}"
            yield bad(("spec", "topology", how), message, f"did you mean {near}?" if near else known)


def part_names(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the names of the job's parts."""
    job = parts.job
    if not job.names_parts():
        return
    named = job.names_of_parts()
    for place, name in named.items():
        if reason := names.why_not_dns_label(name):
            yield bad(("spec", *place), f"{name!r} {reason}", such_as(name, "master"))
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
            yield bad((*path, "env", name), "a variable has exactly one source", help)
