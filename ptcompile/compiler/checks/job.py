"""Checks for contradictions in a spec: names, entry point, node counts, torchrun, roles, images,
restarts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.limits import limits
from ptcompile._internal.spelling import pluralize, spelling_help
from ptcompile.compiler.frontend.errors import conflict, invalid_field, name_help, problem
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts, program_fields
from ptcompile.compiler.frontend.reader import placeholder_name
from ptcompile.diagnostics import Path, Problem, Problems, field_path
from ptcompile.diagnostics.fixes import nearest_label
from ptcompile.hardware.nodes import levels_of
from ptcompile.ir.job import Context, Job, Target
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_list,
    nested_map,
    nested_maps,
    nested_value,
)
from ptcompile.operators.queues.queue_systems import QUEUE_LABELS
from ptcompile.operators.table import OPERATORS
from ptcompile.simulator.launchers.torchrun import why_not_option
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN, split_endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields, RestartPolicy, Spec


_YAML_LITERALS = frozenset({"true", "false", "null"})
"""Keys that kubectl produces if YAML reads an unquoted key as a boolean or null."""


def metadata(parts: SpecParts) -> Problems:
    """Yield an error for invalid names of the job and of its namespace."""
    fields = parts.spec.metadata
    prefix = fields.generate_name
    has_name = "name" in fields.model_fields_set

    if not has_name and prefix is None:
        yield problem("spec-missing-field", ("metadata", "name"), "is missing", "add name")
    elif has_name and prefix is not None and fields.name != placeholder_name(prefix):
        yield conflict(
            ("metadata", "generateName"), "name already names the job", "remove one of them"
        )
    elif has_name and (reason := names.why_not_dns_label(fields.name)):
        if prefix is None:
            help = name_help(fields.name, "llama-sft")
            yield invalid_field(
                ("metadata", "name"),
                f"{fields.name!r} {reason}",
                help,
            )
        else:
            yield invalid_field(
                ("metadata", "generateName"),
                f"a name that begins with {prefix!r} {reason}",
                f"use a beginning such as '{nearest_label(prefix) or 'llama-sft'}-'",
            )

    if fields.namespace is not None and (reason := names.why_not_dns_label(fields.namespace)):
        help = name_help(fields.namespace, "research")
        yield invalid_field(("metadata", "namespace"), f"{fields.namespace!r} {reason}", help)


def containers(parts: SpecParts) -> Problems:
    """Yield an error or a warning for the variables of each part, and an error for each part
    without an image.
    """
    job = parts.job
    for path, fields, _, _ in parts.every:
        yield from _check_env(path, fields)
        if fields.image is None and job.image is None and job.runtime_ref is None:
            # if master or worker roles train, each of them needs an image and the job needs none
            roles_train = job.master is not None or job.worker is not None
            if len(path) == 2 or roles_train == (len(path) == 3):
                yield problem(
                    "spec-missing-field",
                    (*path, "image"),
                    "is missing: every node needs one",
                    "add image",
                )


def is_only_too_long(name: str) -> bool:
    """Return whether a name is valid except for its length, whose limit depends on the target."""
    return len(name) > names.DNS_LABEL_MAX and "." not in name and names.is_dns_subdomain(name)


def reserved_env(spec: Spec, job: Job, context: Context) -> Problems:
    """Yield an error for each variable that the operator overwrites, since this target cannot
    pass it on.
    """
    target = context.target
    if not target.overwrites or target.keeps_variables(job):
        return

    for field, env in _profile_variables(job, context.cluster):
        for name in _overwritten_names(env, target):
            yield _reserved_variable(("spec",), name, target, f"the profile's {field} sets {name}")
    for role in job.roles:
        variables = {str(entry.get("name")): entry.get("value") for entry in role.template.main.env}
        if role.template.nulls:
            variables |= _nulled_variables(role.template)
        for name in _overwritten_names(variables, target):
            # auxiliary roles have no rank and no torchrun, so no operator overwrites these
            if role.trains or not (name == "RANK" or name.startswith("PET_")):
                path = _variable_path(spec.spec, role.name, name)
                yield _reserved_variable(path, name, target)


def _nulled_variables(template: PodTemplate) -> dict[str, None]:
    """Return the variables that a role sets to null in its main container, by name."""
    env = nested_map(template.nulls, "spec", "containers", template.main.name, "env")
    return dict.fromkeys(name for name in env if isinstance(env[name], tuple))


def _profile_variables(job: Job, cluster: ClusterProfile) -> Iterator[tuple[str, Json]]:
    """Yield the variables that the profile sets for the job, after the profile field that sets
    them.
    """
    profile = cluster.spec
    yield "defaults.env", profile.defaults.env
    yield "defaults.podTemplate", _main_env(profile.defaults.pod_template)
    if accelerator := profile.accelerators.get(job.accelerator or ""):
        yield f"accelerators.{job.accelerator}", accelerator.env
    if fabric := profile.fabrics.get(job.fabric or ""):
        yield f"fabrics.{job.fabric}", {**_main_env(fabric.pod_template), **fabric.env}


def _main_env(template: Json) -> JsonDict:
    """Return the variables that a pod template of the profile sets in the main container."""
    entries = (
        entry
        for container in nested_maps(template, "spec", "containers")
        if container.get("name") == MAIN
        for entry in nested_maps(container, "env")
    )
    return {str(entry.get("name")): entry.get("value") for entry in entries}


def _overwritten_names(env: Json, target: Target) -> list[str]:
    return [
        k
        for k, v in env.items()
        if k in target.overwrites and (v is None or v != target.overwrites[k])
    ]


def _variable_path(job: JobSpec, role: str, name: str) -> Path:
    """Return the spec path that sets a role's variable: in the role's env, the job's, or one of
    the two patches.
    """
    auxiliary = job.roles.get(role)
    block = auxiliary if auxiliary is not None else getattr(job, role, None)
    block_path = ("spec", role) if auxiliary is None else ("spec", "roles", role)
    for path, fields in ((block_path, block), (("spec",), job)):
        if fields is not None and name in fields.env:
            return (*path, "env", name)
    if block is not None and block.pod_template:
        return (*block_path, "podTemplate")
    return ("spec", "podTemplate")


def _reserved_variable(path: Path, name: str, target: Target, field: str | None = None) -> Problem:
    message = (
        f"the target {target.name} cannot pass it to the pods: the operator sets {name} itself"
    )
    return problem(
        "unsupported-by-target", path, message, f"remove {name}", on_key=True, field=field
    )


def program(parts: SpecParts) -> Problems:
    """Yield an error unless exactly one field sets the program, and if `elastic` is set but
    nothing starts torchrun.
    """
    job = parts.job
    set_fields = program_fields(job)
    for name in set_fields[1:]:
        first = set_fields[0]
        yield conflict(
            ("spec", name), f"{first} already sets what runs", f"remove {first} or {name}"
        )

    if job.elastic is not None and not set_fields and job.args is None and job.runtime_ref is None:
        yield conflict(
            ("spec", "elastic"),
            "only applies to torchrun, but the spec does not start it",
            "add script or module, or a command that starts torchrun itself, or remove elastic",
        )


def node_counts(parts: SpecParts) -> Problems:
    """Yield contradictions between the fields that set the number of nodes."""
    job = parts.job
    ways = [
        (("spec", "nodes"), job.nodes is not None),
        (("spec", "elastic", "nnodes"), job.elastic is not None and job.elastic.nnodes is not None),
        (("spec", "master"), job.master is not None),
        (("spec", "worker"), job.worker is not None and job.master is None),
    ]
    set_paths = [path for path, is_set in ways if is_set]
    least, most = job.node_range()
    if set_paths[:2] == [("spec", "nodes"), ("spec", "elastic", "nnodes")] and least < most:
        del set_paths[0]
        if job.nodes is not None and not least <= job.nodes <= most:
            start = pluralize(job.nodes, "node")
            message = f"the job starts with {start}, but elastic.nnodes allows {least} to {most}"
            yield conflict(
                ("spec", "nodes"), message, f"use a number from {least} to {most}, or remove it"
            )

    for path in set_paths[1:]:
        yield conflict(
            path,
            f"{field_path(set_paths[0])} already sets the number of nodes",
            "set it in one place",
        )

    if job.master is not None and job.master.replicas != 1:
        message = f"a job has one master, not {job.master.replicas}"
        yield invalid_field(
            ("spec", "master", "replicas"),
            message,
            "set it to 1 or remove it; worker.replicas counts the other nodes",
        )


def torchrun(parts: SpecParts) -> Problems:
    """Yield contradictions between the settings of torchrun."""
    job = parts.job
    elastic = parts.job.elastic
    if elastic is None:
        return

    path = ("spec", "elastic")
    least, most = job.node_range()
    if elastic.rdzv_backend == "static" and least < most:
        yield conflict(
            (*path, "rdzvBackend"), "a static rendezvous has no range of nodes", "use c10d"
        )

    uses_etcd = elastic.rdzv_backend in {"etcd", "etcd-v2"}
    if uses_etcd and most == 1:
        yield conflict(
            (*path, "rdzvBackend"),
            "a single node has no other node to join",
            "remove it, or use more nodes",
        )
    elif uses_etcd and elastic.rdzv_endpoint is None:
        yield conflict(
            (*path, "rdzvBackend"),
            f"{elastic.rdzv_backend} needs a server",
            "add rdzvEndpoint: HOST:PORT",
        )
    if elastic.rdzv_endpoint is not None and not uses_etcd:
        yield conflict(
            (*path, "rdzvEndpoint"),
            "is only used with etcd: other backends join at node 0",
            "remove it",
        )
    elif elastic.rdzv_endpoint is not None and split_endpoint(elastic.rdzv_endpoint) is None:
        yield invalid_field(
            (*path, "rdzvEndpoint"),
            f"{elastic.rdzv_endpoint!r} is not HOST:PORT",
            "use HOST:PORT, such as etcd.infra:2379",
        )

    for key, value in elastic.rdzv_configs.items():
        if "," in f"{key}{value}" or "=" in key:
            message = (
                "torchrun splits its --rdzv-conf at commas and '=', so neither is allowed here"
            )
            yield invalid_field((*path, "rdzvConfigs", key), message, None)
        elif value is not None and (
            reason := why_not_option(key, str(value), elastic.rdzv_backend)
        ):
            yield invalid_field(
                (*path, "rdzvConfigs", key), f"{value!r} {reason}, or torchrun does not start", None
            )


def profile_references(parts: SpecParts) -> Problems:
    """Yield an error if the profile does not define the accelerator or spot nodes."""
    job = parts.job
    cluster = parts.cluster
    if job.accelerator is not None and hardware.accelerator(cluster, job.accelerator) is None:
        from ptcompile.compiler.checks.devices import unknown_accelerator

        yield unknown_accelerator(job.accelerator, cluster)
    if job.spot and job.runtime_ref is None:
        yield from _check_spot(cluster)


def _check_spot(cluster: ClusterProfile) -> Problems:
    """Yield an error if nothing identifies spot nodes; only a warning if the profile sets an
    empty `spot`.
    """
    path = ("spec", "spot")
    spot = cluster.spec.spot
    name = cluster.metadata.name
    if (
        spot.node_labels
        or spot.tolerations
        or spot.match_expressions
        or hardware.spot_nodes(cluster) is not None
    ):
        return

    if "spot" in cluster.spec.model_fields_set:
        message = f"the profile {name!r} defines no spot nodes, so `spot: true` has no effect"
        help = "describe them in spec.spot of the profile"
        yield problem("spec-invalid-value", path, message, help, severity="warning")
    else:
        message = f"the profile {name!r} has no cloud and no spot nodes, so nothing selects them"
        help = (
            "set spec.cloud (gke, eks, aks or oke) or spec.spot in a profile, which ptcompile init "
            "--profile writes, and pass it with --cluster FILE"
        )
        yield conflict(path, message, help)


def queue(parts: SpecParts) -> Problems:
    """Yield an error for an invalid name of a queue or a priority, for a label that names another
    one, and for an unknown topology level.
    """
    job = parts.job
    cluster = parts.cluster
    values = (("queue", job.queue), ("priority", job.priority))
    for (field, name), label in zip(
        values, QUEUE_LABELS.get(cluster.spec.queue_system or "", ()), strict=False
    ):
        written = parts.spec.metadata.labels.get(label)
        if name is not None and written is not None and written != name:
            path = ("metadata", "labels", label)
            yield conflict(
                path, f"{written!r} differs from spec.{field}, {name!r}", "set it in one place"
            )

    for field, name in values:
        if name is not None and (reason := names.why_not_dns_subdomain(name)):
            yield invalid_field(("spec", field), f"{name!r} {reason}", name_help(name, "team-a"))
    if job.topology is None:
        return

    levels = {**levels_of(cluster.spec.cloud), **cluster.spec.topology.levels}
    for strength, level in job.topology.non_null_fields().items():
        if level not in levels:
            help = spelling_help(level, levels, f"use one of {', '.join(levels)}")
            message = f"{level!r} is not a level of the profile {cluster.metadata.name!r}"
            yield invalid_field(("spec", "topology", strength), message, help)


def gang_size(parts: SpecParts) -> Problems:
    """Yield an error if fewer pods exist than must start together."""
    job = parts.job
    number = job.min_available
    if number is None or job.runtime_ref is not None:
        return
    _, most = job.node_range()
    pods = most + sum(role.replicas for role in job.roles.values())
    if number > pods:
        message = f"{number} pods must start together, but the job has {pods}"
        yield invalid_field(("spec", "minAvailable"), message, f"use {pods} or less, or more nodes")


def part_names(parts: SpecParts) -> Problems:
    """Yield an error for invalid or equal names of the job's parts."""
    job = parts.job
    if not job.has_part_names():
        return

    names_by_path = job.part_names()
    for path, name in names_by_path.items():
        if reason := names.why_not_dns_label(name):
            yield invalid_field(("spec", *path), f"{name!r} {reason}", name_help(name, "master"))
    master, worker = job.node_names()
    if master == worker:
        worker_path = ("names", "worker") if job.names.non_null_fields() else list(names_by_path)[1]
        yield conflict(
            ("spec", *worker_path),
            "master and worker have the same name",
            "give them different names",
        )


