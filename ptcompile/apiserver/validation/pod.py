"""The pod spec, rules that apply to Pods but not to templates, and updates of Pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.apiserver.validation.containers import RESTART_POLICIES, check_containers
from ptcompile.apiserver.validation.context import FIELD_GATES, is_dropped
from ptcompile.apiserver.validation.dns import (
    check_dns_config,
    check_dns_policy,
    check_host_aliases,
    check_hostname_override,
    check_label_field,
)
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels, why_not_key
from ptcompile.apiserver.validation.pod_groups import (
    check_eviction_responders,
    check_scheduling_group,
)
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
from ptcompile.apiserver.validation.values import (
    PREEMPTION_POLICIES,
    check_host_ports,
    is_canonical,
)
from ptcompile.apiserver.validation.volumes import check_volumes, volumes_by_name
from ptcompile.diagnostics import Problems, field_path
from ptcompile.diagnostics.field_errors import (
    container_names,
    forbidden_change,
    indexed_mappings,
    key_path,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.pod_spec import REQUIRED
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.resources import HUGE_PAGES
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    as_mapping,
    nested_map,
    nested_value,
    without_keys,
    without_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    PodFieldCheck = Callable[[FieldValue], None]


_MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
_DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
_APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
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
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
)


def check_pod_only_rules(spec: FieldValue) -> None:
    """Check what the server accepts in a template but rejects in a Pod."""
    for key in ("containers", "initContainers"):
        for container in spec[key].objects():
            image = container.value.get("image")
            if type(image) is str and image != image.strip():
                container["image"].invalid(
                    "must not have leading or trailing whitespace", "remove the whitespace"
                )

    if spec.get("nodeName") and spec.get("schedulingGates"):
        spec["nodeName"].forbidden("cannot be set until all schedulingGates have been cleared")
    if spec.get("overhead") and not spec.get("runtimeClassName"):
        spec["overhead"].forbidden(
            "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        )


def check_pod_annotations(metadata: FieldValue, spec: Any) -> None:
    """Check annotations that the server interprets (Kubernetes 1.36
    `ValidatePodSpecificAnnotations`).
    """
    for key, annotation in metadata["annotations"].entries():
        field = key_path(annotation.path)
        text = annotation.value
        if key == _MIRROR_ANNOTATION and not as_mapping(spec).get("nodeName"):
            annotation.invalid(
                "must set spec.nodeName if mirror pod annotation is set", field=field
            )
        elif key == _DELETION_COST_ANNOTATION and type(text) is str and not is_canonical(text, 32):
            annotation.invalid("must be a 32bit integer", field=field)
        elif key.startswith(_APP_ARMOR_PREFIX) and type(text) is str:
            container = key.removeprefix(_APP_ARMOR_PREFIX)
            if container not in container_names(as_mapping(spec)):
                missing = annotation.replaced(container)
                missing.invalid("container not found", "name one of the pod's containers", field)

            is_local = text.startswith("localhost/")
            if not is_local and text not in ("runtime/default", "unconfined", ""):
                annotation.invalid("invalid AppArmor profile name", field=field)


def check_os(os: FieldValue) -> None:
    """Check `spec.os`, and the fields that the other operating system does not have."""
    if not os.is_mapping:
        return

    name = os["name"]
    if name.is_empty:
        name.required("cannot be empty", "set it to linux, or remove `os`")
    elif name.value == "windows":
        _check_windows(os.pod)
    elif name.value == "linux":
        for context in _security_contexts(os.pod):
            context["windowsOptions"].check_unset("windows options cannot be set for a linux pod")
    else:
        os.replaced(name.value).check_choice(("linux", "windows"))


def _security_contexts(pod: FieldValue) -> Iterator[FieldValue]:
    for holder in (pod, *pod["containers"].objects(), *pod["initContainers"].objects()):
        yield holder["securityContext"]


def _check_windows(pod: FieldValue) -> None:
    why = "cannot be set for a windows pod"
    for name in (*_LINUX_ONLY_IF_TRUE, *_LINUX_ONLY_FIELDS):
        value = pod.get(name)
        if value is True or (value is False and name in _LINUX_ONLY_FIELDS):
            pod[name].forbidden(why)
    for context in _security_contexts(pod):
        for name in _LINUX_SECURITY_FIELDS:
            context[name].check_unset(why)


def check_pod(pod: FieldValue) -> None:
    """Check a Pod, except the generic part of its metadata."""
    spec = pod["spec"]
    check_pod_annotations(pod["metadata"], spec.value)
    check_pod_spec(spec, template=False)


def check_pod_spec(
    spec: FieldValue, *, template: bool, extra_volumes: frozenset[str] = frozenset()
) -> None:
    """Check the spec of a pod.

    `template` is true inside a Job, whose template gets fewer defaults and fewer checks than a Pod.
    `extra_volumes` are volumes that an operator adds to the pod.
    """
    pod = spec.or_zero({})
    if not pod.is_mapping:
        return

    volumes = volumes_by_name(pod.get("volumes"))
    if volumes is not None and extra_volumes:
        volumes = {**dict.fromkeys(extra_volumes), **volumes}
    scope = CheckScope(
        server=spec.server,
        problems=spec.problems,
        pod=pod.value,
        template=template,
        volumes=volumes,
        claims=_claim_names(pod.get("resourceClaims")),
    )
    _check_spec(FieldValue(pod.value, spec.path, scope))


def _check_spec(spec: FieldValue) -> None:
    seen: set[str] = set()
    check_containers(spec["containers"], seen)
    if spec.value.get("initContainers"):
        check_containers(spec["initContainers"], seen)
    for key, value in spec.value.items():
        check = _FIELDS.get(key)
        if check is None or value is None or (key in FIELD_GATES and is_dropped(key, spec.server)):
            continue
        check(spec[key])

    _check_host_ports(spec)
    check_host_process(spec)
    check_host_namespaces(spec)
    if not spec.scope.template:
        check_pod_only_rules(spec)


def check_template(template: FieldValue, extra_volumes: frozenset[str] = frozenset()) -> None:
    """Check the pod template of one of the server's own controllers."""
    meta = template["metadata"]
    spec = template["spec"]
    if meta.value:
        check_template_metadata(meta, template)
        check_pod_annotations(meta, spec.value)
    check_pod_spec(spec, template=True, extra_volumes=extra_volumes)


