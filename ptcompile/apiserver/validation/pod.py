"""The pod spec, what holds for a Pod and not for a template, and updates of Pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.containers import RESTART, check_containers
from ptcompile.apiserver.validation.context import ON_SINCE, PodContext, is_dropped
from ptcompile.apiserver.validation.dns import (
    check_dns_config,
    check_dns_policy,
    check_host_aliases,
    check_hostname_override,
    check_label_field,
)
from ptcompile.apiserver.validation.field_errors import forbidden_change
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels, why_not_key
from ptcompile.apiserver.validation.resources import check_amounts, check_pod_resources
from ptcompile.apiserver.validation.scheduling import (
    check_affinity,
    check_node_selector,
    check_scheduling_gates,
    check_spread,
    check_tolerations,
)
from ptcompile.apiserver.validation.security import (
    ID_MAX,
    check_host_namespaces,
    check_host_process,
    check_pod_security,
)
from ptcompile.apiserver.validation.values import check_host_ports
from ptcompile.apiserver.validation.volumes import check_volumes, named
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update

    PodFieldCheck = Callable[[Any, Path, PodContext], None]


_MIRROR: Final = "kubernetes.io/config.mirror"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_INT32: Final = 2**31
_LINUX_ONLY: Final = ("hostPID", "hostIPC")
_LINUX_ONLY_SET: Final = ("hostUsers", "shareProcessNamespace")
_LINUX_SECURITY: Final = (
    "seLinuxOptions",
    "seccompProfile",
    "appArmorProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)


def check_pod_alone(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    """Checks that templates pass and their pods do not."""
    for key in ("containers", "initContainers"):
        for index, container in f.indexed_mappings(spec.get(key)):
            image = container.get("image")
            if type(image) is str and image != image.strip():
                why = "must not have leading or trailing whitespace"
                f.invalid(found, (*path, key, index, "image"), image, why, "remove the blanks")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        f.forbidden(found, (*path, "nodeName"), why)
    _check_priority(spec, path, found)
    if spec.get("overhead") and not spec.get("runtimeClassName"):
        why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        f.forbidden(found, (*path, "overhead"), why)


def _check_priority(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    """What the priority admission plugin computes from the class may not be given as another value.

    A cluster may have a default class with just this priority, so a warning.
    """
    if spec.get("priorityClassName"):
        return
    before = len(found)
    if spec.get("priority") and type(spec["priority"]) is int:
        why = f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
        f.forbidden(found, (*path, "priority"), why, "name a class in priorityClassName")
    if spec.get("preemptionPolicy") == "Never":
        why = "the string value of PreemptionPolicy (Never) must not be provided in pod spec"
        f.forbidden(found, (*path, "preemptionPolicy"), why, "name a class in priorityClassName that has it")
    found[before:] = [problem._replace(severity="warning") for problem in found[before:]]


def check_pod_annotations(meta: Any, spec: Any, path: Path, found: f.Problems) -> None:
    """Annotations that mean something to the server (Kubernetes 1.36 `ValidatePodSpecificAnnotations`)."""
    annotations = f.as_field_mapping(f.as_field_mapping(meta).get("annotations"))
    for key, value in annotations.items():
        here = (*path, "annotations", key)
        if key == _MIRROR and not f.as_field_mapping(spec).get("nodeName"):
            f.invalid(found, here, value, "must set spec.nodeName if mirror pod annotation is set", at=f.key_path(here))
        elif key == _DELETION_COST and type(value) is str and not _is_int32(value):
            f.invalid(found, here, value, "must be a 32bit integer", at=f.key_path(here))
        elif key.startswith(_APP_ARMOR) and type(value) is str:
            _check_app_armor(key[len(_APP_ARMOR) :], value, here, spec, found)


def _check_app_armor(container: str, profile: str, path: Path, spec: Any, found: f.Problems) -> None:
    if container not in f.container_names(f.as_field_mapping(spec)):
        f.invalid(found, path, container, "container not found", "name one of the pod's containers", f.key_path(path))
    if profile not in ("runtime/default", "unconfined", "") and not profile.startswith("localhost/"):
        f.invalid(found, path, profile, "invalid AppArmor profile name", at=f.key_path(path))


def _is_int32(text: str) -> bool:
    if text.startswith("+") or (text.lstrip("-") != "0" and text.lstrip("-").startswith("0")) or text == "-0":
        return False
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 11 and -_INT32 <= int(text) < _INT32


def check_os(value: Any, path: Path, scope: PodContext) -> None:
    """`spec.os`, and the fields that the other system has not."""
    if type(value) is not dict:
        return
    name, found = value.get("name"), scope.found
    if f.is_empty(name):
        f.required(found, (*path, "name"), "cannot be empty", "set it to linux, or remove `os`")
    elif name == "windows":
        _check_windows(scope, path[:-1])
    elif name == "linux":
        _check_linux(scope, path[:-1])
    else:
        f.check_choice(found, path, name, ("linux", "windows"))


def _contexts(scope: PodContext, path: Path) -> list[tuple[Path, dict[str, Any]]]:
    out = [((*path, "securityContext"), f.as_field_mapping(scope.spec.get("securityContext")))]
    for key in ("containers", "initContainers"):
        for index, container in f.indexed_mappings(scope.spec.get(key)):
            out.append(((*path, key, index, "securityContext"), f.as_field_mapping(container.get("securityContext"))))
    return out


def _check_linux(scope: PodContext, path: Path) -> None:
    for here, context in _contexts(scope, path):
        if context.get("windowsOptions") is not None:
            why = "windows options cannot be set for a linux pod"
            f.forbidden(scope.found, (*here, "windowsOptions"), why)


def _check_windows(scope: PodContext, path: Path) -> None:
    for name in (*_LINUX_ONLY, *_LINUX_ONLY_SET):
        value = scope.spec.get(name)
        if value is True or (value is False and name in _LINUX_ONLY_SET):
            f.forbidden(scope.found, (*path, name), "cannot be set for a windows pod")
    names = (*_LINUX_SECURITY, "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation")
    for here, context in _contexts(scope, path):
        for name in (*names, "procMount"):
            if context.get(name) is not None:
                f.forbidden(scope.found, (*here, name), "cannot be set for a windows pod")


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
    found: f.Problems = []
    check_pod_spec(spec, path, context, found, template=template, extra_volumes=extra_volumes)
    return iter(found)


def check_pod_spec(
    spec: Any,
    path: Path,
    context: ApiServer,
    found: f.Problems,
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
    scope = PodContext(spec, context, template, volumes, _claims(spec.get("resourceClaims")), found)
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
    claims: list[Any] = [claim.get("name") for _, claim in f.indexed_mappings(value)]
    return None if any(type(name) is not str for name in claims) else frozenset(claims)


def _check_host_ports(spec: dict[str, Any], path: Path, found: f.Problems, template: bool) -> None:
    fill = spec.get("hostNetwork") is True and not template
    check_host_ports(spec.get("containers"), (*path, "containers"), found, fill)
    for index, init in f.indexed_mappings(spec.get("initContainers")):  # they run one after another
        if init.get("ports"):
            one = [None] * index + [init]
            check_host_ports(one, (*path, "initContainers"), found, fill)


def _check_restart(value: Any, path: Path, scope: PodContext) -> None:
    if value:
        f.check_choice(scope.found, path, value, RESTART)


def _check_subdomain_name(value: Any, path: Path, scope: PodContext) -> None:
    if type(value) is str and value and (why := names.why_not_dns_subdomain(value)):
        f.invalid(scope.found, path, value, why)


def _check_old_account(value: Any, path: Path, scope: PodContext) -> None:
    if not scope.spec.get("serviceAccountName"):  # of which this is the older name
        _check_subdomain_name(value, path, scope)


def _check_runtime_class(value: Any, path: Path, scope: PodContext) -> None:
    if type(value) is str and (why := names.why_not_dns_subdomain(value)):
        f.invalid(scope.found, path, value, why)


def _check_deadline(value: Any, path: Path, scope: PodContext) -> None:
    f.check_range(scope.found, path, value, 1, ID_MAX)


def _check_preemption(value: Any, path: Path, scope: PodContext) -> None:
    if value == "":
        f.required(scope.found, path)
    else:
        f.check_choice(scope.found, path, value, ("Never", "PreemptLowerPriority"))


def _check_readiness_gates(value: Any, path: Path, scope: PodContext) -> None:
    for index, gate in f.indexed_mappings(value):
        kind = gate.get("conditionType") or ""
        if type(kind) is str and (why := why_not_key(kind)):
            f.invalid(scope.found, (*path, index, "conditionType"), kind, why)


def _check_overhead(value: Any, path: Path, scope: PodContext) -> None:
    check_amounts({"limits": value}, path, scope.found, partial=True)
    if type(value) is dict and not value.keys() & {"cpu", "memory"} and any(n.startswith("hugepages-") for n in value):
        f.forbidden(scope.found, path, "HugePages require cpu or memory", "add cpu or memory")


def _check_ephemeral(value: Any, path: Path, scope: PodContext) -> None:
    if value:
        why = "ephemeral containers not allowed in pod template" if scope.template else "cannot be set on create"
        f.forbidden(scope.found, path, why, "add them to the running pod with kubectl debug")


def _check_resource_claims(value: Any, path: Path, scope: PodContext) -> None:
    found, seen = scope.found, set[str]()
    for index, claim in f.indexed_mappings(value):
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


def _check_claim_source(claim: dict[str, Any], path: Path, found: f.Problems) -> None:
    fields = ("resourceClaimName", "resourceClaimTemplateName")
    given = [key for key in fields if claim.get(key) is not None]
    if len(given) > 1:
        f.invalid(found, path, claim, f"at most one of `{fields[0]}` or `{fields[1]}` may be specified", "keep one")
    elif not given:
        f.invalid(found, path, claim, f"must specify one of: `{fields[0]}`, `{fields[1]}`", "say which claim")
    for key in given:
        if type(claim[key]) is str and (why := names.why_not_dns_subdomain(claim[key])):
            f.invalid(found, (*path, key), claim[key], why)


_FIELDS: Final[Mapping[str, PodFieldCheck]] = {
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


def check_template_metadata(meta: Any, path: Path, found: f.Problems, at: Path) -> None:
    """Labels and annotations of a template; `at` is where the server says they stand (a Job's: `spec.template`)."""
    if type(meta) is not dict:
        return
    if meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), found, field_path((*at, "labels")))
    if meta.get("annotations"):
        check_annotations(meta["annotations"], (*path, "annotations"), found)