def _check_env(path: Path, fields: PodFields) -> Problems:
    for name, value in fields.env.items():
        variable_path = (*path, "env", name)
        if name in _YAML_LITERALS:
            cause = "it reads words such as on, yes and n as true or false"
            message = f"YAML turned the name of a variable into {name}: {cause}"
            help = "write the name in quotes"
            yield problem(
                "spec-invalid-value", variable_path, message, help, severity="warning", on_key=True
            )
        if value is not None and not isinstance(value, str) and len(value.non_null_fields()) != 1:
            help = "use one of secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef"
            yield invalid_field(variable_path, "a variable has exactly one source", help)


_POLICY = ("spec", "runPolicy")


def run_policy(parts: SpecParts) -> Problems:
    """Yield contradictions between the restart settings.

    onPodFailure applies to training pods; auxiliary roles still restart in place.
    """
    policy = parts.job.run_policy
    if not policy.model_fields_set:
        return

    restarts = _in_place_restart(part for part in parts.every if not part.is_auxiliary)
    if policy.on_pod_failure is not None and restarts is not None:
        message = (
            f"restartPolicy {restarts} restarts a failed container in its pod, so no pod ever fails"
        )
        yield conflict((*_POLICY, "onPodFailure"), message, "set only one of the two")
    if policy.on_pod_failure == "FailJob" and policy.backoff_limit:
        message = f"FailJob retries nothing, but backoffLimit allows {policy.backoff_limit}"
        yield conflict(
            (*_POLICY, "onPodFailure"),
            message,
            "use RestartPod or RestartJob, or remove backoffLimit",
        )

    anywhere = _in_place_restart(parts.every)
    retry = (
        policy.on_pod_failure if policy.on_pod_failure in {"RestartPod", "RestartJob"} else anywhere
    )
    if policy.backoff_limit == 0 and retry is not None and retry != "Always":
        yield problem(
            "no-retries-left",
            (*_POLICY, "backoffLimit"),
            f"0 allows no restarts, but {retry} needs them: the first failure ends the job",
            "use a number above 0, or remove it",
            severity="warning",
            stage="run",
        )


