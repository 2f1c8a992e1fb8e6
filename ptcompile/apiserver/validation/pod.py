"""The pod spec, rules that apply to Pods but not to templates, and updates of Pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.apiserver.validation.containers import RESTART_POLICIES, check_containers
from ptcompile.apiserver.validation.context import FIELD_GATES, PodContext, is_dropped
from ptcompile.apiserver.validation.dns import (
    check_dns_config,
    check_dns_policy,
    check_host_aliases,
    check_hostname_override,
    check_label_field,
)
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels, why_not_key
from ptcompile.apiserver.validation.pod_groups import check_eviction_responders, check_scheduling_group
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
from ptcompile.apiserver.validation.volumes import check_volumes, volumes_by_name
from ptcompile.diagnostics import Path, Problems, field_path
from ptcompile.diagnostics.field_errors import (
    FieldErrors,
    container_names,
    forbidden_change,
    indexed_mappings,
    is_empty,
    key_path,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    PodFieldCheck = Callable[[Any, Path, PodContext], None]


_MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
_DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
_APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_INT32_LIMIT = 2**31
_LINUX_ONLY_IF_TRUE = ("hostPID", "hostIPC")
_LINUX_ONLY_FIELDS = ("hostUsers", "shareProcessNamespace")
_LINUX_SECURITY_FIELDS = (
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


def check_pod_only_rules(spec: Json, path: Path, problems: FieldErrors) -> None:
    """Check what the server accepts in a template but rejects in a Pod."""
    for key in ("containers", "initContainers"):
        for index, container in indexed_mappings(spec.get(key)):
            image = container.get("image")
            if type(image) is str and image != image.strip():
                why = "must not have leading or trailing whitespace"
                problems.invalid((*path, key, index, "image"), image, why, "remove the whitespace")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        problems.forbidden((*path, "nodeName"), why)
    if spec.get("overhead") and not spec.get("runtimeClassName"):
        why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        problems.forbidden((*path, "overhead"), why)


def check_pod_annotations(meta: Any, spec: Any, path: Path, problems: FieldErrors) -> None:
    """Check annotations that the server interprets (Kubernetes 1.36 `ValidatePodSpecificAnnotations`)."""
    annotations = as_mapping(as_mapping(meta).get("annotations"))
    for key, value in annotations.items():
        annotation_path = (*path, "annotations", key)
        if key == _MIRROR_ANNOTATION and not as_mapping(spec).get("nodeName"):
            problems.invalid(
                annotation_path,
                value,
                "must set spec.nodeName if mirror pod annotation is set",
                field=key_path(annotation_path),
            )
        elif key == _DELETION_COST_ANNOTATION and type(value) is str and not _is_int32(value):
            problems.invalid(annotation_path, value, "must be a 32bit integer", field=key_path(annotation_path))
        elif key.startswith(_APP_ARMOR_PREFIX) and type(value) is str:
            _check_app_armor(key[len(_APP_ARMOR_PREFIX) :], value, annotation_path, spec, problems)


def _check_app_armor(container: str, profile: str, path: Path, spec: Any, problems: FieldErrors) -> None:
    if container not in container_names(as_mapping(spec)):
        problems.invalid(path, container, "container not found", "name one of the pod's containers", key_path(path))
    if profile not in ("runtime/default", "unconfined", "") and not profile.startswith("localhost/"):
        problems.invalid(path, profile, "invalid AppArmor profile name", field=key_path(path))


def _is_int32(text: str) -> bool:
    if text.startswith("+") or (text.lstrip("-") != "0" and text.lstrip("-").startswith("0")) or text == "-0":
        return False
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 11 and -_INT32_LIMIT <= int(text) < _INT32_LIMIT


def check_os(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.os`, and the fields that the other operating system does not have."""
    if type(value) is not dict:
        return
    name = value.get("name")
    problems = scope.problems
    if is_empty(name):
        problems.required((*path, "name"), "cannot be empty", "set it to linux, or remove `os`")
    elif name == "windows":
        _check_windows(scope, path[:-1])
    elif name == "linux":
        _check_linux(scope, path[:-1])
    else:
        problems.check_choice(path, name, ("linux", "windows"))


