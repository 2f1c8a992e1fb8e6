"""Rejections by the API server and the controller after Volcano admitted a Job."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.apiserver.validation.templates import check_templates
from ptcompile.apiserver.validation.volume_claims import check_claim_spec
from ptcompile.apiserver.webhooks import child_rejection, controller_failure
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import parse
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    as_strings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.volcano.plugins import FLAGS, PORT_NAME
from ptcompile.operators.volcano.pods import pod_templates

_NAME: Path = ("metadata", "name")
_SUFFIX = {"svc": "-svc", "ssh": "-ssh"}


def controller_errors(manifest: Json, request: KindContext) -> Problems:
    """Yield invalid names of child objects, and plugin ports that the pods cannot have."""
    spec = nested_map(manifest, "spec")
    name = object_name(manifest)
    plugins = {
        str(k): as_strings(v) for k, v in nested_map(spec, "plugins").items() if v is not None
    }
    tasks = nested_maps(spec, "tasks")

    yield from _check_names(name, spec, tasks, plugins, request.versions)
    queue = nested_string(spec, "queue")
    if len(queue) > names.LABEL_VALUE_MAX:
        why = (
            "the queue becomes a label of the pods, and a label has at most 63 characters (it "
            f"has {len(queue)})"
        )
        yield child_rejection(("spec", "queue"), why, "use a queue with a shorter name")

    if "pytorch" in plugins:
        yield from _check_pytorch_port(plugins["pytorch"], tasks)
    if "ray" in plugins:
        flags, _ = parse(plugins["ray"], FLAGS["ray"])
        head = flags["head"]
        if not any(task.get("name") == head for task in tasks):
            why = f"no task is named {head!r}: the controller fails, and no pod is created"
            yield controller_failure(
                "volcano", ("spec", "plugins", "ray"), why, "name the task with --head=NAME"
            )


def _check_names(
    name: str, spec: Json, tasks: Sequence[Json], plugins: dict[str, list[str]], versions: Versions
) -> Problems:
    if "svc" in plugins and "." in name:
        why = (
            "dots are not allowed in host names, and the svc plugin derives host names from it: "
            "every pod is rejected"
        )
        yield child_rejection(_NAME, why, "use dashes")
        return

    volumes = [suffix for plugin, suffix in _SUFFIX.items() if plugin in plugins]
    if nested_maps(spec, "volumes"):
        volumes.append("-" + 12 * "x")
    limit = names.longest_name(volumes)
    if volumes and len(name) > limit:
        longest = max(volumes, key=len)
        why = (
            f"the pods' volume {name + longest} would have {len(name + longest)} characters, and "
            "63 are allowed"
        )
        yield child_rejection(_NAME, why, f"use at most {limit} characters")
    elif "svc" in plugins:
        yield from _check_hosts(name, tasks)
    if "svc" in plugins and versions.kubernetes < (1, 36) and name[:1].isdigit():
        why = (
            "a Service's name must start with a letter before Kubernetes 1.36: the pods get no "
            "DNS name"
        )
        yield child_rejection(_NAME, why, "start with a letter")


def _check_hosts(name: str, tasks: Sequence[Json]) -> Problems:
    for i, task in enumerate(tasks):
        count = nested_int(task, "replicas")
        last_host = f"{name}-{nested_string(task, 'name')}-{count - 1}"
        hostname = nested_string(task, "template", "spec", "hostname")
        if count > 0 and not hostname and len(last_host) > names.DNS_LABEL_MAX:
            size = len(last_host)
            yield child_rejection(
                ("spec", "tasks", i, "name"),
                f"the host name {last_host} would have {size} characters, and 63 are allowed: "
                "that pod is rejected",
                "shorten the task's or the job's name",
            )


def _check_pytorch_port(args: Sequence[str], tasks: Sequence[Json]) -> Problems:
    flags, _ = parse(args, FLAGS["pytorch"])
    if not any(t.get("name") == flags["master"] for t in tasks):
        return

    port = as_int(flags["port"])
    if not 1 <= port <= 65535:
        why = f"the pytorch plugin's port is {port}, which no pod can have: every pod is rejected"
        yield child_rejection(
            ("spec", "plugins", "pytorch"),
            why,
            "write --port=NUMBER, with a number from 1 to 65535",
        )
        return

    for i, task in enumerate(tasks):
        if nested_int(task, "replicas") <= 0:
            continue

        pod = nested_map(task, "template", "spec")
        containers = nested_maps(pod, "containers")
        if pod.get("hostNetwork") is True and len(containers) > 1:
            why = (
                f"the pytorch plugin gives {len(containers)} containers of a pod on the host "
                f"network the port {port}"
            )
            yield child_rejection(
                ("spec", "tasks", i, "template", "spec", "hostNetwork"),
                why,
                "use one container, or remove hostNetwork",
            )
            continue

        for j, container in enumerate(containers):
            yield from _check_port_name(
                nested_maps(container, "ports"),
                port,
                ("spec", "tasks", i, "template", "spec", "containers", j),
            )


def _check_port_name(ports: Sequence[Json], port: int, path: Path) -> Problems:
    if any(entry.get("containerPort") == port for entry in ports):
        return
    for k, entry in enumerate(ports):
        if entry.get("name") == PORT_NAME:
            yield child_rejection(
                (*path, "ports", k, "name"),
                f'Duplicate value: "{PORT_NAME}": the pytorch plugin adds a port of this name '
                f"with number {port}",
                f"use port {port}, or --port, or another name",
            )


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the pod templates, and the claims that the controller creates for `spec.volumes`."""
    check_templates(pod_templates(manifest), context, problems)
    for index, volume in indexed_mappings(nested_value(manifest, "spec", "volumes")):
        if type(volume.get("volumeClaim")) is dict:
            check_claim_spec(
                volume["volumeClaim"], ("spec", "volumes", index, "volumeClaim"), problems
            )
