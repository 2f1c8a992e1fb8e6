"""Pods that are scheduled or evicted with others: groups, a Job's scheduling, and who reacts to a pod's eviction.

All of it is behind feature gates that are off in Kubernetes 1.37. The rules are those that the descriptions of the
released schemas state; no server was asked. See docs/facts/feature-gates.md#new-fields and docs/facts/gangs.md#objects.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.requests import ApiServer

_CLAIMS_MAX = 4
_TEMPLATES_MAX = 8
_TOPOLOGY_MAX = 1
_RESPONDERS_MAX = 10
_PRIORITY_MAX = 100_000
_RESERVED_DOMAINS = ("k8s.io", "kubernetes.io")


def check_job_scheduling(scheduling: Any, path: Path, problems: FieldErrors) -> None:
    """Check `spec.scheduling` of a Job (WorkloadWithJob, alpha in Kubernetes 1.37)."""
    if type(scheduling) is not dict:
        return
    policy = scheduling.get("schedulingPolicy")
    if type(policy) is dict:
        _check_policy(policy, (*path, "schedulingPolicy"), problems)
    _check_placement(scheduling, path, problems)


def check_pod_group(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PodGroup (GenericWorkload, since Kubernetes 1.36), except its metadata."""
    spec = nested_map(manifest, "spec")
    _check_group(spec, ("spec",), problems)
    if reference := nested_map(spec, "workloadRef"):
        problems.check_required(reference, ("spec", "workloadRef"), "workloadName", "templateName")


def check_workload(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Workload (GenericWorkload, since Kubernetes 1.35), except its metadata."""
    spec = nested_map(manifest, "spec")
    is_first = manifest.get("apiVersion") == "scheduling.k8s.io/v1alpha1"
    field = "podGroups" if is_first else "podGroupTemplates"
    items = spec.get(field)
    path = ("spec", field)
    if not items and not spec.get("compositePodGroupTemplates"):
        problems.required(path, "must have at least one item")
    problems.check_length(path, items, _TEMPLATES_MAX)
    seen: set[str] = set()
    for index, item in indexed_mappings(items):
        item_path = (*path, index)
        _check_name(item.get("name"), item_path, (*item_path, "name"), seen, problems)
        if is_first:
            _check_policy(nested_map(item, "policy"), (*item_path, "policy"), problems)
        else:
            _check_group(item, item_path, problems)


def _check_group(spec: Json, path: Path, problems: FieldErrors) -> None:
    """Check the fields that a PodGroup and a template of a Workload share."""
    _check_policy(nested_map(spec, "schedulingPolicy"), (*path, "schedulingPolicy"), problems)
    _check_placement(spec, path, problems)
    topology = nested_map(spec, "schedulingConstraints").get("topology")
    problems.check_length((*path, "schedulingConstraints", "topology"), topology, _TOPOLOGY_MAX)
    if type(mode := spec.get("disruptionMode")) is str:
        problems.check_choice((*path, "disruptionMode"), mode, ("Pod", "PodGroup"))
    problems.check_choice((*path, "preemptionPolicy"), spec.get("preemptionPolicy"), ("Never", "PreemptLowerPriority"))


def _check_policy(policy: Json, path: Path, problems: FieldErrors) -> None:
    _check_one_of(policy, ("basic", "gang"), path, problems)
    gang = policy.get("gang")
    count = as_mapping(gang).get("minCount")
    if type(count) is int and count < 1:
        problems.invalid((*path, "gang", "minCount"), count, "must be greater than or equal to 1")


def _check_placement(scheduling: Json, path: Path, problems: FieldErrors) -> None:
    mode = scheduling.get("disruptionMode")
    if type(mode) is dict:
        _check_one_of(mode, ("all", "single"), (*path, "disruptionMode"), problems)
    constraints = nested_map(scheduling, "schedulingConstraints")
    for index, level in indexed_mappings(constraints.get("topology")):
        key_path = (*path, "schedulingConstraints", "topology", index, "key")
        help = "name a label of the nodes, such as topology.kubernetes.io/rack"
        problems.check_required_text(key_path, level.get("key"), why_not_key, help=help)
    _check_claims(scheduling.get("resourceClaims"), (*path, "resourceClaims"), problems)


def _check_one_of(value: Json, fields: tuple[str, ...], path: Path, problems: FieldErrors) -> None:
    set_fields = [field for field in fields if value.get(field) is not None]
    if len(set_fields) != 1:
        why = f"exactly one of {' and '.join(fields)} must be set"
        problems.invalid(path, value, why, f"set {' or '.join(fields)}")


def _check_claims(claims: Any, path: Path, problems: FieldErrors) -> None:
    problems.check_length(path, claims, _CLAIMS_MAX)
    seen: set[str] = set()
    for index, claim in indexed_mappings(claims):
        claim_path = (*path, index)
        _check_name(claim.get("name"), claim_path, claim_path, seen, problems)
        for field in ("resourceClaimName", "resourceClaimTemplateName"):
            problems.check_optional_text((*claim_path, field), claim.get(field), names.why_not_dns_subdomain)


def _check_name(name: Any, path: Path, repeated_path: Path, seen: set[str], problems: FieldErrors) -> None:
    """Check the name of a list item at `path`; a repeated one is reported at `repeated_path`."""
    if is_empty(name):
        problems.required((*path, "name"))
    elif type(name) is str:
        problems.check_text((*path, "name"), name, names.why_not_dns_label)
        problems.check_unseen(repeated_path, name, seen)


def check_scheduling_group(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.schedulingGroup` (GenericWorkload, alpha in Kubernetes 1.36, beta and off in 1.37)."""
    name = as_mapping(value).get("podGroupName")
    if not scope.context.has_gate("GenericWorkload", None):
        return
    scope.problems.check_optional_text((*path, "podGroupName"), name, names.why_not_dns_subdomain)


def check_eviction_responders(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.evictionResponders` (EvictionRequestAPI, alpha in Kubernetes 1.37)."""
    problems = scope.problems
    problems.check_length(path, value, _RESPONDERS_MAX)
    is_grouped = scope.spec.get("schedulingGroup") is not None and scope.context.has_gate("GenericWorkload", None)
    if value and is_grouped:
        problems.forbidden(path, "may not be set together with schedulingGroup", "remove one of the two")
    seen: set[str] = set()
    for index, responder in indexed_mappings(value):
        name = responder.get("name")
        priority = responder.get("priority")
        responder_path = (*path, index)
        if is_empty(name):
            problems.required((*responder_path, "name"))
        elif type(name) is str:
            _check_responder_name(name, (*responder_path, "name"), problems)
            problems.check_unseen(responder_path, name, seen)
        if priority is None:
            problems.required((*responder_path, "priority"))
        else:
            problems.check_range((*responder_path, "priority"), priority, 0, _PRIORITY_MAX)


def _check_responder_name(name: str, path: Path, problems: FieldErrors) -> None:
    domain = name.partition("/")[0]
    if why := names.why_not_domain_prefixed_path(name):
        problems.invalid(path, name, why, "write DOMAIN/NAME, such as acme.io/checkpoint")
    elif any(domain == reserved or domain.endswith(f".{reserved}") for reserved in _RESERVED_DOMAINS):
        problems.invalid(path, name, "domain names *.k8s.io and *.kubernetes.io are reserved", "use your own domain")
