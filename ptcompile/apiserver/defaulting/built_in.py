"""Defaults of Kubernetes' own kinds (1.36): one function per kind, called by the table at the end.

Source: `pkg/apis/*/v1/defaults.go`, `zz_generated.defaults.go`, and the strategies in
`pkg/registry` that fill in fields before an object is stored. Values that differ from cluster to
cluster, such as the addresses of a Service, stay absent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from ptcompile.apiserver.defaulting.fields import (
    child,
    children,
    fill_absent,
    fill_empty,
    new_child,
)
from ptcompile.apiserver.defaulting.pods import (
    default_claim_spec,
    default_pod,
    default_template,
    default_volume,
)
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, string_map, without_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.defaulting.fields import ObjectFields

    Changes = dict[tuple[str, str], Callable[[ObjectFields], None]]
    """Functions that change objects in place, by apiVersion and kind."""

DEFAULT_SERVER = ApiServer()

_RBAC = "rbac.authorization.k8s.io"


def default_job_spec(spec: ObjectFields) -> None:
    """Set the defaults of a Job's spec."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    without_indexes = spec.get("backoffLimitPerIndex") is None
    replacement = "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed"
    fill_absent(
        spec,
        parallelism=1,
        backoffLimit=6 if without_indexes else 2**31 - 1,
        suspend=False,
        completionMode="NonIndexed",
        manualSelector=False,
        podReplacementPolicy=replacement,
    )
    _default_job_template(spec)


def _default_job_template(spec: ObjectFields) -> None:
    """Set the defaults that Jobs and the templates of CronJobs share."""
    for rule in children(child(spec, "podFailurePolicy"), "rules"):
        for pattern in children(rule, "onPodConditions"):
            fill_empty(pattern, status="True")
    default_template(spec)


def _default_job(job: ObjectFields) -> None:
    spec = new_child(job, "spec")
    metadata = new_child(job, "metadata")
    default_job_spec(spec)
    labels = nested_map(spec, "template", "metadata", "labels")
    if labels and not metadata.get("labels"):
        metadata["labels"] = {**labels}


def _prepare_job(job: ObjectFields) -> None:
    """Label the pods with the name of the Job, unless the user selects them."""
    spec = child(job, "spec")
    metadata = child(job, "metadata")
    template = child(spec, "template")
    name = metadata.get("name")
    if name and template and spec.get("manualSelector") is not True:
        labels = new_child(new_child(template, "metadata"), "labels")
        # defaults gave the Job the labels of its pods
        shared = child(metadata, "labels") == labels
        fill_absent(labels, **{"batch.kubernetes.io/job-name": name, "job-name": name})
        if shared:
            metadata["labels"] = {**labels}


