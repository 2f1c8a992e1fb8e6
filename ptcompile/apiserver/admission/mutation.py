"""What the admission plugins of the API server write into new objects, in the server's order
(Kubernetes 1.36).

These are the plugins that are on by default. They read the classes and ranges of the cluster among
the other objects of the files. The token volume that ServiceAccount adds has a random name and
stays absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptcompile.apiserver.admission.limit_range import limits_of, with_container_defaults
from ptcompile.apiserver.admission.priority import with_class
from ptcompile.apiserver.admission.request import ClusterState, Request
from ptcompile.apiserver.defaulting.built_in import CREATION_CHANGES
from ptcompile.apiserver.defaulting.decoding import with_defaults
from ptcompile.apiserver.defaulting.fields import (
    child,
    children,
    fill_absent,
    fill_empty,
    new_child,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_list,
    as_string,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.defaulting.fields import ObjectFields

    MutatingPlugin = Callable[[ObjectFields, ClusterState], ObjectFields]
    """Changes a new object in place and returns it; the second argument has the objects of the
    cluster.
    """


def set_limit_ranges(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Fill in the requests and limits of containers from the LimitRanges of the namespace
    (LimitRanger).
    """
    limits = limits_of(namespace_of(pod), state)
    if limits is None:
        return pod

    before = child(pod, "spec")
    pod["spec"] = with_container_defaults(before, limits)
    notes = list(_limit_notes(before, pod["spec"]))
    if notes:
        written = new_child(new_child(pod, "metadata"), "annotations")
        written["kubernetes.io/limit-ranger"] = f"LimitRanger plugin set: {'; '.join(notes)}"

    return pod


def _limit_notes(before: Json, after: Json) -> Iterator[str]:
    """Yield what LimitRanger writes about each container that it changes."""
    for key, title in (("initContainers", "init container"), ("containers", "container")):
        pairs = zip(nested_maps(before, key), nested_maps(after, key), strict=True)
        for old, new in pairs:
            for section, word in (("requests", "request"), ("limits", "limit")):
                names = (
                    nested_map(new, "resources", section).keys()
                    - nested_map(old, "resources", section).keys()
                )
                if names:
                    yield f"{', '.join(sorted(names))} {word} for {title} {new.get('name')}"