def _security_contexts(scope: PodContext, path: Path) -> list[tuple[Path, Json]]:
    out = [((*path, "securityContext"), as_mapping(scope.spec.get("securityContext")))]
    for key in ("containers", "initContainers"):
        for index, container in indexed_mappings(scope.spec.get(key)):
            out.append(((*path, key, index, "securityContext"), nested_map(container, "securityContext")))
    return out


def _check_linux(scope: PodContext, path: Path) -> None:
    for context_path, context in _security_contexts(scope, path):
        if context.get("windowsOptions") is not None:
            why = "windows options cannot be set for a linux pod"
            scope.problems.forbidden((*context_path, "windowsOptions"), why)


def _check_windows(scope: PodContext, path: Path) -> None:
    for name in (*_LINUX_ONLY_IF_TRUE, *_LINUX_ONLY_FIELDS):
        value = scope.spec.get(name)
        if value is True or (value is False and name in _LINUX_ONLY_FIELDS):
            scope.problems.forbidden((*path, name), "cannot be set for a windows pod")
    security_fields = (
        *_LINUX_SECURITY_FIELDS,
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
    )
    for context_path, context in _security_contexts(scope, path):
        for name in (*security_fields, "procMount"):
            if context.get(name) is not None:
                scope.problems.forbidden((*context_path, name), "cannot be set for a windows pod")