def _in_place_restart(parts: Iterable[SpecPart]) -> RestartPolicy | None:
    """Return the first restart policy with which the kubelet restarts a failed container in
    place, or None.
    """
    policies = (part.fields.restart_policy for part in parts)
    return next((policy for policy in policies if policy not in {None, "Never"}), None)


def images(parts: SpecParts) -> Problems:
    """Yield an error for invalid images of a spec's parts and of the containers in their
    patches.
    """
    for path, fields, _, _ in parts.every:
        if fields.image:
            yield from _check_image((*path, "image"), fields.image)
        main = str(path[-1]) if path[1:2] == ("roles",) else MAIN
        image = fields.image or parts.every[0].fields.image
        if not fields.pod_template:
            continue

        for key in ("initContainers", "containers"):
            for index, container in _containers(fields.pod_template.get("spec"), key):
                container_path = (*path, "podTemplate", "spec", key, index)
                if isinstance(container.get("image"), str) and container["image"]:
                    yield from _check_image((*container_path, "image"), container["image"])
                if key == "containers":
                    yield from _check_container_name(container_path, container, main, image)


def _containers(pod: Any, key: str) -> Iterator[tuple[int, JsonDict]]:
    for index, container in enumerate(as_list(nested_value(pod, key))):
        if isinstance(container, dict):
            yield index, container


