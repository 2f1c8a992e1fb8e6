"""Warnings about pods and pod templates.

Source: Kubernetes 1.36, pkg/api/pod/warnings.go: warningsForPodSpecAndMeta;
pkg/registry/core/pod/strategy.go: applyAppArmorVersionSkew. Words and versions of the nodes'
labels: pkg/api/node/util.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.warnings.addresses import ip_warnings
from ptcompile.apiserver.warnings.header import deprecated, ignored, repeated, warning
from ptcompile.apiserver.warnings.volumes import fractional_warnings, volume_warnings
from ptcompile.diagnostics import Path, Problems, field_path
from ptcompile.diagnostics.field_errors import (
    as_field_int,
    indexed_items,
    indexed_mappings,
    quote_value,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.pod_spec import PREFERRED, REQUIRED
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value

DEPRECATED_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}
_DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_TEXT = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_APP_ARMOR_TEXT = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_BYTES = ("memory", "ephemeral-storage")


def pod_warnings(template: Any, path: Path, server: ApiServer) -> Problems:
    """Yield the warnings about a pod template, or about a Pod if the path is empty."""
    spec = nested_map(template, "spec")
    annotation_map = nested_map(template, "metadata", "annotations")
    spec_path = (*path, "spec")
    annotations_path = (*path, "metadata", "annotations")
    containers = _containers(spec, spec_path)
    yield from _scheduling_warnings(spec, spec_path, server)
    for key, text in _DEPRECATED_ANNOTATIONS.items():
        if annotation_map.get(key) is not None:
            yield deprecated((*annotations_path, key), text, "use the field instead")

    yield from volume_warnings(spec, spec_path, server)
    yield from _list_warnings(spec, spec_path)
    yield from fractional_warnings(nested_map(spec, "overhead"), (*spec_path, "overhead"), _BYTES)
    yield from _security_annotation_warnings(spec, annotation_map, annotations_path, containers)
    for container, container_path in containers:
        yield from _container_warnings(container, container_path)
    yield from _port_warnings(containers, fill=not path and spec.get("hostNetwork") is True)
    if server.at_least(33):
        yield from _port_name_warnings(containers)

    seconds = as_field_int(spec.get("terminationGracePeriodSeconds"))
    if seconds is not None and seconds < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield ignored(
            (*spec_path, "terminationGracePeriodSeconds"),
            text,
            "allow the time that a shutdown takes",
        )

    if "affinity" in spec:
        yield from _pod_affinity_warnings(spec, spec_path)
    yield from _address_warnings(spec, spec_path, server)


def _containers(spec: Json, path: Path) -> list[tuple[Json, Path]]:
    """Return the containers of a pod spec with their paths, in the server's order."""
    return [
        (container, (*path, key, index))
        for key in ("initContainers", "containers", "ephemeralContainers")
        for index, container in indexed_mappings(spec.get(key))
    ]


def node_label_warnings(term: Any, path: Path) -> Problems:
    """Yield a warning for each expression of a node selector term that names a deprecated label."""
    for index, expression in indexed_mappings(nested_value(term, "matchExpressions")):
        if text := deprecated_label_text(expression.get("key")):
            key_path = (*path, "matchExpressions", index, "key")
            yield deprecated(key_path, f"{expression['key']} is {text}", "use the new label")


def deprecated_label_text(label: Any) -> str | None:
    """Return the server's words for a deprecated node label, or None for another value."""
    if type(label) is not str:
        return None
    return DEPRECATED_NODE_LABELS.get(label)


def _scheduling_warnings(spec: Json, path: Path, server: ApiServer) -> Problems:
    for label in nested_map(spec, "nodeSelector"):
        if text := deprecated_label_text(label):
            yield deprecated((*path, "nodeSelector", label), text, "use the new label")
    affinity = nested_map(spec, "affinity", "nodeAffinity")
    affinity_path = (*path, "affinity", "nodeAffinity")
    terms_path = (*affinity_path, REQUIRED, "nodeSelectorTerms")
    for index, term in indexed_mappings(nested_value(affinity, REQUIRED, "nodeSelectorTerms")):
        yield from node_label_warnings(term, (*terms_path, index))
    for index, preferred in indexed_mappings(affinity.get(PREFERRED)):
        preference_path = (*affinity_path, PREFERRED, index, "preference")
        yield from node_label_warnings(preferred.get("preference"), preference_path)
        if server.at_least(33):
            yield from _label_value_warnings(preferred.get("preference"), preference_path)

    for index, constraint in indexed_mappings(spec.get("topologySpreadConstraints")):
        constraint_path = (*path, "topologySpreadConstraints", index)
        key = constraint.get("topologyKey")
        if text := deprecated_label_text(key):
            yield deprecated(
                (*constraint_path, "topologyKey"), f"{key} is {text}", "use the new label"
            )
        yield from _null_selector_warnings(constraint, constraint_path)