def set_service_account(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Name the service account, and use its pull secrets (ServiceAccount)."""
    spec = new_child(pod, "spec")
    fill_empty(spec, serviceAccountName="default")
    spec["serviceAccount"] = spec["serviceAccountName"]
    accounts = state.objects.in_namespace(namespace_of(pod)).by_name(
        ("v1", "ServiceAccount"), as_string(spec["serviceAccountName"])
    )
    secrets = nested_maps(accounts[0], "imagePullSecrets") if accounts else []
    if secrets and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{**secret} for secret in secrets]

    return pod


def set_priority(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Set the priority and the preemption policy of the pod's class, or of the default class
    (Priority).

    The priority of a class that no file shows stays absent.
    """
    return {**with_class(Request(pod), state).object}


def set_node_tolerations(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Tolerate a node that is not ready or unreachable for five minutes
    (DefaultTolerationSeconds).
    """
    del state
    spec = new_child(pod, "spec")
    tolerations = children(spec, "tolerations")
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(
            item.get("key") in (key, None, "") and item.get("effect") in ("NoExecute", None, "")
            for item in tolerations
        ):
            seconds = {"effect": "NoExecute", "tolerationSeconds": 300}
            spec["tolerations"] = [
                *children(spec, "tolerations"),
                {"key": key, "operator": "Exists", **seconds},
            ]

    return pod


def set_runtime_class(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Set the overhead and the scheduling of the pod's RuntimeClass (RuntimeClass)."""
    spec = new_child(pod, "spec")
    name = nested_string(spec, "runtimeClassName")
    if not name:
        return pod

    for runtime_class in state.objects.by_name(("node.k8s.io/v1", "RuntimeClass"), name):
        overhead = nested_map(runtime_class, "overhead", "podFixed")
        scheduling = nested_map(runtime_class, "scheduling")
        if overhead:
            spec["overhead"] = {**overhead}
        if labels := nested_string_map(scheduling, "nodeSelector"):
            spec["nodeSelector"] = {**labels, **child(spec, "nodeSelector")}
        present = children(spec, "tolerations")
        new = [{**item} for item in nested_maps(scheduling, "tolerations") if item not in present]
        if new:
            spec["tolerations"] = [*present, *new]

    return pod


def set_platform_fields(pod: ObjectFields, state: ClusterState) -> ObjectFields:
    """Fill in what the webhooks of the profile's platform set."""
    if state.versions.platform is None:
        return pod
    from ptcompile.apiserver.admission.platforms import with_platform_fields

    return with_platform_fields(pod, state, state.versions.platform)


def protect_storage(manifest: ObjectFields, state: ClusterState) -> ObjectFields:
    """Keep a volume or claim while it is in use (StorageObjectInUseProtection)."""
    del state
    metadata = new_child(manifest, "metadata")
    if manifest["kind"] == "PersistentVolume":
        finalizer = "kubernetes.io/pv-protection"
    else:
        finalizer = "kubernetes.io/pvc-protection"

    present = as_list(metadata.get("finalizers"))
    if finalizer not in present:
        metadata["finalizers"] = [*present, finalizer]

    return manifest


def set_storage_class(claim: ObjectFields, state: ClusterState) -> ObjectFields:
    """Use the default StorageClass (DefaultStorageClass)."""
    name = _default_class(
        state, ("storage.k8s.io/v1", "StorageClass"), "storageclass.kubernetes.io/is-default-class"
    )
    return _with_class(claim, "storageClassName", name, "volume.beta.kubernetes.io/storage-class")


def set_ingress_class(ingress: ObjectFields, state: ClusterState) -> ObjectFields:
    """Use the default IngressClass (DefaultIngressClass)."""
    name = _default_class(
        state,
        ("networking.k8s.io/v1", "IngressClass"),
        "ingressclass.kubernetes.io/is-default-class",
    )
    return _with_class(ingress, "ingressClassName", name, "kubernetes.io/ingress.class")


def _default_class(state: ClusterState, kind: tuple[str, str], annotation: str) -> str:
    """Return the name of the only class that is marked as the default, or "" """
    names = {
        object_name(item)
        for item in state.objects.of_kind(kind)
        if nested_string_map(item, "metadata", "annotations").get(annotation) == "true"
    }
    return names.pop() if len(names) == 1 else ""


def _with_class(manifest: ObjectFields, field: str, name: str, annotation: str) -> ObjectFields:
    """Set the class of an object that has none, neither in the field nor in the annotation."""
    if name and annotation not in nested_map(manifest, "metadata", "annotations"):
        fill_absent(new_child(manifest, "spec"), **{field: name})
    return manifest


_POD = ("v1", "Pod")
_CLAIM = ("v1", "PersistentVolumeClaim")

_PLUGINS: tuple[tuple[str, tuple[str, str], MutatingPlugin], ...] = (
    ("LimitRanger", _POD, set_limit_ranges),
    ("ServiceAccount", _POD, set_service_account),
    ("Priority", _POD, set_priority),
    ("DefaultTolerationSeconds", _POD, set_node_tolerations),
    ("DefaultStorageClass", _CLAIM, set_storage_class),
    ("StorageObjectInUseProtection", _CLAIM, protect_storage),
    ("StorageObjectInUseProtection", ("v1", "PersistentVolume"), protect_storage),
    ("RuntimeClass", _POD, set_runtime_class),
    ("platform webhook", _POD, set_platform_fields),
    ("DefaultIngressClass", ("networking.k8s.io/v1", "Ingress"), set_ingress_class),
)
"""The plugins that change objects at creation, in the server's order, each with its kind."""


def plugins_of(kind: tuple[str, str]) -> Iterator[tuple[str, MutatingPlugin]]:
    """Yield the name and the function of each plugin for a kind, in order."""
    yield from ((name, mutate) for name, plugin_kind, mutate in _PLUGINS if plugin_kind == kind)


def admitted(manifest: Json, state: ClusterState) -> JsonDict:
    """Return a new object as validating plugins see it: with its defaults, and with what the server
    and the mutating plugins write. Accepts any data; never raises.
    """
    kind = kind_of(manifest)
    current = with_defaults(manifest, state.definitions)
    plugins = [mutate for _, mutate in plugins_of(kind)]
    if not plugins and kind not in CREATION_CHANGES:
        return current

    if kind in CREATION_CHANGES:
        CREATION_CHANGES[kind](current)
    for mutate in plugins:
        current = mutate(current, state)

    return with_defaults(current, state.definitions)