def _claim_names(value: Any) -> frozenset[str] | None:
    if value is None:
        return frozenset()
    claims: list[Any] = [claim.get("name") for _, claim in indexed_mappings(value)]
    if any(type(name) is not str for name in claims):
        return None
    return frozenset(claims)


def _check_host_ports(spec: FieldValue) -> None:
    fill = spec.get("hostNetwork") is True and not spec.scope.template
    check_host_ports(spec["containers"].objects(), fill)
    # init containers run one after another
    for init in spec["initContainers"].objects():
        check_host_ports([init], fill)


def _check_subdomain_name(name: FieldValue) -> None:
    name.check_optional_text(names.why_not_dns_subdomain)


def _check_deprecated_account(name: FieldValue) -> None:
    # the server ignores `serviceAccount`, the deprecated name, beside `serviceAccountName`
    if not name.pod.get("serviceAccountName"):
        _check_subdomain_name(name)


def _check_readiness_gates(gates: FieldValue) -> None:
    for gate in gates.objects():
        gate["conditionType"].or_default("").check_text(why_not_key)


def _check_overhead(overhead: FieldValue) -> None:
    check_amounts(overhead.replaced({"limits": overhead.value}), partial=True)
    resources = overhead.mapping.keys()
    if not resources & {"cpu", "memory"} and any(name.startswith(HUGE_PAGES) for name in resources):
        overhead.forbidden("HugePages require cpu or memory", "add cpu or memory")


def _check_ephemeral(containers: FieldValue) -> None:
    if containers.value:
        in_template = containers.scope.template
        if in_template:
            why = "ephemeral containers not allowed in pod template"
        else:
            why = "cannot be set on create"
        containers.forbidden(why, "add them to the running pod with kubectl debug")


def _check_resource_claims(claims: FieldValue) -> None:
    seen = set[str]()
    for claim in claims.objects():
        name = claim["name"]
        if name.is_empty:
            name.required()
        elif name.is_text:
            if name.value in seen:
                name.duplicate()
            else:
                name.check_text(names.why_not_dns_label)
            seen.add(name.value)

        _check_claim_source(claim)


def _check_claim_source(claim: FieldValue) -> None:
    sources = claim.set_fields(("resourceClaimName", "resourceClaimTemplateName"))
    if len(sources) > 1:
        why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        claim.invalid(why, "keep one")
    elif not sources:
        why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        claim.invalid(why, "set one of them")
    for source in sources:
        source.check_text(names.why_not_dns_subdomain)