def check_pod(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Pod, except the generic part of its metadata."""
    spec = manifest.get("spec")
    check_pod_annotations(manifest.get("metadata"), spec, ("metadata",), problems)
    check_pod_spec(spec, ("spec",), context, problems, template=False)


def check_pod_spec(
    spec: Any,
    path: Path,
    context: ApiServer,
    problems: FieldErrors,
    *,
    template: bool,
    extra_volumes: frozenset[str] = frozenset(),
) -> None:
    """Append the problems that the server reports for a pod spec at `path` to `problems`.

    `template` is true inside a Job, whose template gets fewer defaults and fewer checks than a Pod. `extra_volumes` are
    volumes that an operator adds to the pod.
    """
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    volumes = volumes_by_name(spec.get("volumes"))
    if volumes is not None and extra_volumes:
        volumes = {**dict.fromkeys(extra_volumes), **volumes}
    scope = PodContext(spec, context, template, volumes, _claim_names(spec.get("resourceClaims")), problems)
    seen: set[str] = set()
    check_containers(spec.get("containers"), (*path, "containers"), seen, scope)
    inits = spec.get("initContainers")
    if inits:
        check_containers(inits, (*path, "initContainers"), seen, scope)
    for key, value in spec.items():
        check = _FIELDS.get(key)
        if check is None or value is None or (key in FIELD_GATES and is_dropped(key, context)):
            continue
        check(value, (*path, key), scope)
    _check_host_ports(spec, path, problems, template)
    check_host_process(spec, path, problems)
    if spec.get("hostUsers") is False or spec.get("shareProcessNamespace"):
        check_host_namespaces(spec, path, context, problems)
    if not template:
        check_pod_only_rules(spec, path, problems)


def _claim_names(value: Any) -> frozenset[str] | None:
    if value is None:
        return frozenset()
    claims: list[Any] = [claim.get("name") for _, claim in indexed_mappings(value)]
    return None if any(type(name) is not str for name in claims) else frozenset(claims)


def _check_host_ports(spec: Json, path: Path, problems: FieldErrors, template: bool) -> None:
    fill = spec.get("hostNetwork") is True and not template
    check_host_ports(spec.get("containers"), (*path, "containers"), problems, fill)
    for index, init in indexed_mappings(spec.get("initContainers")):  # init containers run one after another
        if init.get("ports"):
            containers = [None] * index + [init]
            check_host_ports(containers, (*path, "initContainers"), problems, fill)


def _check_restart(value: Any, path: Path, scope: PodContext) -> None:
    if value:
        scope.problems.check_choice(path, value, RESTART_POLICIES)


def _check_subdomain_name(value: Any, path: Path, scope: PodContext) -> None:
    scope.problems.check_optional_text(path, value, names.why_not_dns_subdomain)


def _check_deprecated_account(value: Any, path: Path, scope: PodContext) -> None:
    if not scope.spec.get("serviceAccountName"):  # `serviceAccount` is its deprecated name
        _check_subdomain_name(value, path, scope)


def _check_runtime_class(value: Any, path: Path, scope: PodContext) -> None:
    scope.problems.check_text(path, value, names.why_not_dns_subdomain)


def _check_deadline(value: Any, path: Path, scope: PodContext) -> None:
    scope.problems.check_range(path, value, 1, ID_MAX)


def _check_preemption(value: Any, path: Path, scope: PodContext) -> None:
    scope.problems.check_required_choice(path, value, ("Never", "PreemptLowerPriority"))


def _check_readiness_gates(value: Any, path: Path, scope: PodContext) -> None:
    for index, gate in indexed_mappings(value):
        scope.problems.check_text((*path, index, "conditionType"), gate.get("conditionType") or "", why_not_key)


def _check_overhead(value: Any, path: Path, scope: PodContext) -> None:
    check_amounts({"limits": value}, path, scope.problems, partial=True)
    if type(value) is dict and not value.keys() & {"cpu", "memory"} and any(n.startswith("hugepages-") for n in value):
        scope.problems.forbidden(path, "HugePages require cpu or memory", "add cpu or memory")


def _check_ephemeral(value: Any, path: Path, scope: PodContext) -> None:
    if value:
        why = "ephemeral containers not allowed in pod template" if scope.template else "cannot be set on create"
        scope.problems.forbidden(path, why, "add them to the running pod with kubectl debug")


def _check_resource_claims(value: Any, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    seen = set[str]()
    for index, claim in indexed_mappings(value):
        name = claim.get("name")
        claim_path = (*path, index)
        if is_empty(name):
            problems.required((*claim_path, "name"))
        elif type(name) is str:
            if name in seen:
                problems.duplicate((*claim_path, "name"), name)
            else:
                problems.check_text((*claim_path, "name"), name, names.why_not_dns_label)
            seen.add(name)
        _check_claim_source(claim, claim_path, problems)


def _check_claim_source(claim: Json, path: Path, problems: FieldErrors) -> None:
    fields = ("resourceClaimName", "resourceClaimTemplateName")
    set_fields = [key for key in fields if claim.get(key) is not None]
    if len(set_fields) > 1:
        problems.invalid(path, claim, f"at most one of `{fields[0]}` or `{fields[1]}` may be specified", "keep one")
    elif not set_fields:
        problems.invalid(path, claim, f"must specify one of: `{fields[0]}`, `{fields[1]}`", "set one of them")
    for key in set_fields:
        problems.check_text((*path, key), claim[key], names.why_not_dns_subdomain)


_FIELDS: Mapping[str, PodFieldCheck] = {
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
    "serviceAccount": _check_deprecated_account,
    "nodeName": _check_subdomain_name,
    "priorityClassName": _check_subdomain_name,
    "runtimeClassName": _check_runtime_class,
    "preemptionPolicy": _check_preemption,
    "overhead": _check_overhead,
    "os": check_os,
    "ephemeralContainers": _check_ephemeral,
    "resourceClaims": _check_resource_claims,
    "resources": check_pod_resources,
    "schedulingGroup": check_scheduling_group,
    "evictionResponders": check_eviction_responders,
}


def check_template_metadata(meta: Any, path: Path, problems: FieldErrors, server_path: Path) -> None:
    """Check the labels and annotations of a template; `server_path` is the path that the server reports (a Job's:
    `spec.template`).
    """
    if type(meta) is not dict:
        return
    if meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), problems, field_path((*server_path, "labels")))
    if meta.get("annotations"):
        check_annotations(meta["annotations"], (*path, "annotations"), problems)


_RECREATE_HELP = "delete the pod and apply again: only a pod's images, deadline and tolerations can change"
_CHANGE_IS_FORBIDDEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(update: Update) -> Problems:
    """Yield a problem for the first change that a Pod does not allow."""
    old = nested_map(update.old, "spec")
    new = nested_map(update.new, "spec")
    for key in ("containers", "initContainers"):
        if _item_names(old.get(key)) != _item_names(new.get(key)):
            yield forbidden_change(("spec", key), "pod updates may not add or remove containers", _RECREATE_HELP)
            return
    gated = bool(old.get("schedulingGates"))
    for path in update.under("spec"):
        if not _may_change(path, old, new, gated):
            yield forbidden_change(("spec",), _CHANGE_IS_FORBIDDEN, _RECREATE_HELP)
            return
    yield from _added_gates(old, new)


def _item_names(containers: Any) -> list[Any]:
    return [container.get("name") if isinstance(container, Mapping) else None for container in _as_list(containers)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _may_change(path: tuple[str, ...], old: Json, new: Json, gated: bool) -> bool:
    field = path[1] if len(path) > 1 else ""
    if field in ("containers", "initContainers"):
        return path[3:] == ("image",)
    if field == "activeDeadlineSeconds":
        before = old.get(field)
        after = new.get(field)
        return isinstance(after, int) and (before is None or (isinstance(before, int) and after <= before))
    if field == "tolerations":
        return _keeps_tolerations(_as_list(old.get(field)), _as_list(new.get(field)))
    if field == "schedulingGates":
        return True
    if field == "nodeSelector":
        before = nested_map(old, field)
        after = nested_map(new, field)
        return gated and all(after.get(key) == value for key, value in before.items())
    if field == "affinity":
        return gated and path[2:3] == ("nodeAffinity",) and _narrows_node_affinity(old, new)
    return field == "terminationGracePeriodSeconds" and new.get(field) == 1 and (old.get(field) or 0) < 0


def _keeps_tolerations(before: list[Any], after: list[Any]) -> bool:
    """Return whether the update keeps every toleration, except for changed `tolerationSeconds`."""
    kept = [_without_seconds(toleration) for toleration in after]
    return all(_without_seconds(toleration) in kept for toleration in before)


def _without_seconds(toleration: Any) -> Any:
    if not isinstance(toleration, Mapping):
        return toleration
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value is not None}


def _narrows_node_affinity(old: Json, new: Json) -> bool:
    """Return whether the required node affinity was empty or only gained expressions in its terms."""
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    before = _as_list(nested_map(old, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    after = _as_list(nested_map(new, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    if not before:
        return True
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(_keeps_expressions(old_term, new_term) for old_term, new_term in pairs)


def _keeps_expressions(old_term: Any, new_term: Any) -> bool:
    if not isinstance(old_term, Mapping) or not isinstance(new_term, Mapping):
        return False
    keys = ("matchExpressions", "matchFields")
    return all(
        _as_list(new_term.get(key))[: len(_as_list(old_term.get(key)))] == _as_list(old_term.get(key)) for key in keys
    )


def _added_gates(old: Json, new: Json) -> Problems:
    before = _item_names(old.get("schedulingGates"))
    for index, name in enumerate(_item_names(new.get("schedulingGates"))):
        if name not in before:
            why = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden_change(
                ("spec", "schedulingGates", index, "name"), why, "remove the gate: it is set on creation"
            )
