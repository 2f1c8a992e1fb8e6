"""Pods that are scheduled or evicted with others: a Job's scheduling, the pod's group, and who reacts to its eviction.

All of it is behind feature gates that are off in Kubernetes 1.37. The rules are those that the descriptions of the
released schemas state; no server was asked. See docs/facts/feature-gates.md#new-fields.
"""

from __future__ import annotations

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_CLAIMS_MAX: Final = 4
_RESPONDERS_MAX: Final = 10
_PRIORITY_MAX: Final = 100_000
_RESERVED_DOMAINS: Final = ("k8s.io", "kubernetes.io")


def check_job_scheduling(scheduling: Any, path: Path, problems: f.Problems) -> None:
    """Check `spec.scheduling` of a Job (WorkloadWithJob, alpha in Kubernetes 1.37)."""
    if type(scheduling) is not dict:
        return
    policy = scheduling.get("schedulingPolicy")
    if type(policy) is dict:
        _check_one_of(policy, ("basic", "gang"), (*path, "schedulingPolicy"), problems)
        count = f.as_field_mapping(policy.get("gang")).get("minCount")
        if type(count) is int and count < 1:
            count_path = (*path, "schedulingPolicy", "gang", "minCount")
            f.invalid(problems, count_path, count, "must be greater than or equal to 1")
    mode = scheduling.get("disruptionMode")
    if type(mode) is dict:
        _check_one_of(mode, ("all", "single"), (*path, "disruptionMode"), problems)
    constraints = f.as_field_mapping(scheduling.get("schedulingConstraints"))
    for index, level in f.indexed_mappings(constraints.get("topology")):
        _check_topology_key(level.get("key"), (*path, "schedulingConstraints", "topology", index, "key"), problems)
    _check_claims(scheduling.get("resourceClaims"), (*path, "resourceClaims"), problems)


def _check_one_of(value: dict[str, Any], fields: tuple[str, ...], path: Path, problems: f.Problems) -> None:
    set_fields = [field for field in fields if value.get(field) is not None]
    if len(set_fields) != 1:
        why = f"exactly one of {' and '.join(fields)} must be set"
        f.invalid(problems, path, value, why, f"set {' or '.join(fields)}")


def _check_topology_key(key: Any, path: Path, problems: f.Problems) -> None:
    if f.is_empty(key):
        f.required(problems, path, help="name a label of the nodes, such as topology.kubernetes.io/rack")
    elif type(key) is str and (why := why_not_key(key)):
        f.invalid(problems, path, key, why)


def _check_claims(claims: Any, path: Path, problems: f.Problems) -> None:
    if type(claims) is list and len(claims) > _CLAIMS_MAX:
        f.too_many(problems, path, len(claims), _CLAIMS_MAX)
    seen: set[str] = set()
    for index, claim in f.indexed_mappings(claims):
        name, claim_path = claim.get("name"), (*path, index)
        if f.is_empty(name):
            f.required(problems, (*claim_path, "name"))
        elif type(name) is str:
            if why := names.why_not_dns_label(name):
                f.invalid(problems, (*claim_path, "name"), name, why)
            if name in seen:
                f.duplicate(problems, claim_path, name)
            seen.add(name)
        for field in ("resourceClaimName", "resourceClaimTemplateName"):
            target = claim.get(field)
            if type(target) is str and target and (why := names.why_not_dns_subdomain(target)):
                f.invalid(problems, (*claim_path, field), target, why)


def check_scheduling_group(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.schedulingGroup` (GenericWorkload, alpha in Kubernetes 1.36, beta and off in 1.37)."""
    name = f.as_field_mapping(value).get("podGroupName")
    if not scope.context.has_gate("GenericWorkload", None):
        return
    if type(name) is str and name and (why := names.why_not_dns_subdomain(name)):
        f.invalid(scope.problems, (*path, "podGroupName"), name, why)


def check_eviction_responders(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.evictionResponders` (EvictionRequestAPI, alpha in Kubernetes 1.37)."""
    problems = scope.problems
    if type(value) is list and len(value) > _RESPONDERS_MAX:
        f.too_many(problems, path, len(value), _RESPONDERS_MAX)
    is_grouped = scope.spec.get("schedulingGroup") is not None and scope.context.has_gate("GenericWorkload", None)
    if value and is_grouped:
        f.forbidden(problems, path, "may not be set together with schedulingGroup", "remove one of the two")
    seen: set[str] = set()
    for index, responder in f.indexed_mappings(value):
        name, priority, responder_path = responder.get("name"), responder.get("priority"), (*path, index)
        if f.is_empty(name):
            f.required(problems, (*responder_path, "name"))
        elif type(name) is str:
            _check_responder_name(name, (*responder_path, "name"), problems)
            if name in seen:
                f.duplicate(problems, responder_path, name)
            seen.add(name)
        if priority is None:
            f.required(problems, (*responder_path, "priority"))
        else:
            f.check_range(problems, (*responder_path, "priority"), priority, 0, _PRIORITY_MAX)


def _check_responder_name(name: str, path: Path, problems: f.Problems) -> None:
    domain = name.partition("/")[0]
    if why := names.why_not_domain_prefixed_path(name):
        f.invalid(problems, path, name, why, "write DOMAIN/NAME, such as acme.io/checkpoint")
    elif any(domain == reserved or domain.endswith(f".{reserved}") for reserved in _RESERVED_DOMAINS):
        f.invalid(problems, path, name, "domain names *.k8s.io and *.kubernetes.io are reserved", "use your own domain")
