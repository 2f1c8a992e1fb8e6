"""The API server's own field rules, in one table of built-in kinds.

The rules are those of the server's internal types, so one function covers all versions of a kind. The modules of a kind
are imported when the first object of its API group is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.apiserver.validation.dns import why_not_canonical_ip
from ptcompile.apiserver.validation.metadata import (
    check_generation,
    check_metadata,
    check_namespace,
    check_own_namespace,
    metadata_problems,
)
from ptcompile.apiserver.validation.values import service_name_rule, why_not_path_segment
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

    KindCheck = Callable[[Json, ApiServer, FieldErrors], None]


__all__ = ["KINDS", "ApiServer", "built_in_problems", "has_field_rules", "metadata_problems"]


def _pod_check() -> KindCheck:
    from ptcompile.apiserver.validation.pod import check_pod

    return check_pod


def _job_check() -> KindCheck:
    from ptcompile.apiserver.validation.job import check_job

    return check_job


def _service_check() -> KindCheck:
    from ptcompile.apiserver.validation.service import check_service

    return check_service


def _config_map_check() -> KindCheck:
    from ptcompile.apiserver.validation.config import check_config_map

    return check_config_map


def _secret_check() -> KindCheck:
    from ptcompile.apiserver.validation.config import check_secret

    return check_secret


def _claim_check() -> KindCheck:
    from ptcompile.apiserver.validation.volume_claims import check_claim

    return check_claim


def _network_policy_check() -> KindCheck:
    from ptcompile.apiserver.validation.networking import check_network_policy

    return check_network_policy


KINDS: dict[tuple[str, str], Callable[[], KindCheck]] = {
    ("", "Pod"): _pod_check,
    ("batch", "Job"): _job_check,
    ("", "Service"): _service_check,
    ("", "ConfigMap"): _config_map_check,
    ("", "Secret"): _secret_check,
    ("", "PersistentVolumeClaim"): _claim_check,
    ("", "Namespace"): lambda: check_namespace,
    ("networking.k8s.io", "NetworkPolicy"): _network_policy_check,
}
"""Loaders of the checks of the kinds that come with training jobs, keyed by API group and kind: each imports one
module. `templates` covers the operators' kinds.
"""


def _core_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.apps import check_pod_template, check_replication_controller
    from ptcompile.apiserver.validation.cluster import check_event, check_node
    from ptcompile.apiserver.validation.policy import check_limit_range, check_quota
    from ptcompile.apiserver.validation.service import check_endpoints
    from ptcompile.apiserver.validation.storage import check_persistent_volume

    return {
        "PersistentVolume": check_persistent_volume,
        "ResourceQuota": check_quota,
        "LimitRange": check_limit_range,
        "ReplicationController": check_replication_controller,
        "PodTemplate": check_pod_template,
        "Endpoints": check_endpoints,
        "Event": check_event,
        "Node": check_node,
    }


def _admission_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.admission_policies import check_mutating_policy, check_validating_policy
    from ptcompile.apiserver.validation.admission_registration import (
        check_mutating_binding,
        check_mutating_webhooks,
        check_validating_binding,
        check_validating_webhooks,
    )

    return {
        "MutatingAdmissionPolicy": check_mutating_policy,
        "MutatingAdmissionPolicyBinding": check_mutating_binding,
        "MutatingWebhookConfiguration": check_mutating_webhooks,
        "ValidatingAdmissionPolicy": check_validating_policy,
        "ValidatingAdmissionPolicyBinding": check_validating_binding,
        "ValidatingWebhookConfiguration": check_validating_webhooks,
    }


def _apiextensions_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.api_extensions import check_custom_definition

    return {"CustomResourceDefinition": check_custom_definition}


def _apiregistration_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_api_service

    return {"APIService": check_api_service}


def _apps_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.apps import (
        check_controller_revision,
        check_daemon_set,
        check_deployment,
        check_replica_set,
        check_stateful_set,
    )

    return {
        "ControllerRevision": check_controller_revision,
        "Deployment": check_deployment,
        "ReplicaSet": check_replica_set,
        "DaemonSet": check_daemon_set,
        "StatefulSet": check_stateful_set,
    }


def _autoscaling_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.autoscaling import check_autoscaler

    return {"HorizontalPodAutoscaler": check_autoscaler}


def _batch_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cron_job import check_cron_job

    return {"CronJob": check_cron_job}


def _coordination_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_lease

    return {"Lease": check_lease}


def _events_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_event

    return {"Event": check_event}


def _flowcontrol_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.flow_control import check_flow_schema, check_priority_level

    return {"FlowSchema": check_flow_schema, "PriorityLevelConfiguration": check_priority_level}


def _networking_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.networking import (
        check_ingress,
        check_ingress_class,
        check_ip_address,
        check_service_cidr,
    )

    return {
        "IPAddress": check_ip_address,
        "ServiceCIDR": check_service_cidr,
        "Ingress": check_ingress,
        "IngressClass": check_ingress_class,
    }


def _node_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_runtime_class

    return {"RuntimeClass": check_runtime_class}


def _policy_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.policy import check_disruption_budget

    return {"PodDisruptionBudget": check_disruption_budget}


def _rbac_checks() -> Mapping[str, KindCheck]:
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


def _resource_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.devices import (
        check_device_class,
        check_device_taint_rule,
        check_resource_claim,
        check_resource_claim_template,
    )

    return {
        "DeviceTaintRule": check_device_taint_rule,
        "DeviceClass": check_device_class,
        "ResourceClaim": check_resource_claim,
        "ResourceClaimTemplate": check_resource_claim_template,
    }


def _scheduling_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.cluster import check_priority_class
    from ptcompile.apiserver.validation.pod_groups import check_pod_group, check_workload

    return {"PriorityClass": check_priority_class, "PodGroup": check_pod_group, "Workload": check_workload}


def _storage_checks() -> Mapping[str, KindCheck]:
    from ptcompile.apiserver.validation.csi import check_csi_driver, check_volume_attachment
    from ptcompile.apiserver.validation.storage import check_storage_class, check_volume_attributes_class

    return {
        "StorageClass": check_storage_class,
        "VolumeAttributesClass": check_volume_attributes_class,
        "CSIDriver": check_csi_driver,
        "VolumeAttachment": check_volume_attachment,
    }


_CHECKS_BY_GROUP: dict[str, Callable[[], Mapping[str, KindCheck]]] = {
    "": _core_checks,
    "admissionregistration.k8s.io": _admission_checks,
    "apiextensions.k8s.io": _apiextensions_checks,
    "apiregistration.k8s.io": _apiregistration_checks,
    "apps": _apps_checks,
    "autoscaling": _autoscaling_checks,
    "batch": _batch_checks,
    "coordination.k8s.io": _coordination_checks,
    "events.k8s.io": _events_checks,
    "flowcontrol.apiserver.k8s.io": _flowcontrol_checks,
    "networking.k8s.io": _networking_checks,
    "node.k8s.io": _node_checks,
    "policy": _policy_checks,
    "rbac.authorization.k8s.io": _rbac_checks,
    "resource.k8s.io": _resource_checks,
    "scheduling.k8s.io": _scheduling_checks,
    "storage.k8s.io": _storage_checks,
}
"""Loaders of the checks per kind, keyed by API group. A loader imports its modules when it is called.

