"""The field rules of the kinds that stand beside training jobs, and the metadata of every other kind of the server.

The rules are those of the server's internal types: one function speaks of all versions of a kind. What a kind needs is
imported when one comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes import names
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Context
from ptcompile.validate.core.metadata import NameRule, check_generation, check_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Check = Callable[[Mapping[str, Any], Context, f.Found], None]

_RULES: Final[dict[tuple[str, str], str]] = {
    ("", "PersistentVolume"): "persistent_volume.check_persistent_volume",
    ("", "ResourceQuota"): "quota.check_quota",
    ("", "LimitRange"): "limit_range.check_limit_range",
    ("", "ReplicationController"): "replicas.check_replication_controller",
    ("", "PodTemplate"): "replicas.check_pod_template",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "custom_definition.check_custom_definition",
    ("apps", "Deployment"): "replicas.check_deployment",
    ("apps", "ReplicaSet"): "replicas.check_replica_set",
    ("apps", "DaemonSet"): "daemon_set.check_daemon_set",
    ("apps", "StatefulSet"): "stateful_set.check_stateful_set",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaler.check_autoscaler",
    ("batch", "CronJob"): "cron_job.check_cron_job",
    ("coordination.k8s.io", "Lease"): "lease.check_lease",
    ("networking.k8s.io", "Ingress"): "ingress.check_ingress",
    ("networking.k8s.io", "IngressClass"): "ingress.check_ingress_class",
    ("node.k8s.io", "RuntimeClass"): "runtime_class.check_runtime_class",
    ("policy", "PodDisruptionBudget"): "disruption.check_disruption_budget",
    ("rbac.authorization.k8s.io", "ClusterRole"): "roles.check_cluster_role",
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): "roles.check_cluster_role_binding",
    ("rbac.authorization.k8s.io", "Role"): "roles.check_role",
    ("rbac.authorization.k8s.io", "RoleBinding"): "roles.check_role_binding",
    ("resource.k8s.io", "DeviceClass"): "device_claims.check_device_class",
    ("resource.k8s.io", "ResourceClaim"): "device_claims.check_resource_claim",
    ("resource.k8s.io", "ResourceClaimTemplate"): "device_claims.check_resource_claim_template",
    ("scheduling.k8s.io", "PriorityClass"): "priority_class.check_priority_class",
    ("storage.k8s.io", "StorageClass"): "storage_class.check_storage_class",
    ("storage.k8s.io", "VolumeAttributesClass"): "storage_class.check_volume_attributes_class",
}
"""Module and function of each kind's rules, by API group and kind."""


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


def other_problems(manifest: Mapping[str, Any], context: Context) -> Iterator[Problem]:
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
    if kind in _RULES:
        module, _, function = _RULES[kind].partition(".")
        check: Check = getattr(import_module(f"ptcompile.validate.core.{module}"), function)
        check(manifest, context, found)
    return iter(found)