def _default_cron_job(cron_job: ObjectFields) -> None:
    spec = new_child(cron_job, "spec")
    fill_empty(spec, concurrencyPolicy="Allow")
    fill_absent(spec, suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    template = new_child(spec, "jobTemplate")
    new_child(template, "metadata")
    _default_job_template(child(template, "spec"))


def _default_deployment(deployment: ObjectFields) -> None:
    spec = new_child(deployment, "spec")
    fill_absent(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    _default_strategy(spec, "strategy", maxUnavailable="25%", maxSurge="25%")
    default_template(spec)


def _default_strategy(spec: ObjectFields, key: str, **rolling: Any) -> None:
    strategy = new_child(spec, key)
    fill_empty(strategy, type="RollingUpdate")
    if strategy.get("type") == "RollingUpdate":
        fill_absent(new_child(strategy, "rollingUpdate"), **rolling)


def _default_daemon_set(daemon_set: ObjectFields) -> None:
    spec = new_child(daemon_set, "spec")
    fill_absent(spec, revisionHistoryLimit=10)
    _default_strategy(spec, "updateStrategy", maxUnavailable=1, maxSurge=0)
    default_template(spec)


def _default_stateful_set(stateful_set: ObjectFields) -> None:
    spec = new_child(stateful_set, "spec")
    fill_empty(spec, podManagementPolicy="OrderedReady")
    fill_absent(spec, replicas=1, revisionHistoryLimit=10)
    _default_strategy(spec, "updateStrategy", partition=0)
    retention = new_child(spec, "persistentVolumeClaimRetentionPolicy")
    fill_empty(retention, whenDeleted="Retain", whenScaled="Retain")
    for claim in children(spec, "volumeClaimTemplates"):
        # the server overwrites what the file has
        claim.update(apiVersion="v1", kind="PersistentVolumeClaim")
        default_claim_spec(new_child(claim, "spec"))
        fill_empty(new_child(claim, "status"), phase="Pending")

    default_template(spec)


def _default_replicas(holder: ObjectFields) -> None:
    spec = new_child(holder, "spec")
    fill_absent(spec, replicas=1)
    default_template(spec)


def _default_replication_controller(controller: ObjectFields) -> None:
    _default_replicas(controller)
    spec = child(controller, "spec")
    metadata = new_child(controller, "metadata")
    labels = nested_map(spec, "template", "metadata", "labels")
    if labels:
        for holder, key in ((spec, "selector"), (metadata, "labels")):
            if not holder.get(key):
                holder[key] = {**labels}


def _default_service(service: ObjectFields) -> None:
    spec = new_child(service, "spec")
    fill_empty(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        fill_absent(
            new_child(new_child(spec, "sessionAffinityConfig"), "clientIP"), timeoutSeconds=10800
        )

    for port in children(spec, "ports"):
        fill_empty(port, protocol="TCP")
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port")

    kind = spec["type"]
    if kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs")):
        fill_empty(spec, externalTrafficPolicy="Cluster")
    if kind == "LoadBalancer":
        fill_absent(spec, allocateLoadBalancerNodePorts=True)
    if kind == "ExternalName":
        return

    fill_absent(spec, internalTrafficPolicy="Cluster")
    _default_addresses(spec)


def _default_addresses(spec: ObjectFields) -> None:
    """Mirror the first address. A headless Service without a selector has both families, others
    those they name.
    """
    address = spec.get("clusterIP")
    if address and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [address]
    if isinstance(spec.get("clusterIPs"), list) and spec["clusterIPs"]:
        fill_empty(spec, clusterIP=spec["clusterIPs"][0])
    headless = spec.get("clusterIP") == "None" and not spec.get("selector")
    fill_absent(spec, ipFamilyPolicy="RequireDualStack" if headless else "SingleStack")


def _default_secret(secret: ObjectFields) -> None:
    fill_empty(secret, type="Opaque")
    move_string_data(secret)


def move_string_data(secret: ObjectFields) -> None:
    """Move a Secret's stringData to data, which alone the server keeps."""
    texts = string_map(secret.pop("stringData", None))
    if texts:
        encoded = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
        secret["data"] = {**child(secret, "data"), **encoded}


def _prepare_claim(claim: ObjectFields) -> None:
    """Write the data source in both fields, or in none if the server drops it."""
    spec = child(claim, "spec")
    for name, other in (("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")):
        source = spec.get(name)
        if not isinstance(source, dict) or spec.get(other) is not None:
            continue
        if drops_source(name, source):
            del spec[name]
        else:
            spec[other] = {**source}


def drops_source(name: str, source: Json, context: ApiServer = DEFAULT_SERVER) -> bool:
    """Return whether the server drops a data source.

    It drops a `dataSource` that is neither a claim nor a snapshot, and, unless an alpha gate is on,
    a `dataSourceRef` into another namespace.
    """
    if name == "dataSourceRef":
        return bool(source.get("namespace")) and not context.has_gate(
            "CrossNamespaceVolumeDataSource"
        )
    group = source.get("apiGroup") or ""
    kind = source.get("kind")
    kept_kinds = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    return (group, kind) not in kept_kinds


def _default_volume(volume: ObjectFields) -> None:
    spec = new_child(volume, "spec")
    fill_absent(spec, volumeMode="Filesystem")
    fill_empty(spec, persistentVolumeReclaimPolicy="Retain")
    sources = without_keys(spec, "volumeMode", "claimRef")
    default_volume({**sources, "name": ""})


def _default_namespace(namespace: ObjectFields) -> None:
    spec = new_child(namespace, "spec")
    metadata = new_child(namespace, "metadata")
    if not spec.get("finalizers"):
        spec["finalizers"] = ["kubernetes"]
    if metadata.get("name"):
        labels = new_child(metadata, "labels")
        labels["kubernetes.io/metadata.name"] = metadata["name"]


def _default_limit_range(limit_range: ObjectFields) -> None:
    for item in children(child(limit_range, "spec"), "limits"):
        if item.get("type") == "Container":
            default = {**child(item, "default")}
            request = {**child(item, "defaultRequest")}
            fill_absent(default, **child(item, "max"))
            fill_absent(request, **default)
            fill_absent(request, **child(item, "min"))
            for key, amounts in (("default", default), ("defaultRequest", request)):
                if amounts:
                    item[key] = amounts


def _default_autoscaler(autoscaler: ObjectFields) -> None:
    spec = new_child(autoscaler, "spec")
    fill_absent(spec, minReplicas=1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = child(spec, "behavior")
    if behavior:
        percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
        pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
        up = new_child(behavior, "scaleUp")
        down = new_child(behavior, "scaleDown")
        fill_absent(up, stabilizationWindowSeconds=0, selectPolicy="Max", policies=[pods, percent])
        fill_absent(down, selectPolicy="Max", policies=[{**percent}])


def _default_network_policy(policy: ObjectFields) -> None:
    spec = new_child(policy, "spec")
    for direction in ("ingress", "egress"):
        for rule in children(spec, direction):
            for port in children(rule, "ports"):
                fill_absent(port, protocol="TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _default_binding(binding: ObjectFields) -> None:
    fill_empty(new_child(binding, "roleRef"), apiGroup=_RBAC)
    for subject in children(binding, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            fill_empty(subject, apiGroup=_RBAC)


def default_device_requests(spec: ObjectFields) -> None:
    """Set the defaults of the device requests of a claim."""
    for request in children(child(spec, "devices"), "requests"):
        for chosen in (child(request, "exactly"), *children(request, "firstAvailable")):
            if chosen:
                fill_empty(chosen, allocationMode="ExactCount")
                if chosen["allocationMode"] == "ExactCount" and not chosen.get("count"):
                    chosen["count"] = 1
                for toleration in children(chosen, "tolerations"):
                    fill_empty(toleration, operator="Equal")


def _default_resource_claim_template(template: ObjectFields) -> None:
    spec = new_child(template, "spec")
    new_child(spec, "metadata")
    default_device_requests(child(spec, "spec"))


def _default_definition(definition: ObjectFields) -> None:
    spec = new_child(definition, "spec")
    names = child(spec, "names")
    kind = names.get("kind")
    if isinstance(kind, str) and kind:
        fill_empty(names, singular=kind.lower(), listKind=f"{kind}List")
    fill_absent(spec, conversion={"strategy": "None"})


BUILT_IN_DEFAULTS: Changes = {
    ("v1", "Pod"): default_pod,
    ("v1", "Service"): _default_service,
    ("v1", "Secret"): _default_secret,
    ("v1", "PersistentVolumeClaim"): lambda claim: default_claim_spec(new_child(claim, "spec")),
    ("v1", "PersistentVolume"): _default_volume,
    ("v1", "Namespace"): _default_namespace,
    ("v1", "LimitRange"): _default_limit_range,
    ("v1", "PodTemplate"): default_template,
    ("v1", "ReplicationController"): _default_replication_controller,
    ("batch/v1", "Job"): _default_job,
    ("batch/v1", "CronJob"): _default_cron_job,
    ("apps/v1", "Deployment"): _default_deployment,
    ("apps/v1", "DaemonSet"): _default_daemon_set,
    ("apps/v1", "StatefulSet"): _default_stateful_set,
    ("apps/v1", "ReplicaSet"): _default_replicas,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _default_autoscaler,
    ("networking.k8s.io/v1", "NetworkPolicy"): _default_network_policy,
    (f"{_RBAC}/v1", "RoleBinding"): _default_binding,
    (f"{_RBAC}/v1", "ClusterRoleBinding"): _default_binding,
    ("resource.k8s.io/v1", "ResourceClaim"): lambda claim: default_device_requests(
        child(claim, "spec")
    ),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): _default_resource_claim_template,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _default_definition,
}
"""What sets the defaults of a kind, in place, where `built_in.json` cannot say it."""

CREATION_CHANGES: Changes = {
    ("v1", "PersistentVolumeClaim"): _prepare_claim,
    ("batch/v1", "Job"): _prepare_job,
}
"""What changes an object in place before it is created, and not when it is updated."""
