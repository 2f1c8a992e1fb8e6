"""Defaults of pods, pod templates, their containers and volumes (Kubernetes 1.36
`pkg/apis/core/v1/defaults.go`).

A pod template has fewer than a Pod: the server fills in requests and service links only in the Pod
itself.
"""

from __future__ import annotations

from ptcompile.apiserver.defaulting.fields import (
    child,
    children,
    fill_absent,
    fill_empty,
    new_child,
)
from ptcompile.kubernetes.amounts import as_text, pod_requests
from ptcompile.kubernetes.images import why_not_image
from ptcompile.kubernetes.resources import HUGE_PAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.defaulting.fields import ObjectFields

_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
_FILE_MODE = 0o644

VOLUME_DEFAULTS: dict[str, ObjectFields] = {
    "hostPath": {"type": ""},
    "secret": {"defaultMode": _FILE_MODE},
    "configMap": {"defaultMode": _FILE_MODE},
    "downwardAPI": {"defaultMode": _FILE_MODE},
    "projected": {"defaultMode": _FILE_MODE},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "kind": "Shared",
        "fsType": "ext4",
        "readOnly": False,
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
"""Default values by volume source."""


def default_pod(pod: ObjectFields) -> None:
    """Set the defaults of a Pod."""
    spec = new_child(pod, "spec")
    for key in ("containers", "initContainers"):
        for container in children(spec, key):
            _default_requests(container)
    fill_absent(spec, enableServiceLinks=True)
    default_pod_spec(spec)
    _default_pod_level_requests(spec)


def _default_requests(container: ObjectFields) -> None:
    """Set each absent request to its limit."""
    resources = child(container, "resources")
    limits = child(resources, "limits")
    if limits:
        requests = new_child(resources, "requests")
        fill_absent(requests, **{str(name): limit for name, limit in limits.items()})


def _default_pod_level_requests(spec: ObjectFields) -> None:
    """Set the pod-level requests of a pod with pod-level limits: what its containers request,
    else the limit.
    """
    resources = child(spec, "resources")
    limits = child(resources, "limits")
    if not limits:
        return

    total = as_text(pod_requests({**spec, "overhead": None}))
    names = [
        name
        for name in total
        if name in ("cpu", "memory") or (name.startswith(HUGE_PAGES) and name in limits)
    ]
    fill_absent(new_child(resources, "requests"), **{name: total[name] for name in names})


def default_template(holder: ObjectFields) -> None:
    """Set the defaults of the pod template of an object's spec."""
    template = child(holder, "template")
    if template:
        default_pod_spec(new_child(template, "spec"))


def default_pod_spec(spec: ObjectFields) -> None:
    """Set the defaults that a Pod and a pod template share."""
    fill_empty(
        spec, restartPolicy="Always", dnsPolicy="ClusterFirst", schedulerName="default-scheduler"
    )
    fill_absent(spec, terminationGracePeriodSeconds=30)
    new_child(spec, "securityContext")
    if spec.get("serviceAccountName"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    elif spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"]

    for key in _CONTAINER_LISTS:
        for container in children(spec, key):
            default_container(container, host_network=spec.get("hostNetwork") is True)
    for volume in children(spec, "volumes"):
        default_volume(volume)


def default_container(container: ObjectFields, *, host_network: bool = False) -> None:
    """Set the defaults of a container."""
    policy = default_pull_policy(container.get("image"))
    fill_empty(
        container,
        imagePullPolicy=policy,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    new_child(container, "resources")
    for port in children(container, "ports"):
        fill_empty(port, protocol="TCP")
        if host_network and not port.get("hostPort"):
            port["hostPort"] = port.get("containerPort")

    for variable in children(container, "env"):
        if source := child(variable, "valueFrom"):
            _default_field_reference(source)
            fill_absent(child(source, "fileKeyRef"), optional=False)

    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := child(container, key):
            default_probe(probe)
    for hook in ("postStart", "preStop"):
        _default_http(child(child(container, "lifecycle"), hook))


def default_pull_policy(image: Any) -> str:
    """Return the default pull policy: Always for the tag `latest` or no tag, else IfNotPresent."""
    if not isinstance(image, str) or why_not_image(image):
        # the server does the same for a reference that it cannot parse
        return "IfNotPresent"
    _, _, last = image.rpartition("/")
    moving = "@" not in last and (":" not in last or last.endswith(":latest"))
    return "Always" if moving else "IfNotPresent"


def default_probe(probe: ObjectFields) -> None:
    """Set the defaults of a probe."""
    for name, value in (
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ):
        if not probe.get(name):
            probe[name] = value

    _default_http(probe)
    fill_absent(child(probe, "grpc"), service="")


def _default_http(handler: ObjectFields) -> None:
    fill_empty(child(handler, "httpGet"), path="/", scheme="HTTP")


def _default_field_reference(source: ObjectFields) -> None:
    fill_empty(child(source, "fieldRef"), apiVersion="v1")
    fill_empty(child(source, "resourceFieldRef"), divisor="0")


def default_volume(volume: ObjectFields) -> None:
    """Set the defaults of a volume: one without a source is an empty directory."""
    if not any(value is not None for key, value in volume.items() if key != "name"):
        volume["emptyDir"] = {}
    for source, values in VOLUME_DEFAULTS.items():
        if source in volume:
            fill_absent(child(volume, source), **values)
    _default_downward_items(child(volume, "downwardAPI"))
    for projection in children(child(volume, "projected"), "sources"):
        _default_downward_items(child(projection, "downwardAPI"))
        fill_absent(child(projection, "serviceAccountToken"), expirationSeconds=3600)

    template = child(child(volume, "ephemeral"), "volumeClaimTemplate")
    if template:
        new_child(template, "metadata")
        default_claim_spec(new_child(template, "spec"))
    image = child(volume, "image")
    fill_empty(image, pullPolicy=default_pull_policy(image.get("reference")))


def _default_downward_items(source: ObjectFields) -> None:
    for item in children(source, "items"):
        _default_field_reference(item)


def default_claim_spec(spec: ObjectFields) -> None:
    """Set the defaults of a claim or of a template of claims."""
    fill_absent(spec, volumeMode="Filesystem")
    new_child(spec, "resources")