_FIELDS: Mapping[str, PodFieldCheck] = {
    "volumes": check_volumes,
    "restartPolicy": lambda policy: policy.check_optional_choice(RESTART_POLICIES),
    "activeDeadlineSeconds": lambda seconds: seconds.check_range(1, ID_MAX),
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
    "runtimeClassName": lambda name: name.check_text(names.why_not_dns_subdomain),
    "preemptionPolicy": lambda policy: policy.check_required_choice(PREEMPTION_POLICIES),
    "overhead": _check_overhead,
    "os": check_os,
    "ephemeralContainers": _check_ephemeral,
    "resourceClaims": _check_resource_claims,
    "resources": check_pod_resources,
    "schedulingGroup": check_scheduling_group,
    "evictionResponders": check_eviction_responders,
}


def check_template_metadata(meta: FieldValue, reported: FieldValue) -> None:
    """Check the labels and annotations of a template; `reported` is the object that the server
    names with the labels (a Job's: `spec.template`).
    """
    if meta.get("labels"):
        labels = meta["labels"]
        check_labels(labels.value, labels.path, meta.problems, field_path(reported["labels"].path))
    meta["annotations"].check(check_annotations)


_RECREATE_HELP = (
    "delete the pod and apply again: only a pod's images, deadline and tolerations can change"
)
_CHANGE_IS_FORBIDDEN = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(update: Update) -> Problems:
    """Yield a problem for the first change that a Pod does not allow."""
    old = nested_map(update.old, "spec")
    new = nested_map(update.new, "spec")
    for key in ("containers", "initContainers"):
        if _item_names(old.get(key)) != _item_names(new.get(key)):
            yield forbidden_change(
                ("spec", key), "pod updates may not add or remove containers", _RECREATE_HELP
            )
            return

    gated = bool(old.get("schedulingGates"))
    for path in update.under("spec"):
        if not _may_change(path, old, new, gated):
            yield forbidden_change(("spec",), _CHANGE_IS_FORBIDDEN, _RECREATE_HELP)
            return

    yield from _added_gates(old, new)


def _item_names(containers: Any) -> list[Any]:
    return [nested_value(container, "name") for container in as_list(containers)]


def _may_change(path: tuple[str, ...], old: Json, new: Json, gated: bool) -> bool:
    """Return whether an update may change the field at a path of a pod. `gated`: the pod has
    scheduling gates, so it is not scheduled yet.
    """
    field = path[1] if len(path) > 1 else ""
    if field in ("containers", "initContainers"):
        return path[3:] == ("image",)
    if field == "activeDeadlineSeconds":
        before = old.get(field)
        after = new.get(field)
        return isinstance(after, int) and (
            before is None or (isinstance(before, int) and after <= before)
        )
    if field == "tolerations":
        kept = [_without_seconds(toleration) for toleration in as_list(new.get(field))]
        return all(_without_seconds(toleration) in kept for toleration in as_list(old.get(field)))
    if field == "schedulingGates":
        return True
    if field == "nodeSelector":
        before = nested_map(old, field)
        after = nested_map(new, field)
        return gated and all(after.get(key) == value for key, value in before.items())
    if field == "affinity":
        return gated and path[2:3] == ("nodeAffinity",) and _narrows_node_affinity(old, new)

    return (
        field == "terminationGracePeriodSeconds"
        and new.get(field) == 1
        and (old.get(field) or 0) < 0
    )


def _without_seconds(toleration: Any) -> Any:
    """Return a toleration without `tolerationSeconds`, which may change, and without nulls."""
    if not isinstance(toleration, Mapping):
        return toleration
    return without_none(without_keys(toleration, "tolerationSeconds"))


def _narrows_node_affinity(old: Json, new: Json) -> bool:
    """Return whether the required node affinity was empty or only gained expressions in its
    terms.
    """
    path = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    before, after = (as_list(nested_value(spec, *path)) for spec in (old, new))
    if not before:
        return True
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(
        _keeps_expressions(old_term, new_term) for old_term, new_term in pairs
    )


def _keeps_expressions(old_term: Any, new_term: Any) -> bool:
    if not isinstance(old_term, Mapping) or not isinstance(new_term, Mapping):
        return False
    keys = ("matchExpressions", "matchFields")
    for key in keys:
        expressions = as_list(old_term.get(key))
        if as_list(new_term.get(key))[: len(expressions)] != expressions:
            return False
    return True


def _added_gates(old: Json, new: Json) -> Problems:
    before = _item_names(old.get("schedulingGates"))
    for index, name in enumerate(_item_names(new.get("schedulingGates"))):
        if name not in before:
            why = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden_change(
                ("spec", "schedulingGates", index, "name"),
                why,
                "remove the gate: it is set on creation",
            )
