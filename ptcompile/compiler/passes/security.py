"""Pod security: the fields that the level `restricted` requires in every pod and container.

The level is `podSecurity` of the spec, or else of the profile. The level baseline requires no
fields: only fabrics make ptcompile's output violate it, and compile reports that. The user's fields
are kept, and compile rejects them if they violate the level. A pod without its own service account
gets no token, because training does not talk to the API server. Windows pods are left unchanged.
Source: pod-security-admission of Kubernetes 1.36, restricted.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_string,
    without_keys,
)


def security(job: Job, context: Context) -> Job:
    """Add the fields that the level restricted requires to the pods of each role, sidecars and init
    containers included.
    """
    level = job.pod_security or context.cluster.spec.pod_security or ""
    if level.partition(":")[0] == "restricted":
        return map_templates(job, _restrict)
    return job


def _restrict(template: PodTemplate) -> PodTemplate:
    """Return the template with the fields that the level `restricted` requires; those of the user
    stay.
    """
    if nested_string(template.extra, "os", "name") == "windows":
        return template

    pod = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    extra = {
        **template.extra,
        "securityContext": _fill(nested_map(template.extra, "securityContext"), pod),
    }
    if not extra.keys() & {"serviceAccountName", "serviceAccount", "automountServiceAccountToken"}:
        extra["automountServiceAccountToken"] = False
    if isinstance(inits := extra.get("initContainers"), list | tuple):
        extra["initContainers"] = [_restrict_container(container) for container in inits]
    filled = template._replace(
        main=template.main._replace(extra=_restrict_container(template.main.extra)),
        sidecars=tuple(_restrict_container(container) for container in template.sidecars),
        extra=extra,
    )

    return template if filled == template else filled


def _restrict_container(container: Json) -> JsonDict:
    """Return the container without privilege escalation and with all capabilities dropped;
    capabilities it adds are kept.
    """
    context = nested_map(container, "securityContext")
    capabilities = _fill(nested_map(context, "capabilities"), {"drop": ["ALL"]})
    required: JsonDict = {"capabilities": capabilities}
    if context.get("privileged") is not True and "CAP_SYS_ADMIN" not in (
        capabilities.get("add") or ()
    ):
        # the API server rejects false together with either of the two
        required = {
            "allowPrivilegeEscalation": False,
            **required,
        }

    return {
        **container,
        "securityContext": {**_fill(context, required), "capabilities": capabilities},
    }


def _fill(fields: Json, defaults: Json) -> JsonDict:
    """Return the user's fields first, whose keys carry their origins, then the missing ones."""
    return {**fields, **without_keys(defaults, *fields)}
