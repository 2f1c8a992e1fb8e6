"""What KubeRay rejects: names in its webhook, which most clusters do not install, the rest in its
controller.

The controller checks the same before it acts: it records an event and creates no pods. Source:
KubeRay 1.7, ray-operator/controllers/ray/utils/validation.go and pkg/webhooks/v1;
docs/facts/ray.md#who-rejects.
"""

from __future__ import annotations

from collections import Counter

from ptcompile.apiserver.validation.templates import check_templates
from ptcompile.apiserver.webhooks import controller_failure, webhook_rejection
from ptcompile.diagnostics import Edit, Fix, Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import KindContext, Rejections
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_string,
    nested_value,
)
from ptcompile.operators.ray.pods import RayGroup, cluster_of, groups_of, pod_templates

_rejection = webhook_rejection("kuberay")
_LONGEST_NAMES = {"RayCluster": 53, "RayJob": 47, "RayService": 47}
_SPEC: Path = ("spec",)


def validate(manifest: Json, _request: KindContext) -> Problems:
    """Yield what the webhook and, without it, the controller reject: bad names and repeated
    groups.
    """
    kind = nested_string(manifest, "kind")
    name = nested_string(manifest, "metadata", "name")
    longest = _LONGEST_NAMES.get(kind, 53)
    path = ("metadata", "name")
    if len(name) > longest:
        text = f"Invalid value: {kind} name should be no more than {longest} characters"
        yield _rejection(path, text, f"use at most {longest} characters")
    elif name and (why := names.why_not_dns_1035_label(name)):
        yield _rejection(path, f'Invalid value: "{name}": {why}', "use a simpler name")

    groups = [group for group in groups_of(manifest) if not group.is_head]
    counts = Counter[str]()
    for group in groups:
        counts[group.name] += 1
        if counts[group.name] == 2:
            text = "Invalid value: worker group names must be unique"
            yield _rejection((*group.path, "groupName"), text, "give the group its own name")


def controller_errors(manifest: Json, _request: KindContext) -> Problems:
    """Yield what the controller rejects after the object is stored."""
    if manifest.get("kind") == "RayJob":
        yield from _check_job(manifest)
    for group in groups_of(manifest):
        yield from _check_group(group)
    yield from _check_autoscaler(manifest)


def _failure(path: Path, text: str, help: str, fix: Fix | None = None) -> Problem:
    return controller_failure("kuberay", path, text, help)._replace(fix=fix)


def _check_group(group: RayGroup) -> Problems:
    yield from _check_resources(group)
    if group.is_head:
        return

    low = group.spec.get("minReplicas")
    high = group.spec.get("maxReplicas")
    for key, value in (("minReplicas", low), ("maxReplicas", high)):
        if isinstance(value, int) and value < 0:
            text = f"worker group {group.name} has a negative {key}: {value}"
            yield _failure((*group.path, key), text, "use 0 or more")
            return

    if isinstance(low, int) and isinstance(high, int) and low > high:
        text = f"worker group {group.name} has minReplicas {low} greater than maxReplicas {high}"
        edit = Edit("set", (*group.path, "maxReplicas"), low)
        yield _failure(
            (*group.path, "minReplicas"),
            text,
            f"set maxReplicas to at least {low}",
            Fix(f"set maxReplicas to {low}", (edit,)),
        )


_RESOURCE_PARAMETERS = ("num-cpus", "num-gpus", "memory", "resources")


def _check_resources(group: RayGroup) -> Problems:
    """Reject resources that both rayStartParams and `resources` define."""
    if not nested_map(group.spec, "resources"):
        return
    for name in _RESOURCE_PARAMETERS:
        if name in group.parameters:
            yield _failure(
                (*group.path, "rayStartParams", name),
                f"rayStartParams {name} cannot be set together with resources of the group",
                "write it in one of the two",
            )


