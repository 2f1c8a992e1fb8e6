"""A pod that trains gets Istio's sidecar.

What: a pod that should end has the label or annotation sidecar.istio.io/inject set to "true"; or its namespace has the
label istio-injection: enabled or istio.io/rev in the same stream, and the pod does not opt out. Annotations that keep
all connections out of the proxy (traffic.sidecar.istio.io/includeInboundPorts and includeOutboundIPRanges, both empty)
are an opt-out.

Why: the proxy intercepts the pod's connections: NCCL and Gloo do not speak HTTP and choose their ports at random, so
they break under mutual TLS. The sidecar of Cloud Storage FUSE asks the metadata server before the proxy is ready, and
the mount fails. Unless it is a native sidecar the proxy also outlives the training, and the pod never ends.

Example:

      apiVersion: v1
      kind: Pod
      metadata:
        name: train
        labels:
    -     sidecar.istio.io/inject: "true"  # <--
    +     sidecar.istio.io/inject: "false"
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: set the label to "false".

Source: Istio 1.27, sidecar injection and annotations; GoogleCloudPlatform/gcs-fuse-csi-driver, known issues;
kubeflow/trainer issues 1585, 2327 and 2794.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_string, nested_map, string_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.rules.pods.missing_sidecar_annotation import find_driver
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_KEY: Final = "sidecar.istio.io/inject"
_NAMESPACE: Final = ("v1", "Namespace")
_GCSFUSE: Final = "gcsfuse.csi.storage.gke.io"
_METADATA_SERVER: Final = "169.254.169.254"
_EXCLUDED: Final = "traffic.sidecar.istio.io/excludeOutboundIPRanges"
_PROXIED: Final = (
    "traffic.sidecar.istio.io/includeInboundPorts",
    "traffic.sidecar.istio.io/includeOutboundIPRanges",
)
"""Annotations that list what goes through the proxy; an empty list is nothing."""
_TITLE: Final = 'set the label to "false"'


def _check(subject: Subject) -> Iterator[Finding]:
    label = _injecting_label(subject)
    for template in subject.templates:
        if not template.path and template.spec.get("restartPolicy") not in ("Never", "OnFailure"):
            continue  # a Pod without a restartPolicy usually serves requests
        metadata = nested_map(template.data, "metadata")
        keys = [key for key in ("labels", "annotations") if _KEY in nested_map(metadata, key)]
        if all(nested_map(metadata, "annotations").get(key) == "" for key in _PROXIED):
            continue

        for key in keys:
            if nested_map(metadata, key)[_KEY] == "true":
                path = (*template.path, "metadata", key, _KEY)
                text = f"Istio's proxy {_harm(subject, template)}"
                yield found_at(path, text, _TITLE, Fix(_TITLE, (Edit("set", path, "false"),), safe=False))
        if label and not keys and template.spec.get("hostNetwork") is not True:
            path = (*template.path, "metadata", "labels")
            opt_out = Edit("set", (*path, _KEY), "false")
            if "labels" not in metadata:
                opt_out = Edit("set", path, {_KEY: "false"})
                path = (*template.path, "metadata") if metadata else template.path
            reason = f"the namespace injects Istio's proxy ({label}), which {_harm(subject, template)}"
            help = f'set the label {_KEY} to "false" on the pods'
            yield found_at(path, reason, help, Fix(_TITLE, (opt_out,), safe=False), on_key=True)


def _harm(subject: Subject, template: ManifestTemplate) -> str:
    """Return what the proxy does to a pod."""
    drivers = [find_driver(subject, path, volume)[1] for path, volume in template.volumes.values()]
    excluded = as_string(nested_map(template.data, "metadata", "annotations").get(_EXCLUDED))
    if _GCSFUSE in drivers and _METADATA_SERVER not in excluded:
        return "keeps the sidecar of Cloud Storage FUSE from the metadata server: the bucket is not mounted"
    if subject.job is not None and subject.job.size == 1:
        return "intercepts all connections of the pod, and may outlive the training"
    return "breaks the connections of NCCL and Gloo, and may outlive the training"


def _injecting_label(subject: Subject) -> str:
    """Return the label with which the pods' namespace requests Istio's sidecar, or "" if it does not.

    Istio skips pods on their node's network. A revision counts unless istio-injection disables it.
    """
    namespaces = subject.objects.by_name(_NAMESPACE, subject.namespace)
    labels = string_map(nested_map(namespaces[-1], "metadata").get("labels")) if namespaces else {}
    if labels.get("istio-injection") == "enabled":
        return "istio-injection: enabled"
    revision = labels.get("istio.io/rev")
    return f"istio.io/rev: {revision}" if revision and "istio-injection" not in labels else ""


RULE = Rule("istio-sidecar", _check, severity="warning", stage="run", authority="ptcompile")
