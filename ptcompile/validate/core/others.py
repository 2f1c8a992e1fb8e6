"""The field rules of the kinds that stand beside training jobs, and the metadata of every other kind of the server.

The rules are those of the server's internal types: one function speaks of all versions of a kind. What a kind needs is
imported when one comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import NameRule, check_generation, check_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Check = Callable[[Mapping[str, Any], ApiServer, f.Found], None]


def _core() -> Mapping[str, Check]:
    from ptcompile.validate.core.limit_range import check_limit_range
    from ptcompile.validate.core.persistent_volume import check_persistent_volume
    from ptcompile.validate.core.quota import check_quota
    from ptcompile.validate.core.replicas import check_pod_template, check_replication_controller

    return {
        "PersistentVolume": check_persistent_volume,
        "ResourceQuota": check_quota,
        "LimitRange": check_limit_range,
        "ReplicationController": check_replication_controller,
        "PodTemplate": check_pod_template,
    }


def _apiextensions() -> Mapping[str, Check]:
    from ptcompile.validate.core.custom_definition import check_custom_definition

    return {"CustomResourceDefinition": check_custom_definition}


def _apps() -> Mapping[str, Check]:
    from ptcompile.validate.core.daemon_set import check_daemon_set
    from ptcompile.validate.core.replicas import check_deployment, check_replica_set
    from ptcompile.validate.core.stateful_set import check_stateful_set

    return {
        "Deployment": check_deployment,
        "ReplicaSet": check_replica_set,
        "DaemonSet": check_daemon_set,
        "StatefulSet": check_stateful_set,
    }


def _autoscaling() -> Mapping[str, Check]:
    from ptcompile.validate.core.autoscaler import check_autoscaler

    return {"HorizontalPodAutoscaler": check_autoscaler}


def _batch() -> Mapping[str, Check]:
    from ptcompile.validate.core.cron_job import check_cron_job

    return {"CronJob": check_cron_job}


def _coordination() -> Mapping[str, Check]:
    from ptcompile.validate.core.lease import check_lease

    return {"Lease": check_lease}


def _networking() -> Mapping[str, Check]:
    from ptcompile.validate.core.ingress import check_ingress, check_ingress_class

    return {
        "Ingress": check_ingress,
        "IngressClass": check_ingress_class,
    }


def _node() -> Mapping[str, Check]:
    from ptcompile.validate.core.runtime_class import check_runtime_class

    return {"RuntimeClass": check_runtime_class}


def _policy() -> Mapping[str, Check]:
    from ptcompile.validate.core.disruption import check_disruption_budget

    return {"PodDisruptionBudget": check_disruption_budget}


def _rbac() -> Mapping[str, Check]:
    from ptcompile.validate.core.roles import (
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


def _resource() -> Mapping[str, Check]:
    from ptcompile.validate.core.device_claims import (
        check_device_class,
        check_resource_claim,
        check_resource_claim_template,
    )

    return {
        "DeviceClass": check_device_class,
        "ResourceClaim": check_resource_claim,
        "ResourceClaimTemplate": check_resource_claim_template,
    }


def _scheduling() -> Mapping[str, Check]:
    from ptcompile.validate.core.priority_class import check_priority_class

    return {"PriorityClass": check_priority_class}


def _storage() -> Mapping[str, Check]:
    from ptcompile.validate.core.storage_class import check_storage_class, check_volume_attributes_class

    return {
        "StorageClass": check_storage_class,
        "VolumeAttributesClass": check_volume_attributes_class,
    }


_RULES: Final[dict[str, Callable[[], Mapping[str, Check]]]] = {
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


def why_not_path_segment(name: str) -> str | None:
    """Why a text cannot be one part of a path: what names of RBAC's objects are held to."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    for character in "/%":
        if character in name:
            return f"may not contain '{character}'"
    return None


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
    found: f.Found = []
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