def _label_value_warnings(term: Any, path: Path) -> Problems:
    """Yield a warning for each value of a preferred term that no label can have."""
    for index, expression in indexed_mappings(nested_value(term, "matchExpressions")):
        for number, value in indexed_items(expression.get("values")):
            if type(value) is str and (why := names.why_not_label_value(value)):
                value_path = (*path, "matchExpressions", index, "values", number)
                yield ignored(
                    value_path, f"{value} is invalid, {why}", "write a value that a label can have"
                )


def _null_selector_warnings(term: Json, path: Path) -> Problems:
    if term.get("labelSelector") is None:
        text = "a null labelSelector results in matching no pod"
        yield ignored((*path, "labelSelector"), text, "select the labels of the pods")


def _pod_affinity_warnings(spec: Json, path: Path) -> Problems:
    for key in ("podAffinity", "podAntiAffinity"):
        affinity = nested_map(spec, "affinity", key)
        affinity_path = (*path, "affinity", key)
        for index, term in indexed_mappings(affinity.get(REQUIRED)):
            yield from _null_selector_warnings(term, (*affinity_path, REQUIRED, index))
        for index, weighted in indexed_mappings(affinity.get(PREFERRED)):
            term_path = (*affinity_path, PREFERRED, index, "podAffinityTerm")
            yield from _null_selector_warnings(nested_map(weighted, "podAffinityTerm"), term_path)


def _list_warnings(spec: Json, path: Path) -> Problems:
    """Yield the warnings about repeated hostAliases and imagePullSecrets."""
    for key, field, noun in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        seen: set[str] = set()
        for index, entry in indexed_mappings(spec.get(key)):
            value = entry.get(field) or ""
            if type(value) is not str:
                continue

            if value in seen:
                text = f"duplicate {noun} {quote_value(value)}"
                yield repeated((*path, key, index, field), text, "merge the entries")
            seen.add(value)
            if not value and key == "imagePullSecrets":
                yield ignored(
                    (*path, key, index, field),
                    'invalid empty name ""',
                    "name the Secret, or remove the entry",
                )


def _security_annotation_warnings(
    spec: Json,
    annotation_map: Json,
    path: Path,
    containers: list[tuple[Json, Path]],
) -> Problems:
    """Yield the warnings about annotations for seccomp and AppArmor where no field replaces
    them.
    """
    context = nested_map(spec, "securityContext")
    if annotation_map.get(_SECCOMP_POD) is not None and context.get("seccompProfile") is None:
        yield deprecated((*path, _SECCOMP_POD), _SECCOMP_TEXT, "set securityContext.seccompProfile")
    if not annotation_map:
        return

    is_template = path != ("metadata", "annotations")
    is_windows = nested_value(spec, "os", "name") == "windows"
    for container, _ in containers:
        security = nested_map(container, "securityContext")
        name = container.get("name")
        key = f"{_SECCOMP_CONTAINER}{name}"
        if annotation_map.get(key) is not None and security.get("seccompProfile") is None:
            yield deprecated(
                (*path, key), _SECCOMP_TEXT, "set the container's securityContext.seccompProfile"
            )

        key = f"{_APP_ARMOR}{name}"
        profile = annotation_map.get(key)
        if (
            profile is None
            or security.get("appArmorProfile") is not None
            or (is_windows and not is_template)
        ):
            continue

        pod_profile = context.get("appArmorProfile")
        if pod_profile is None or (not is_template and _app_armor_field(profile) != pod_profile):
            yield deprecated(
                (*path, key), _APP_ARMOR_TEXT, "set the container's securityContext.appArmorProfile"
            )