def _check_image(path: Path, image: str) -> Problems:
    reason = why_not_image(image)
    if reason is None:
        return

    if is_placeholder(image):
        reason = "is a placeholder, but a spec is not a template"
        help = "write the image, or set it with --set"
    else:
        reason = f"is not an image name: {reason}"
        help = "write REGISTRY/REPOSITORY:TAG"

    yield problem("invalid-image", path, reason, help, stage="pod", authority="kubelet")


def _check_container_name(
    path: Path, container: JsonDict, main: str, image: str | None
) -> Problems:
    """Yield a warning for an additional container with the main container's image: its name is
    probably wrong.
    """
    name = container.get("name")
    if isinstance(name, str) and name != main and container.get("image") in (None, image):
        text = f"{name} is a container next to {main} with the same image"
        help = f"to change the main container, name it {main}"
        yield problem(
            "same-image-beside",
            path,
            text,
            help,
            severity="warning",
            stage="run",
        )


_RESERVED_ROLE_NAMES = {
    "master": "set spec.master, or choose another name",
    "worker": "set spec.worker, or choose another name",
    "node": "choose another name",
}

_MAX_ROLE_NAME = 32
"""Maximum length of a role's name: the rest of a pod name's 63 characters is left for the job's
name.
"""


def check_role_names(parts: SpecParts) -> Problems:
    """Yield an error for each name that an auxiliary role cannot have."""
    job = parts.job
    if not job.roles:
        return
    if len(job.roles) > (max_roles := limits().roles):
        message = f"has more than {max_roles} roles"
        help = "use fewer roles with more pods each"
        yield problem("too-large", ("spec", "roles"), message, help)
        return

    fields_by_name = {
        name: field for (field, part), name in job.part_names().items() if part != "container"
    }
    template = parts.cluster.spec.defaults.pod_template
    sidecars = {
        item.get("name")
        for key in ("containers", "initContainers")
        for item in nested_maps(template, "spec", key)
    }
    for name in job.roles:
        path = ("spec", "roles", name)
        reason = _why_not_role_name(name, fields_by_name)
        if reason is not None:
            yield _bad_role_name(path, *reason)
        elif name in sidecars:
            message = (
                f"the profile's pod template already has a container {name!r}, the name of the "
                "role's container"
            )
            yield _bad_role_name(path, message, "choose another name")._replace(field="")


def _why_not_role_name(name: str, fields_by_name: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with the name of a role, and the help, or None.

    `fields_by_name`: the fields of the spec that name training pods, by that name.
    """
    if name in _RESERVED_ROLE_NAMES:
        return f"{name!r} is the name of a training role", _RESERVED_ROLE_NAMES[name]
    if name in fields_by_name:
        message = f"spec.{fields_by_name[name]} already names training pods {name!r}"
        return message, "choose another name"
    if reason := names.why_not_dns_1035_label(name):
        return f"{name!r} {reason}", name_help(name.lstrip("0123456789-_."), "loader")
    if len(name) > _MAX_ROLE_NAME:
        message = (
            f"{name!r} has {len(name)} characters, which leaves too few for the job's name in "
            "pod names"
        )
        return message, f"use at most {_MAX_ROLE_NAME} characters, such as loader"

    for operator in OPERATORS:
        if operator.role_prefix and name.startswith(operator.role_prefix):
            message = f"the variable of {name!r} collides with one that {operator.title} sets"
            return message, "choose another name"
    return None


def _bad_role_name(path: Path, message: str, help: str) -> Problem:
    return problem("spec-invalid-value", path, message, help, on_key=True)