Kinds that only controllers and kubelets write are not among them: CertificateSigningRequest, CSINode,
CSIStorageCapacity, EndpointSlice and ResourceSlice. Their structure and metadata are checked, which a note says.
"""


def _check_of(kind: tuple[str, str]) -> KindCheck | None:
    if kind in KINDS:
        return KINDS[kind]()
    return _CHECKS_BY_GROUP[kind[0]]().get(kind[1]) if kind[0] in _CHECKS_BY_GROUP else None


_METADATA_ALONE = frozenset({("", "ServiceAccount")})
"""Kinds of which the server validates metadata alone, by API group and kind."""

_OLDER_MODELS = frozenset({"resource.k8s.io/v1alpha2"})
"""apiVersions whose kinds have other fields than the later ones that the checks are about."""


def has_field_rules(kind: GroupVersionKind) -> bool:
    """Return whether objects of a built-in kind are checked by the server's field rules, not only by structure and
    metadata.
    """
    unversioned = kind[0].rpartition("/")[0], kind[1]
    if unversioned in _METADATA_ALONE:
        return True
    return kind[0] not in _OLDER_MODELS and _check_of(unversioned) is not None


def _why_not_cron_job(name: str) -> str | None:
    why = names.why_not_dns_subdomain(name)
    if why is None and len(name) > 52:
        return "must be no more than 52 characters: eleven more make the name of a Job"
    return why


_NAME_RULES: dict[tuple[str, str], TextRule] = {
    ("batch", "CronJob"): _why_not_cron_job,
    ("policy", "PodDisruptionBudget"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "ClusterRole"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "Role"): why_not_path_segment,
    ("rbac.authorization.k8s.io", "RoleBinding"): why_not_path_segment,
    ("apiregistration.k8s.io", "APIService"): why_not_path_segment,
    ("", "Event"): why_not_path_segment,
    ("", "Namespace"): names.why_not_dns_label,
    ("certificates.k8s.io", "CertificateSigningRequest"): why_not_path_segment,
    ("networking.k8s.io", "IPAddress"): why_not_canonical_ip,
}
"""Name rules of kinds whose names need not be DNS subdomains."""

_FREE_FINALIZER_GROUPS = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "policy",
    }
)
"""API groups whose finalizers need no domain: only the generic layer checks them, as it does those of CRDs."""

_FREE_FINALIZER_KINDS = frozenset({("", "Event")})
"""Further kinds whose finalizers need no domain."""

_GENERATION_GROUPS = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "networking.k8s.io",
        "policy",
        "resource.k8s.io",
    }
)
"""API groups whose objects the server starts at generation 1 regardless of the file."""

_REVIEW_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""API groups of review objects: the server answers them without storing them, so they need no name."""


def built_in_problems(manifest: Json, context: ApiServer) -> Problems:
    """Yield the field problems of a built-in kind. The structure is checked elsewhere."""
    problems = FieldErrors()
    kind = (str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind")))
    if kind[0] not in _REVIEW_GROUPS:
        rule = _NAME_RULES.get(kind, names.why_not_dns_subdomain)
        if kind == ("apps", "StatefulSet") and context.at_least(36):
            rule = names.why_not_dns_label
        elif kind == ("", "Service"):
            rule = service_name_rule(context)
        plain_finalizers = kind[0] in _FREE_FINALIZER_GROUPS or kind in _FREE_FINALIZER_KINDS
        check_metadata(manifest.get("metadata"), ("metadata",), problems, rule, not plain_finalizers)
        if kind[1] != "Event":  # of an Event the server compares it with the object's
            check_own_namespace(manifest, problems)
        if kind == ("", "LimitRange"):  # the server generates a name
            problems[:] = [
                problem
                for problem in problems
                if problem.path != ("metadata", "name") or problem.name != "required-value"
            ]
    if kind != ("", "Pod") and (kind[0] not in _GENERATION_GROUPS or kind == ("apps", "ControllerRevision")):
        check_generation(manifest, problems)
    if (check := _check_of(kind)) is not None:
        check(manifest, context, problems)
    return iter(problems)
