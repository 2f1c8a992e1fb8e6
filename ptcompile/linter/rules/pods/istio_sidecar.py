"""A pod that trains gets the sidecar of a service mesh.

PTC825 istio-sidecar: warning at run (fails), by ptcompile.
Needs: istio/linkerd/@Namespace

What: a pod that should end has the label or annotation sidecar.istio.io/inject set to "true", or
the annotation linkerd.io/inject set to enabled; or its namespace asks for the sidecar in the same
stream, by istio-injection: enabled, istio.io/rev or linkerd.io/inject, and the pod does not opt
out. Annotations that keep all connections out of the proxy
(traffic.sidecar.istio.io/includeInboundPorts and includeOutboundIPRanges, both empty) are an
opt-out.

Why: the proxy intercepts the pod's connections: NCCL and Gloo do not speak HTTP and choose their
ports at random, so they break under mutual TLS. The sidecar of Cloud Storage FUSE asks the metadata
server before the proxy is ready, and the mount fails. Unless it is a native sidecar the proxy also
outlives the training, and the pod never ends; Linkerd's is one by default since 2.20.

Example: pod.yaml with

      metadata:
        name: train
        labels:
    -     sidecar.istio.io/inject: "true"  # <--
    +     sidecar.istio.io/inject: "false"

Fix: set the label to "false", or linkerd.io/inject to disabled.

Source: Istio 1.27, sidecar injection and annotations; GoogleCloudPlatform/gcs-fuse-csi-driver,
known issues; kubeflow/trainer issues 1585, 2327 and 2794; linkerd/linkerd2 pkg/inject (2026) and
issue 7425.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import (
    nested_map,
    nested_string,
    nested_string_map,
    nested_value,
)
from ptcompile.linter.claims import driver_of_volume
from ptcompile.linter.rule import Finding, Findings, Subject, fix_setting, found_at
from ptcompile.world.templates import ManifestTemplate

_NAMESPACE = ("v1", "Namespace")
_GCSFUSE = "gcsfuse.csi.storage.gke.io"
_METADATA_SERVER = "169.254.169.254"
_EXCLUDED = "traffic.sidecar.istio.io/excludeOutboundIPRanges"
_PROXIED = (
    "traffic.sidecar.istio.io/includeInboundPorts",
    "traffic.sidecar.istio.io/includeOutboundIPRanges",
)
"""Annotations that list what goes through the proxy; an empty list is nothing."""


class _Mesh(NamedTuple):
    """A service mesh: the keys that request its proxy, and the proxy's effect on pods."""

    title: str
    key: str
    places: list[str]
    """The maps of a pod's metadata that it reads, the best first."""
    on: list[str]
    off: str
    breaks: str
    stays: str


_MESHES = [_Mesh(**row) for row in load_table("linter/meshes.json")["meshes"]]


def check(subject: Subject) -> Findings:
    for mesh in _MESHES:
        request = _request_of_namespace(subject, mesh)
        for template in subject.templates:
            if not template.path and template.spec.get("restartPolicy") not in (
                "Never",
                "OnFailure",
            ):
                continue  # a Pod without a restartPolicy usually serves requests

            metadata = nested_map(template.data, "metadata")
            keys = [key for key in mesh.places if mesh.key in nested_map(metadata, key)]
            if all(nested_value(metadata, "annotations", key) == "" for key in _PROXIED):
                continue

            for key in keys:
                if nested_map(metadata, key)[mesh.key] in mesh.on:
                    path = (*template.path, "metadata", key, mesh.key)
                    title = f'set the {key.removesuffix("s")} to "{mesh.off}"'
                    fix = fix_setting(title, path, mesh.off)
                    text = f"{mesh.title} proxy {_harm(subject, template, mesh)}"
                    yield found_at(path, text, title, fix)

            if request and not keys and template.spec.get("hostNetwork") is not True:
                yield _opt_out(subject, template, mesh, request)


def _opt_out(subject: Subject, template: ManifestTemplate, mesh: _Mesh, request: str) -> Finding:
    """Return the finding of a template that says nothing about its namespace's proxy."""
    metadata = nested_map(template.data, "metadata")
    place = mesh.places[0]
    path = (*template.path, "metadata", place)
    opt_out = Edit("set", (*path, mesh.key), mesh.off)
    if place not in metadata:
        opt_out = Edit("set", path, {mesh.key: mesh.off})
        path = (*template.path, "metadata") if metadata else template.path
    harm = _harm(subject, template, mesh)
    reason = f"the namespace injects {mesh.title} proxy ({request}), which {harm}"
    kind = place.removesuffix("s")
    fix = Fix(f'set the {kind} to "{mesh.off}"', (opt_out,))
    help = f'set the {kind} {mesh.key} to "{mesh.off}" on the pods'

    return found_at(path, reason, help, fix, on_key=True)


def _harm(subject: Subject, template: ManifestTemplate, mesh: _Mesh) -> str:
    """Return what the proxy does to a pod."""
    drivers = [driver_of_volume(subject, volume) for _, volume in template.volumes.values()]
    excluded = nested_string(template.data, "metadata", "annotations", _EXCLUDED)
    if _GCSFUSE in drivers and _METADATA_SERVER not in excluded:
        return (
            "keeps the sidecar of Cloud Storage FUSE from the metadata server: the bucket is not "
            "mounted"
        )
    if subject.job is not None and subject.job.size == 1:
        return f"intercepts all connections of the pod, and {mesh.stays}"
    return f"{mesh.breaks}, and {mesh.stays}"


def _request_of_namespace(subject: Subject, mesh: _Mesh) -> str:
    """Return the label or annotation with which the pods' namespace requests the sidecar, or "".

    The meshes skip pods on their node's network. A revision counts unless istio-injection disables
    it.
    """
    namespaces = subject.objects.by_name(_NAMESPACE, subject.namespace)
    metadata = nested_map(namespaces[-1], "metadata") if namespaces else {}
    setting = nested_string_map(metadata, "annotations").get(mesh.key)
    if setting in mesh.on and "labels" not in mesh.places:
        return f"{mesh.key}: {setting}"

    labels = nested_string_map(metadata, "labels") if "labels" in mesh.places else {}
    if labels.get("istio-injection") == "enabled":
        return "istio-injection: enabled"

    revision = labels.get("istio.io/rev")
    if revision and "istio-injection" not in labels:
        return f"istio.io/rev: {revision}"

    return ""
