"""Warnings about PersistentVolumes, claims, storage classes and CSI objects.

Source: Kubernetes 1.36, pkg/api/persistentvolume/util.go, pkg/api/persistentvolumeclaim/util.go,
pkg/api/storage/util.go; pkg/registry/storage/csidriver/strategy.go.
"""

from __future__ import annotations

from ptcompile.apiserver.warnings.header import deprecated, warning
from ptcompile.apiserver.warnings.pods import deprecated_label_text, node_label_warnings
from ptcompile.apiserver.warnings.volumes import claim_warnings, removed_volume_warnings
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import indexed_mappings
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_RECYCLE = (
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use "
    "dynamic provisioning."
)
_TOKENS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
    "prevent possible "
    "logging of tokens in volume attributes"
)


def _class_annotation_warnings(manifest: Json) -> Problems:
    if nested_value(manifest, "metadata", "annotations", _CLASS_ANNOTATION) is not None:
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        yield deprecated(
            ("metadata", "annotations", _CLASS_ANNOTATION), text, "set spec.storageClassName"
        )


def persistent_volume_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about a PersistentVolume."""
    spec = nested_map(manifest, "spec")
    yield from _class_annotation_warnings(manifest)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield deprecated(
            ("spec", "persistentVolumeReclaimPolicy"), _RECYCLE, "use Delete or Retain"
        )

    terms_path = ("spec", "nodeAffinity", "required", "nodeSelectorTerms")
    for index, term in indexed_mappings(
        nested_value(spec, "nodeAffinity", "required", "nodeSelectorTerms")
    ):
        yield from node_label_warnings(term, (*terms_path, index))

    yield from removed_volume_warnings(spec, ("spec",))


def claim_object_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about a PersistentVolumeClaim."""
    yield from _class_annotation_warnings(manifest)
    yield from claim_warnings(nested_map(manifest, "spec"), ("spec",))


def storage_class_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about the topologies of a StorageClass."""
    for index, topology in indexed_mappings(manifest.get("allowedTopologies")):
        for number, expression in indexed_mappings(topology.get("matchLabelExpressions")):
            if text := deprecated_label_text(expression.get("key")):
                path = ("allowedTopologies", index, "matchLabelExpressions", number, "key")
                yield deprecated(path, text, "use the new label")


def storage_capacity_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about the topology of a CSIStorageCapacity."""
    topology = nested_map(manifest, "nodeTopology")
    yield from node_label_warnings(topology, ("nodeTopology",))
    for label in nested_map(topology, "matchLabels"):
        if text := deprecated_label_text(label):
            path = ("nodeTopology", "matchLabels", label)
            yield deprecated(
                path, text, "use the new label", field=f"nodeTopology.matchLabels.{label}"
            )


def csi_driver_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning if a CSIDriver gets tokens in its volume attributes (Kubernetes 1.35 and
    later).
    """
    spec = nested_map(manifest, "spec")
    if (
        server.at_least(35)
        and spec.get("tokenRequests")
        and spec.get("serviceAccountTokenInSecrets") is None
    ):
        help = "set serviceAccountTokenInSecrets to what the driver supports"
        yield warning("discouraged-value", ("spec", "tokenRequests"), _TOKENS, help, field="")