_ANEW: Final = "delete the pod and apply again: a pod's image, deadline and tolerations change, nothing else"
_WHY: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(update: Update) -> Iterator[Problem]:
    """A Pod: what may change of it is little."""
    old, new = nested_map(update.old, "spec"), nested_map(update.new, "spec")
    for key in ("containers", "initContainers"):
        if _names(old.get(key)) != _names(new.get(key)):
            yield forbidden_change(("spec", key), "pod updates may not add or remove containers", _ANEW)
            return
    gated = bool(old.get("schedulingGates"))
    for path in update.under("spec"):
        if not _may_change(path, old, new, gated):
            yield forbidden_change(("spec",), _WHY, _ANEW)
            return
    yield from _gates(old, new)


def _names(containers: Any) -> list[Any]:
    return [one.get("name") if isinstance(one, Mapping) else None for one in _items(containers)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _may_change(path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any], gated: bool) -> bool:
    field = path[1] if len(path) > 1 else ""
    if field in ("containers", "initContainers"):
        return path[3:] == ("image",)
    if field == "activeDeadlineSeconds":
        before, after = old.get(field), new.get(field)
        return isinstance(after, int) and (before is None or (isinstance(before, int) and after <= before))
    if field == "tolerations":
        return _only_more_tolerations(_items(old.get(field)), _items(new.get(field)))
    if field == "schedulingGates":
        return True
    if field == "nodeSelector":
        before, after = nested_map(old, field), nested_map(new, field)
        return gated and all(after.get(key) == value for key, value in before.items())
    if field == "affinity":
        return gated and path[2:3] == ("nodeAffinity",) and _only_narrower(old, new)
    return field == "terminationGracePeriodSeconds" and new.get(field) == 1 and (old.get(field) or 0) < 0


def _only_more_tolerations(before: list[Any], after: list[Any]) -> bool:
    """Whether every toleration is still there; its `tolerationSeconds` may differ."""
    kept = [_without_seconds(one) for one in after]
    return all(_without_seconds(one) in kept for one in before)


def _without_seconds(toleration: Any) -> Any:
    if not isinstance(toleration, Mapping):
        return toleration
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value is not None}


def _only_narrower(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the required node affinity only gained expressions inside its terms, or was empty."""
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    before = _items(nested_map(old, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    after = _items(nested_map(new, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    if not before:
        return True
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(_has_all(one, other) for one, other in pairs)


def _has_all(one: Any, other: Any) -> bool:
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    keys = ("matchExpressions", "matchFields")
    return all(_items(other.get(key))[: len(_items(one.get(key)))] == _items(one.get(key)) for key in keys)


def _gates(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    before = _names(old.get("schedulingGates"))
    for index, name in enumerate(_names(new.get("schedulingGates"))):
        if name not in before:
            why = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden_change(
                ("spec", "schedulingGates", index, "name"), why, "remove the gate: it is set on creation"
            )
