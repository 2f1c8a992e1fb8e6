"""Pods that are scheduled or evicted with others: groups, a Job's scheduling, and who reacts to a
pod's eviction.

All of it is behind feature gates that are off in Kubernetes 1.37. The rules are those that the
descriptions of the released schemas state; no server was asked. See
docs/facts/feature-gates.md#new-fields and docs/facts/gangs.md#objects.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.apiserver.validation.values import PREEMPTION_POLICIES
from ptcompile.kubernetes import names

_CLAIMS_MAX = 4
_TEMPLATES_MAX = 8
_TOPOLOGY_MAX = 1
_RESPONDERS_MAX = 10
_PRIORITY_MAX = 100_000
_RESERVED_DOMAINS = ("k8s.io", "kubernetes.io")


def check_job_scheduling(scheduling: FieldValue) -> None:
    """Check `spec.scheduling` of a Job (WorkloadWithJob, alpha in Kubernetes 1.37)."""
    policy = scheduling["schedulingPolicy"]
    if policy.is_mapping:
        _check_policy(policy)
    _check_placement(scheduling)


def check_pod_group(group: FieldValue) -> None:
    """Check a PodGroup (GenericWorkload, since Kubernetes 1.36), except its metadata."""
    reference = group["spec"]["workloadRef"]
    _check_group(group["spec"])
    if reference.mapping:
        reference.require("workloadName", "templateName")


def check_workload(workload: FieldValue) -> None:
    """Check a Workload (GenericWorkload, since Kubernetes 1.35), except its metadata."""
    spec = workload["spec"]
    is_first = workload.get("apiVersion") == "scheduling.k8s.io/v1alpha1"
    groups = spec["podGroups" if is_first else "podGroupTemplates"]
    if not groups.value and not spec.get("compositePodGroupTemplates"):
        groups.required("must have at least one item")
    groups.check_length(_TEMPLATES_MAX)
    seen: set[str] = set()
    for group in groups.objects():
        name = group["name"]
        _check_name(name, name, seen)
        if is_first:
            _check_policy(group["policy"])
        else:
            _check_group(group)


def _check_group(spec: FieldValue) -> None:
    """Check the fields that a PodGroup and a template of a Workload share."""
    _check_policy(spec["schedulingPolicy"])
    _check_placement(spec)
    spec["schedulingConstraints"]["topology"].check_length(_TOPOLOGY_MAX)
    spec["disruptionMode"].check_choice(("Pod", "PodGroup"))
    spec["preemptionPolicy"].check_choice(PREEMPTION_POLICIES)


def _check_policy(policy: FieldValue) -> None:
    _check_one_of(policy, "basic", "gang")
    policy["gang"]["minCount"].check_at_least(1, "must be greater than or equal to 1")


def _check_placement(scheduling: FieldValue) -> None:
    mode = scheduling["disruptionMode"]
    if mode.is_mapping:
        _check_one_of(mode, "all", "single")
    for level in scheduling["schedulingConstraints"]["topology"].objects():
        help = "name a label of the nodes, such as topology.kubernetes.io/rack"
        level["key"].check_required_text(why_not_key, help=help)
    _check_claims(scheduling["resourceClaims"])


def _check_one_of(field: FieldValue, *keys: str) -> None:
    if len(field.set_fields(keys)) != 1:
        why = f"exactly one of {' and '.join(keys)} must be set"
        field.replaced(field.mapping).invalid(why, f"set {' or '.join(keys)}")


def _check_claims(claims: FieldValue) -> None:
    claims.check_length(_CLAIMS_MAX)
    seen: set[str] = set()
    for claim in claims.objects():
        name = claim["name"]
        _check_name(name, claim.replaced(name.value), seen)
        for key in ("resourceClaimName", "resourceClaimTemplateName"):
            claim[key].check_optional_text(names.why_not_dns_subdomain)


def _check_name(name: FieldValue, repeated: FieldValue, seen: set[str]) -> None:
    """Check the name of a list item; a repeated one is reported at the field `repeated`."""
    if name.is_empty:
        name.required()
    elif name.is_text:
        name.check_text(names.why_not_dns_label)
        repeated.check_unseen(seen)


def check_scheduling_group(group: FieldValue) -> None:
    """Check `spec.schedulingGroup` (GenericWorkload, alpha in Kubernetes 1.36, beta and off in
    1.37).
    """
    if group.server.has_gate("GenericWorkload"):
        group["podGroupName"].check_optional_text(names.why_not_dns_subdomain)


def check_eviction_responders(responders: FieldValue) -> None:
    """Check `spec.evictionResponders` (EvictionRequestAPI, alpha in Kubernetes 1.37)."""
    has_groups = responders.server.has_gate("GenericWorkload")
    responders.check_length(_RESPONDERS_MAX)
    if responders.value and has_groups and responders.scope.pod.get("schedulingGroup") is not None:
        responders.forbidden(
            "may not be set together with schedulingGroup", "remove one of the two"
        )

    seen: set[str] = set()
    for responder in responders.objects():
        name = responder["name"]
        if name.is_empty:
            name.required()
        elif name.is_text:
            _check_responder_name(name)
            responder.replaced(name.value).check_unseen(seen)

        priority = responder["priority"]
        priority.check_set()
        priority.check_range(0, _PRIORITY_MAX)


def _check_responder_name(name: FieldValue) -> None:
    domain, _, _ = name.value.partition("/")
    if why := names.why_not_domain_prefixed_path(name.value):
        name.invalid(why, "write DOMAIN/NAME, such as acme.io/checkpoint")
    elif any(
        domain == reserved or domain.endswith(f".{reserved}") for reserved in _RESERVED_DOMAINS
    ):
        name.invalid(
            "domain names *.k8s.io and *.kubernetes.io are reserved", "use your own domain"
        )
