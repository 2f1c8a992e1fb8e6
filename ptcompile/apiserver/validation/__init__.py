"""The API server's own field rules: the one table of built-in kinds.

The rules are those of the server's internal types: one function speaks of all versions of a kind. What a kind needs is
imported when one comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import (
    NameRule,
    check_finalizers,
    check_generation,
    check_metadata,
    metadata_problems,
)
from ptcompile.apiserver.validation.pod import check_pod_annotations, check_pod_spec, pod_spec
from ptcompile.apiserver.validation.values import why_not_path_segment
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    ObjectValidator = Callable[[Mapping[str, Any], ApiServer], Iterator[Problem]]
    KindCheck = Callable[[Mapping[str, Any], ApiServer, f.Problems], None]


__all__ = ["KINDS", "ApiServer", "metadata_problems", "pod_spec"]


def _pod(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    found: f.Problems = []
    meta, spec = manifest.get("metadata"), manifest.get("spec")
    check_metadata(meta, ("metadata",), found, names.why_not_dns_subdomain)
    check_pod_annotations(meta, spec, ("metadata",), found)
    check_pod_spec(spec, ("spec",), context, found, template=False)
    return iter(found)


def _job(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.job import check_job, check_job_pods

    found: f.Problems = []
    pods: f.Problems = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_job(manifest, context, found)
    check_job_pods(manifest, pods)
    yield from found
    yield from f.at_stage(pods, "pod")


def _counted(
    manifest: Mapping[str, Any],
    context: ApiServer,
    check: KindCheck,
    name_rule: NameRule = names.why_not_dns_subdomain,
) -> Iterator[Problem]:
    """Yield the problems of metadata, of one kind's own fields, and of a generation that a file may not set."""
    found: f.Problems = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, name_rule)
    check(manifest, context, found)
    check_generation(manifest, found)
    return iter(found)


