"""The one checker of pods: Pods, the templates of Jobs, the templates of operators' kinds (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.affinity import check_affinity
from ptcompile.validate.core.containers import RESTART, check_containers
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.dns import (
    check_dns_config,
    check_dns_policy,
    check_host_aliases,
    check_hostname_override,
    check_label_field,
)
from ptcompile.validate.core.gates import ON_SINCE, is_dropped
from ptcompile.validate.core.metadata import check_annotations, check_labels, why_not_key
from ptcompile.validate.core.pod_admission import check_os, check_pod_alone
from ptcompile.validate.core.ports import check_host_ports
from ptcompile.validate.core.resources import check_amounts, check_pod_resources
from ptcompile.validate.core.scheduling import (
    check_node_selector,
    check_scheduling_gates,
    check_spread,
    check_tolerations,
)
from ptcompile.validate.core.security import ID_MAX, check_host_namespaces, check_host_process, check_pod_security
from ptcompile.validate.core.volumes import check_volumes, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Check = Callable[[Any, Path, Scope], None]


def pod_spec(
    spec: Any,
    path: Path,
    context: ApiServer,
    *,
    template: bool,
    extra_volumes: frozenset[str] = frozenset(),
) -> Iterator[Problem]:
    """What the server answers to a pod spec at `path`.

    `template` is true inside a Job, whose template gets fewer defaults than a Pod and a few checks less.
    `extra_volumes` are volumes that an operator adds to the pod.
    """
    found: f.Found = []
    check_pod_spec(spec, path, context, found, template=template, extra_volumes=extra_volumes)
    return iter(found)


def check_pod_spec(
    spec: Any,
    path: Path,
    context: ApiServer,
    found: f.Found,
    *,
    template: bool,
    extra_volumes: frozenset[str] = frozenset(),
) -> None:
    """Add the problems of a pod spec to `found`."""
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    volumes = named(spec.get("volumes"))
    if volumes is not None and extra_volumes:
        volumes = {**dict.fromkeys(extra_volumes), **volumes}
    scope = Scope(spec, context, template, volumes, _claims(spec.get("resourceClaims")), found)
    seen: set[str] = set()
    check_containers(spec.get("containers"), (*path, "containers"), seen, scope)
    inits = spec.get("initContainers")
    if inits:
        check_containers(inits, (*path, "initContainers"), seen, scope)
    for key, value in spec.items():
        check = _FIELDS.get(key)
        if check is None or value is None or (key in ON_SINCE and is_dropped(key, context)):
            continue
        check(value, (*path, key), scope)
    _check_host_ports(spec, path, found, template)
    check_host_process(spec, path, found)
    if spec.get("hostUsers") is False or spec.get("shareProcessNamespace"):
        check_host_namespaces(spec, path, context, found)
    if not template:
        check_pod_alone(spec, path, found)


def _claims(value: Any) -> frozenset[str] | None:
    if value is None:
        return frozenset()
    claims: list[Any] = [claim.get("name") for _, claim in f.objects(value)]
    return None if any(type(name) is not str for name in claims) else frozenset(claims)


def _check_host_ports(spec: dict[str, Any], path: Path, found: f.Found, template: bool) -> None:
    fill = spec.get("hostNetwork") is True and not template
    check_host_ports(spec.get("containers"), (*path, "containers"), found, fill)
    for index, init in f.objects(spec.get("initContainers")):  # they run one after another
        if init.get("ports"):
            one = [None] * index + [init]
            check_host_ports(one, (*path, "initContainers"), found, fill)


def _check_restart(value: Any, path: Path, scope: Scope) -> None:
    if value:
        f.check_choice(scope.found, path, value, RESTART)


def _check_subdomain_name(value: Any, path: Path, scope: Scope) -> None:
    if type(value) is str and value and (why := names.why_not_dns_subdomain(value)):
        f.invalid(scope.found, path, value, why)


def _check_old_account(value: Any, path: Path, scope: Scope) -> None:
    if not scope.spec.get("serviceAccountName"):  # of which this is the older name
        _check_subdomain_name(value, path, scope)


def _check_runtime_class(value: Any, path: Path, scope: Scope) -> None:
    if type(value) is str and (why := names.why_not_dns_subdomain(value)):
        f.invalid(scope.found, path, value, why)


def _check_deadline(value: Any, path: Path, scope: Scope) -> None:
    f.check_range(scope.found, path, value, 1, ID_MAX)


def _check_preemption(value: Any, path: Path, scope: Scope) -> None:
    if value == "":
        f.required(scope.found, path)
    else:
        f.check_choice(scope.found, path, value, ("Never", "PreemptLowerPriority"))


def _check_readiness_gates(value: Any, path: Path, scope: Scope) -> None:
    for index, gate in f.objects(value):
        kind = gate.get("conditionType") or ""
        if type(kind) is str and (why := why_not_key(kind)):
            f.invalid(scope.found, (*path, index, "conditionType"), kind, why)


def _check_overhead(value: Any, path: Path, scope: Scope) -> None:
    check_amounts({"limits": value}, path, scope.found, partial=True)
    if type(value) is dict and not value.keys() & {"cpu", "memory"} and any(n.startswith("hugepages-") for n in value):
        f.forbidden(scope.found, path, "HugePages require cpu or memory", "add cpu or memory")


def _check_ephemeral(value: Any, path: Path, scope: Scope) -> None:
    if value:
        why = "ephemeral containers not allowed in pod template" if scope.template else "cannot be set on create"
        f.forbidden(scope.found, path, why, "add them to the running pod with kubectl debug")


def _check_resource_claims(value: Any, path: Path, scope: Scope) -> None:
    found, seen = scope.found, set[str]()
    for index, claim in f.objects(value):
        name, here = claim.get("name"), (*path, index)
        if f.is_empty(name):
            f.required(found, (*here, "name"))
        elif type(name) is str:
            if name in seen:
                f.duplicate(found, (*here, "name"), name)
            elif why := names.why_not_dns_label(name):
                f.invalid(found, (*here, "name"), name, why)
            seen.add(name)
        _check_claim_source(claim, here, found)


def _check_claim_source(claim: dict[str, Any], path: Path, found: f.Found) -> None:
    fields = ("resourceClaimName", "resourceClaimTemplateName")
    given = [key for key in fields if claim.get(key) is not None]
    if len(given) > 1:
        f.invalid(found, path, claim, f"at most one of `{fields[0]}` or `{fields[1]}` may be specified", "keep one")
    elif not given:
        f.invalid(found, path, claim, f"must specify one of: `{fields[0]}`, `{fields[1]}`", "say which claim")
    for key in given:
        if type(claim[key]) is str and (why := names.why_not_dns_subdomain(claim[key])):
            f.invalid(found, (*path, key), claim[key], why)


_FIELDS: Final[Mapping[str, Check]] = {
    "volumes": check_volumes,
    "restartPolicy": _check_restart,
    "activeDeadlineSeconds": _check_deadline,
    "dnsPolicy": check_dns_policy,
    "dnsConfig": check_dns_config,
    "nodeSelector": check_node_selector,
    "securityContext": check_pod_security,
    "affinity": check_affinity,
    "tolerations": check_tolerations,
    "topologySpreadConstraints": check_spread,
    "schedulingGates": check_scheduling_gates,
    "readinessGates": _check_readiness_gates,
    "hostAliases": check_host_aliases,
    "hostname": check_label_field,
    "subdomain": check_label_field,
    "hostnameOverride": check_hostname_override,
    "serviceAccountName": _check_subdomain_name,
    "serviceAccount": _check_old_account,
    "nodeName": _check_subdomain_name,
    "priorityClassName": _check_subdomain_name,
    "runtimeClassName": _check_runtime_class,
    "preemptionPolicy": _check_preemption,
    "overhead": _check_overhead,
    "os": check_os,
    "ephemeralContainers": _check_ephemeral,
    "resourceClaims": _check_resource_claims,
    "resources": check_pod_resources,
}


def check_template_metadata(meta: Any, path: Path, found: f.Found, at: Path) -> None:
    """Labels and annotations of a template; `at` is where the server says they stand (a Job's: `spec.template`)."""
    if type(meta) is not dict:
        return
    if meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), found, field_path((*at, "labels")))
    if meta.get("annotations"):
        check_annotations(meta["annotations"], (*path, "annotations"), found)
