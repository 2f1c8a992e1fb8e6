"""Deployment, ReplicaSet, ReplicationController, PodTemplate, DaemonSet and StatefulSet."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_labels, check_selector
from ptcompile.apiserver.validation.pod import check_template
from ptcompile.apiserver.validation.values import amount_of, check_amount_or_percent
from ptcompile.apiserver.validation.volume_claims import check_claim_spec
from ptcompile.kubernetes import names
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import Json, nested_map, without_keys

_PROGRESS_SECONDS = 600
"""Default of `progressDeadlineSeconds`."""


def check_restarts_always(template: FieldValue, kind: str) -> None:
    """Check the template of a controller that keeps its pods running: they always restart and
    have no deadline.
    """
    policy = template["spec"]["restartPolicy"]
    deadline = template["spec"]["activeDeadlineSeconds"]
    if policy.is_text and policy.value not in ("", "Always"):
        policy.unsupported(("Always",), "remove it: only a Job's pods may end")
    deadline.check_unset(f"activeDeadlineSeconds in {kind} is not Supported")


def check_controller_selector(spec: FieldValue, kind: str) -> None:
    """Check that a controller's selector is set, selects something, and selects the template's
    pods.
    """
    selector = spec["selector"]
    help = "repeat the template's labels in selector.matchLabels"
    selector.check_set(help=help)
    if not selector.is_mapping:
        return

    before = len(spec.problems)
    selector.check(check_selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        selector.invalid(f"empty selector is invalid for {kind.lower()}", help)
    if len(spec.problems) == before:
        _check_selects(selector.value, spec["template"])


def _check_selects(selector: Json, template: FieldValue) -> None:
    labels = template["metadata"]["labels"]
    if not selects(selector, labels.mapping):
        shown = labels.replaced(labels.mapping or None)
        shown.invalid("`selector` does not match template `labels`", "use the same labels in both")


def check_replica_set(replica_set: FieldValue) -> None:
    """Check a ReplicaSet, except its metadata."""
    spec = replica_set["spec"]
    spec.check_not_negative("replicas", "minReadySeconds")
    _check_controlled_pods(spec, "ReplicaSet")


def _check_controlled_pods(spec: FieldValue, kind: str) -> None:
    """Check the selector and the template of a controller."""
    check_controller_selector(spec, kind)
    check_template(spec["template"])
    check_restarts_always(spec["template"], kind)


def check_replication_controller(controller: FieldValue) -> None:
    """Check a ReplicationController, except its metadata. Its selector is a plain map and defaults
    to the template's labels.
    """
    spec = controller["spec"]
    template = spec["template"]
    selector = spec["selector"]
    spec.check_not_negative("replicas", "minReadySeconds")
    if not selector.value and not template["metadata"]["labels"].mapping:
        selector.required()
    elif selector.is_mapping and selector.value:
        selector.check(check_labels)
        _check_selects({"matchLabels": selector.value}, template)
    if template.value is None:
        template.required()
        return

    check_template(template)
    check_restarts_always(template, "ReplicationController")


def check_pod_template(pod_template: FieldValue) -> None:
    """Check a PodTemplate, except its metadata."""
    check_template(pod_template["template"])


def check_deployment(deployment: FieldValue) -> None:
    """Check a Deployment, except its metadata."""
    spec = deployment["spec"]
    spec.check_not_negative(
        "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"
    )
    _check_controlled_pods(spec, "Deployment")
    _check_strategy(spec["strategy"])
    deadline = spec["progressDeadlineSeconds"].or_zero(_PROGRESS_SECONDS)
    ready = spec.get("minReadySeconds") or 0
    if deadline.is_integer and type(ready) is int and deadline.value <= ready:
        deadline.invalid("must be greater than minReadySeconds")


def _check_strategy(strategy: FieldValue) -> None:
    kind = strategy["type"].or_default("RollingUpdate")
    rolling = strategy["rollingUpdate"]
    if kind.value == "Recreate":
        rolling.check_unset("may not be specified when strategy `type` is 'Recreate'")
    elif kind.value != "RollingUpdate":
        kind.check_choice(("Recreate", "RollingUpdate"))
    elif rolling.is_mapping:
        unavailable = rolling["maxUnavailable"]
        surge = rolling["maxSurge"]
        check_amount_or_percent(unavailable)
        check_amount_or_percent(surge, limit_to_100=False)
        are_set = unavailable.value is not None and surge.value is not None
        if are_set and not amount_of(unavailable.value) and not amount_of(surge.value):
            unavailable.invalid("may not be 0 when `maxSurge` is 0", "set one of the two")


def check_daemon_set(daemon_set: FieldValue) -> None:
    """Check a DaemonSet, except its metadata."""
    spec = daemon_set["spec"]
    spec.check_not_negative("minReadySeconds", "revisionHistoryLimit")
    _check_controlled_pods(spec, "DaemonSet")
    kind = spec["updateStrategy"]["type"].or_default("RollingUpdate")
    rolling = spec["updateStrategy"]["rollingUpdate"]
    kind.check_choice(("OnDelete", "RollingUpdate"))
    if kind.value == "RollingUpdate" and (rolling.value is None or rolling.is_mapping):
        _check_daemon_rolling(rolling)


def _check_daemon_rolling(rolling: FieldValue) -> None:
    unavailable = rolling["maxUnavailable"]
    surge = rolling["maxSurge"]
    check_amount_or_percent(unavailable)
    check_amount_or_percent(surge)
    may_be_unavailable = amount_of(1 if unavailable.value is None else unavailable.value)
    if may_be_unavailable and amount_of(surge.value):
        surge.invalid(
            "may not be set when maxUnavailable is non-zero",
            "set maxUnavailable: 0, or remove maxSurge",
        )
    elif not may_be_unavailable and not amount_of(surge.value):
        unavailable.required("cannot be 0 when maxSurge is 0", "set one of the two")


_STRATEGIES = ("OnDelete", "RollingUpdate")
_POD_MANAGEMENT_POLICIES = ("OrderedReady", "Parallel")


def check_stateful_set(stateful_set: FieldValue) -> None:
    """Check a StatefulSet, except its metadata."""
    spec = stateful_set["spec"]
    server = spec.server
    spec.check_not_negative("replicas", "minReadySeconds")
    spec["ordinals"].check_not_negative("start")
    check_controller_selector(spec, "StatefulSet")

    volumes = _check_claims(spec["volumeClaimTemplates"])
    template = spec["template"]
    if server.at_least(36):
        check_template(template.replaced(_without_pod_names(template.value)), volumes)
    else:
        check_template(template, volumes)
    check_restarts_always(template, "StatefulSet")

    order = spec["podManagementPolicy"]
    if order.is_text and order.value and order.value not in _POD_MANAGEMENT_POLICIES:
        order.invalid("must be 'OrderedReady' or 'Parallel'")
    if server.at_least(34):
        spec["serviceName"].check_optional_text(names.why_not_dns_label)
    _check_update_strategy(spec["updateStrategy"])
    policy = spec["persistentVolumeClaimRetentionPolicy"]
    for name in ("whenDeleted", "whenScaled"):
        policy[name].check_optional_choice(("Delete", "Retain"))


def _check_claims(claims: FieldValue) -> frozenset[str]:
    """Check the claim templates and return the names of their volumes."""
    volumes = set()
    for claim in claims.objects():
        name = claim["metadata"]["name"]
        if name.is_text:
            volumes.add(name.value)
        if claims.server.at_least(36):
            spec = claim["spec"]
            check_claim_spec(spec.value, spec.path, spec.problems, drops=False)
            if name.is_text and name.value and (why := names.why_not_dns_label(name.value)):
                name.invalid(why, field=f"spec.template.spec.volumes[{claim.key}].name")

    return frozenset(volumes)


def _without_pod_names(template: Any) -> Any:
    """Return a pod template without hostname and subdomain. The server checks the template with
    those of a pod of the set (Kubernetes 1.36).
    """
    spec = nested_map(template, "spec")
    if not spec.keys() & {"hostname", "subdomain"}:
        return template
    return {**template, "spec": without_keys(spec, "hostname", "subdomain")}


def _check_update_strategy(strategy: FieldValue) -> None:
    kind = strategy["type"].or_default("RollingUpdate")
    rolling = strategy["rollingUpdate"]
    recreates = kind.value == "Recreate" and strategy.server.has_gate("StatefulSetRecreateStrategy")
    if kind.is_text and kind.value not in _STRATEGIES and not recreates:
        kind.invalid("must be 'RollingUpdate' or 'OnDelete'")
    elif kind.value == "OnDelete" and rolling.value is not None:
        rolling.invalid("only allowed for updateStrategy 'RollingUpdate'", "remove it")
    elif rolling.is_mapping:
        rolling.check_not_negative("partition")
        unavailable = rolling["maxUnavailable"]
        if unavailable.value is None or not strategy.server.has_gate(
            "MaxUnavailableStatefulSet", 37
        ):
            return
        check_amount_or_percent(unavailable)
        if amount_of(unavailable.value) == 0:
            unavailable.invalid("cannot be 0", "use 1 or more, or remove it")


def check_controller_revision(revision: FieldValue) -> None:
    """Check a ControllerRevision, except its metadata."""
    revision["data"].check_set("data is mandatory")
    revision.check_not_negative("revision")