def _service(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.service import check_service, why_not_service_name

    return _counted(manifest, context, check_service, lambda name: why_not_service_name(name, context))


def _config_map(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.config import check_config_map

    return _counted(manifest, context, check_config_map)


def _secret(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.config import check_secret

    return _counted(manifest, context, check_secret)


def _claim(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.volume_claims import check_claim

    return _counted(manifest, context, check_claim)


def _namespace(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    found: f.Problems = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_label)
    check_generation(manifest, found)
    check_finalizers(f.as_field_mapping(manifest.get("spec")).get("finalizers"), ("spec", "finalizers"), found)
    return iter(found)


def _network_policy(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.apiserver.validation.networking import check_network_policy

    found: f.Problems = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_network_policy(manifest, context, found)
    return iter(found)


KINDS: Final[dict[tuple[str, str], ObjectValidator]] = {
    ("v1", "Pod"): _pod,
    ("batch/v1", "Job"): _job,
    ("v1", "Service"): _service,
    ("v1", "ConfigMap"): _config_map,
    ("v1", "Secret"): _secret,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Namespace"): _namespace,
    ("networking.k8s.io/v1", "NetworkPolicy"): _network_policy,
}
"""The built-in kinds that are checked, by apiVersion and kind. For operators' kinds see `templates`."""


def _core() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.apps import check_pod_template, check_replication_controller
    from ptcompile.apiserver.validation.policy import check_limit_range, check_quota
    from ptcompile.apiserver.validation.storage import check_persistent_volume

    return {
        "PersistentVolume": check_persistent_volume,
        "ResourceQuota": check_quota,
        "LimitRange": check_limit_range,
        "ReplicationController": check_replication_controller,
        "PodTemplate": check_pod_template,
    }


def _apiextensions() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.crds.schema import check_custom_definition

    return {"CustomResourceDefinition": check_custom_definition}


def _apps() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.apps import (
        check_daemon_set,
        check_deployment,
        check_replica_set,
        check_stateful_set,
    )

    return {
        "Deployment": check_deployment,
        "ReplicaSet": check_replica_set,
        "DaemonSet": check_daemon_set,
        "StatefulSet": check_stateful_set,
    }


def _autoscaling() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.autoscaling import check_autoscaler

    return {"HorizontalPodAutoscaler": check_autoscaler}


def _batch() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cron_job import check_cron_job

    return {"CronJob": check_cron_job}


def _coordination() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_lease

    return {"Lease": check_lease}


def _networking() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.networking import check_ingress, check_ingress_class

    return {
        "Ingress": check_ingress,
        "IngressClass": check_ingress_class,
    }


def _node() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_runtime_class

    return {"RuntimeClass": check_runtime_class}


def _policy() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.policy import check_disruption_budget

    return {"PodDisruptionBudget": check_disruption_budget}


def _rbac() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.rbac import (
        check_cluster_role,
        check_cluster_role_binding,
        check_role,
        check_role_binding,
    )

    return {
        "ClusterRole": check_cluster_role,
        "ClusterRoleBinding": check_cluster_role_binding,
        "Role": check_role,
        "RoleBinding": check_role_binding,
    }


def _resource() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.devices import (
        check_device_class,
        check_resource_claim,
        check_resource_claim_template,
    )

    return {
        "DeviceClass": check_device_class,
        "ResourceClaim": check_resource_claim,
        "ResourceClaimTemplate": check_resource_claim_template,
    }


def _scheduling() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_priority_class

    return {"PriorityClass": check_priority_class}


def _storage() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.storage import check_storage_class, check_volume_attributes_class

    return {
        "StorageClass": check_storage_class,
        "VolumeAttributesClass": check_volume_attributes_class,
    }


_RULES: Final[dict[str, Callable[[], Mapping[str, KindCheck]]]] = {
    "": _core,
    "apiextensions.k8s.io": _apiextensions,
    "apps": _apps,
    "autoscaling": _autoscaling,
    "batch": _batch,
    "coordination.k8s.io": _coordination,
    "networking.k8s.io": _networking,
    "node.k8s.io": _node,
    "policy": _policy,
    "rbac.authorization.k8s.io": _rbac,
    "resource.k8s.io": _resource,
    "scheduling.k8s.io": _scheduling,
    "storage.k8s.io": _storage,
}
"""The checks of the kinds with rules, by API group; its modules are imported when an object of the group comes by."""


def _why_not_cron_job(name: str) -> str | None:
    why = names.why_not_dns_subdomain(name)
    if why is None and len(name) > 52:
        return "must be no more than 52 characters: eleven more make the name of a Job"
    return why


_NAMES: Final[dict[tuple[str, str], NameRule]] = {
    ("batch", "CronJob"): _why_not_cron_job,
    ("policy", "PodDisruptionBudget"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "ClusterRole"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "Role"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "RoleBinding"): why_not_path_segment,
    ("apiregistration.k8s.io", "APIService"): why_not_path_segment,
    ("networking.k8s.io", "IPAddress"): lambda name: None,
}
"""Kinds whose names are no DNS subdomains."""

_COUNTED: Final = frozenset(
    {"apps", "autoscaling", "batch", "networking.k8s.io", "policy", "resource.k8s.io", "admissionregistration.k8s.io"}
)
"""Groups for whose objects the server begins to count generations at 1."""

_NO_METADATA: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups whose objects are questions: they are answered and not kept, and need no name."""


def other_problems(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    """What the server answers to an object of a kind that is not part of a training job, its structure apart."""
    found: f.Problems = []
    kind = (str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind")))
    if kind[0] not in _NO_METADATA:
        rule = _NAMES.get(kind, names.why_not_dns_subdomain)
        if kind == ("apps", "StatefulSet") and context.at_least(36):
            rule = names.why_not_dns_label
        # Of a disruption budget's metadata only the generic layer looks, which lets any finalizer through.
        check_metadata(manifest.get("metadata"), ("metadata",), found, rule, kind[0] != "policy")
        if kind == ("", "LimitRange"):  # the server makes up a name
            found[:] = [
                problem for problem in found if problem.path != ("metadata", "name") or problem.name != "required-value"
            ]
    if kind[0] not in _COUNTED:
        check_generation(manifest, found)
    if kind[0] in _RULES and (check := _RULES[kind[0]]().get(kind[1])) is not None:
        check(manifest, context, found)
    return iter(found)