def _app_armor_field(annotation: Any) -> dict[str, str] | None:
    """Return the field that says the same as an annotation, or None if it is invalid."""
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    if (
        type(annotation) is str
        and annotation.startswith("localhost/")
        and annotation != "localhost/"
    ):
        return {"type": "Localhost", "localhostProfile": annotation.removeprefix("localhost/")}
    return None


def _container_warnings(container: Json, path: Path) -> Problems:
    for key in ("limits", "requests"):
        amounts_path = (*path, "resources", key)
        yield from fractional_warnings(
            nested_map(container, "resources", key), amounts_path, _BYTES
        )

    seen: set[str] = set()
    for index, entry in indexed_mappings(container.get("env")):
        name = entry.get("name")
        value = entry.get("value")
        if type(name) is not str:
            continue

        reference = f"$({name})"
        text = value if type(value) is str else ""
        if name in seen and (
            entry.get("valueFrom") is not None or text == reference or reference not in text
        ):
            hides = (
                f"hides previous definition of {quote_value(name)}, which may be dropped when "
                "using apply"
            )
            yield warning(
                "repeated-env",
                (*path, "env", index),
                hides,
                "remove all entries but the last",
                stage="run",
            )

        seen.add(name)


def _port_warnings(containers: list[tuple[Json, Path]], *, fill: bool) -> Problems:
    """Yield the warnings about ports that clash. With `fill`, the container port is the default
    of the host port.
    """
    seen: dict[tuple[int, str], dict[object, Path]] = {}
    for container, path in containers:
        for index, port in indexed_mappings(container.get("ports")):
            number = port.get("containerPort")
            protocol = port.get("protocol") or "TCP"
            host_ip = port.get("hostIP") or ""
            host_port = port.get("hostPort") or (number if fill else 0)
            port_path = (*path, "ports", index)
            if (
                type(number) is not int
                or type(host_port) is not int
                or type(protocol) is not str
                or type(host_ip) is not str
            ):
                continue

            if host_ip and not host_port:
                values = (port.get("name") or "", host_port, number, protocol, host_ip)
                fields = "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}".format(
                    *values
                )
                yield ignored(
                    port_path,
                    f"hostIP set without hostPort: {fields}",
                    "set hostPort, or remove hostIP",
                )

            earlier = seen.setdefault((number, protocol), {})
            if clash := _clash(earlier, host_ip, host_port):
                how, earlier_path = clash
                text = f"{how} port definition with {field_path(earlier_path)}"
                yield repeated(port_path, text, "remove one of the two")

            for key in ("any", (host_ip, host_port), (host_port, bool(host_ip)), host_port):
                earlier.setdefault(key, port_path)


def _clash(earlier: Mapping[object, Path], ip: str, port: int) -> tuple[str, Path] | None:
    """Return the server's word for how a port clashes with an earlier definition, and the path of
    the earlier one, or None if it does not.

    `earlier` has the first path of "any" definition, of each host address and port, of each host
    port, and of each host port with or without an address.
    """
    if (ip, port) in earlier:
        return "duplicate", earlier[ip, port]
    if earlier and not port:
        return "overlapping", earlier["any"]
    if 0 in earlier:
        return "overlapping", earlier[0]
    if (port, not ip) in earlier:
        return "dangerously ambiguous", earlier[port, not ip]
    return None


def _port_name_warnings(containers: list[tuple[Json, Path]]) -> Problems:
    """Yield a warning for each port whose name a port of another container has (Kubernetes
    1.33).
    """
    seen: dict[str, str] = {}
    for container, path in containers:
        for index, port in indexed_mappings(container.get("ports")):
            name = port.get("name")
            field = field_path((*path, "ports", index))
            if type(name) is not str or not name:
                continue

            first = seen.setdefault(name, field)
            if first != field:
                text = (
                    f"duplicate port name {quote_value(name)} with {first}, services and probes "
                    f"that select ports by name will use {first}"
                )
                yield repeated((*path, "ports", index), text, "give each port its own name")


def _address_warnings(spec: Json, path: Path, server: ApiServer) -> Problems:
    for index, address in indexed_items(nested_value(spec, "dnsConfig", "nameservers")):
        yield from ip_warnings(address, (*path, "dnsConfig", "nameservers", index), server)
    for index, alias in indexed_mappings(spec.get("hostAliases")):
        yield from ip_warnings(alias.get("ip"), (*path, "hostAliases", index, "ip"), server)