def _check_autoscaler(manifest: Json) -> Problems:
    cluster = cluster_of(manifest)
    is_second = nested_value(cluster, "autoscalerOptions", "version") == "v2"
    if cluster.get("enableInTreeAutoscaling") is True and is_second:
        for group in groups_of(manifest):
            yield from _check_restart_policy(group, "the autoscaler v2")


def _check_restart_policy(group: RayGroup, feature: str) -> Problems:
    policy = nested_value(group.template, "spec", "restartPolicy")
    if policy not in (None, "", "Never"):
        yield _failure(
            (*group.path, "template", "spec", "restartPolicy"),
            f"restartPolicy must be Never or unset with {feature}",
            "remove it",
        )


def _check_job(manifest: Json) -> Problems:
    spec = nested_map(manifest, "spec")
    selector = nested_map(spec, "clusterSelector")
    mode = nested_string(spec, "submissionMode")
    if spec.get("rayClusterSpec") is None and not selector:
        text = "one of RayClusterSpec or ClusterSelector must be set"
        yield _failure(
            _SPEC, text, "describe the cluster in rayClusterSpec, or name one in clusterSelector"
        )

    retries = nested_int(spec, "backoffLimit")
    if selector:
        yield from _check_selector(spec, retries, mode)
    yield from _check_end(spec)
    if mode == "InteractiveMode" and retries > 0:
        text = "backoffLimit is incompatible with InteractiveMode"
        yield _failure(
            (*_SPEC, "backoffLimit"), text, "remove it: whoever submits the job retries it"
        )
    if mode == "SidecarMode":
        for key in ("submitterPodTemplate", "submitterConfig"):
            if spec.get(key) is not None:
                yield _failure((*_SPEC, key), f"SidecarMode does not support {key}", "remove it")
        heads = [group for group in groups_of(manifest) if group.is_head]
        for head in heads:
            yield from _check_restart_policy(head, "SidecarMode")


def _check_selector(spec: Json, retries: int, mode: str) -> Problems:
    """Reject what a job on an existing cluster cannot have."""
    if spec.get("suspend") is True:
        yield _failure(
            (*_SPEC, "suspend"), "a job with clusterSelector cannot be suspended", "remove it"
        )
    if retries > 0:
        text = "backoffLimit is incompatible with clusterSelector"
        yield _failure((*_SPEC, "backoffLimit"), text, "remove it: a retry starts a new cluster")
    if mode == "SidecarMode":
        text = "SidecarMode is incompatible with clusterSelector"
        yield _failure((*_SPEC, "submissionMode"), text, "remove it")


def _check_end(spec: Json) -> Problems:
    """Reject fields that require the cluster to be deleted at the job's end, and invalid times."""
    shuts_down = spec.get("shutdownAfterJobFinishes") is True
    ends = "a RayJob with shutdownAfterJobFinishes set to false"
    help = "set shutdownAfterJobFinishes to true"
    fix = Fix(help, (Edit("set", (*_SPEC, "shutdownAfterJobFinishes"), True),))
    if spec.get("suspend") is True and not shuts_down:
        yield _failure((*_SPEC, "suspend"), f"{ends} is not allowed to be suspended", help, fix)

    seconds = spec.get("ttlSecondsAfterFinished")
    if isinstance(seconds, int) and seconds > 0 and not shuts_down:
        yield _failure(
            (*_SPEC, "ttlSecondsAfterFinished"),
            f"{ends} cannot have TTLSecondsAfterFinished",
            help,
            fix,
        )
    if isinstance(seconds, int) and seconds < 0:
        text = "TTLSecondsAfterFinished must be a non-negative integer"
        yield _failure((*_SPEC, "ttlSecondsAfterFinished"), text, "use 0 or more")

    deadline = spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and deadline <= 0:
        text = "activeDeadlineSeconds must be a positive integer"
        yield _failure((*_SPEC, "activeDeadlineSeconds"), text, "use 1 or more, or remove it")


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the pods; KubeRay's volume of shared memory is added to them."""
    check_templates(pod_templates(manifest), context, problems)


REJECTIONS = Rejections(
    validate=validate, controller_errors=controller_errors, check_children=check_children
)
