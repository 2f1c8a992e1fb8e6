"""Kueue's labels and annotations, the kinds that it does not manage by default, and its record as a
queue system.

Source of the kinds: Kueue 0.19, config/components/manager/controller_manager_config.yaml; 0.18 has
them on. The integrations are deprecated since 0.19 (issue 12620).
"""

from __future__ import annotations

from collections.abc import Collection

from ptcompile.kinds.model import ObjectsByKind, QueueSystem
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    ObjectKind,
    api_group,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
)
from ptcompile.kubernetes.versions import Versions, version_text
from ptcompile.operators.queues.queue_systems import KUEUE_QUEUE, KUEUE_TOPOLOGY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.admission import AdmissionRequest, JobAdmission
    from ptcompile.kinds.model import KindContext
    from ptcompile.kinds.pods import ExpandedRole


_OFF_SINCE = (0, 19)
_OFF = {
    ("kubeflow.org/v1", kind): f"kubeflow.org/{kind.lower()}"
    for kind in ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
}


ANY_FRAMEWORK = "*"


def framework_off(kind: GroupVersionKind, versions: Versions, switched_on: Collection[str]) -> str:
    """Return the framework that must be switched on before Kueue manages a kind, or "" if it
    does without.
    """
    name = _OFF.get(kind, "")
    if versions.kueue >= _OFF_SINCE and name not in switched_on:
        return name
    return ""


def unmanaged_text(kind: ObjectKind, versions: Versions, switched_on: Collection[str]) -> str:
    """Return that Kueue's shipped configuration leaves a kind out, or "" if it manages the kind."""
    if not framework_off(kind, versions, switched_on):
        return ""
    return (
        f"Kueue {version_text(versions.kueue)} does not manage a {kind.name} by default: this one "
        "starts outside of the queue"
    )


def outside_text(
    kind: ObjectKind,
    versions: Versions,
    switched_on: Collection[str],
    configured: Collection[str],
) -> str:
    """Return why an object of a kind starts outside of its queue, or "" if Kueue manages the kind.

    `configured` are the frameworks of Kueue's configuration, if that is known; then `switched_on`
    is ignored.
    """
    if not configured:
        return unmanaged_text(kind, versions, switched_on)

    group = api_group(kind.api_version)
    resource = kind.name.lower()
    name = resource if group in ("", "apps") else f"{group}/{resource}"
    text = (
        f"integrations.frameworks of Kueue's configuration does not list {name}: it starts "
        "outside of the queue"
    )
    return text if {name, ANY_FRAMEWORK}.isdisjoint(configured) else ""


PREFIX = "kueue.x-k8s.io/"
QUEUE = KUEUE_QUEUE
GROUP = f"{PREFIX}pod-group-name"
"""A label of Pods that are queued together, or an annotation."""
GROUP_SIZE = f"{PREFIX}pod-group-total-count"
"""Annotation: the number of Pods in the group."""
MIN_PARALLELISM = f"{PREFIX}job-min-parallelism"
"""Annotation: the fewest pods with which a Job is admitted."""
ELASTIC = f"{PREFIX}elastic-job"

REQUESTS = tuple(KUEUE_TOPOLOGY.values())
"""Annotations of a pod template, one of which is its topology request."""


def queue_of(manifest: Json) -> str:
    """Return the queue that an object names, or an empty string."""
    return nested_string_map(manifest, "metadata", "labels").get(QUEUE, "")


def is_elastic(manifest: Json) -> bool:
    """Return whether Kueue resizes the object while it runs: the annotation must be exactly
    "true".
    """
    return nested_string_map(manifest, "metadata", "annotations").get(ELASTIC) == "true"


def has_condition(manifest: Json, name: str) -> bool:
    """Return whether a condition of a live object is true."""
    conditions = nested_maps(manifest, "status", "conditions")
    return any(item.get("type") == name and item.get("status") == "True" for item in conditions)


def admission_checks(spec: Json) -> list[str]:
    """Return the names of a ClusterQueue's admission checks."""
    strategy = nested_maps(spec, "admissionChecksStrategy", "admissionChecks")
    return [
        *nested_strings(spec, "admissionChecks"),
        *(nested_string(check, "name") for check in strategy),
    ]


def api_version(versions: Versions) -> str:
    """Return API group and version: v1beta2 since 0.15, v1beta1 before."""
    return f"kueue.x-k8s.io/v1beta{2 if versions.kueue >= (0, 15) else 1}"


def _cluster_queue(local: JsonDict) -> tuple[str, str]:
    """Return a LocalQueue's ClusterQueue and its advice; it is not emitted, since no file
    contains its quota.
    """
    why = "with its quota; if yours has another name, write it as clusterQueue of the LocalQueue"
    return f"ClusterQueue/{local['spec']['clusterQueue']}", why


def _device_class(name: str, versions: Versions) -> tuple[str, str]:
    """Return the configuration without which Kueue admits no job that claims this class (Kueue
    0.19, pkg/dra/claims.go).
    """
    if versions.kueue < (0, 18):
        why = (
            "the feature gate DynamicResourceAllocation is on: Kueue has counted claims since 0.18"
        )
    else:
        why = (
            f"resources.deviceClassMappings names {name}, and the ClusterQueue has quota for its "
            "name there"
        )
    return "Configuration/kueue", why


def _framework(
    kind: GroupVersionKind, versions: Versions, switched_on: Collection[str]
) -> tuple[str, str] | None:
    """Return the configuration without which Kueue ignores the queue of this kind, or None."""
    name = framework_off(kind, versions, switched_on)
    if not name:
        return None

    return (
        "Configuration/kueue",
        f"integrations.frameworks lists {name}: Kueue {version_text(versions.kueue)} leaves it out",
    )


def _profile_fields(by_kind: ObjectsByKind) -> JsonDict:
    from ptcompile.operators.kueue.profile import profile_fields

    return profile_fields(by_kind)


def _admit(request: AdmissionRequest) -> list[JobAdmission | None]:
    """Return what becomes of each job."""
    from ptcompile.operators.kueue.scheduler.admission import admit_jobs

    return admit_jobs(request)


def _mark(manifest: Json, role: ExpandedRole, request: KindContext) -> ExpandedRole:
    from ptcompile.operators.kueue.webhooks.pod_sets import mark_role

    return mark_role(manifest, role, request)


QUEUES = QueueSystem(
    api_version,
    "LocalQueue",
    lambda name: {"clusterQueue": name},
    namespaced=True,
    priority="WorkloadPriorityClass",
    backing_object=_cluster_queue,
    devices=_device_class,
    framework=_framework,
    named_by=queue_of,
    profile_fields=_profile_fields,
    admit=_admit,
    mark=_mark,
)
