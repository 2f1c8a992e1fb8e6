"""Pod security: what the level `restricted` asks every pod and container to say of itself.

`podSecurity` of the spec, or else of the profile. The level baseline needs no fields: nothing that ptcompile writes
violates it except fabrics, and compile says so. What the user wrote is kept, and compile rejects it if it violates the
level. A pod without a service account of its own gets no token: training does not talk to the API server. Windows pods
are left alone. Source: pod-security-admission of Kubernetes 1.36, restricted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.ir.pods import Json


def security(job: Job, context: Context) -> Job:
    """Each role's pods, with sidecars and init containers, say what the level restricted asks for."""
    level = job.pod_security or context.cluster.spec.pod_security or ""
    return map_templates(job, _restricted) if level.partition(":")[0] == "restricted" else job


def _restricted(template: PodTemplate) -> PodTemplate:
    if _mapping(template.extra.get("os")).get("name") == "windows":
        return template
    pod = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    extra = {**template.extra, "securityContext": _filled(_mapping(template.extra.get("securityContext")), pod)}
    if not extra.keys() & {"serviceAccountName", "serviceAccount", "automountServiceAccountToken"}:
        extra["automountServiceAccountToken"] = False
    if isinstance(inits := extra.get("initContainers"), list | tuple):
        extra["initContainers"] = [_contained(one) for one in inits]
    filled = template._replace(
        main=template.main._replace(extra=_contained(template.main.extra)),
        sidecars=tuple(_contained(one) for one in template.sidecars),
        extra=extra,
    )
    return template if filled == template else filled


def _contained(container: Json) -> dict[str, Any]:
    """A container that gains no privileges and drops all capabilities; it may add some, as far as the level allows."""
    own = _mapping(container.get("securityContext"))
    capabilities = _filled(_mapping(own.get("capabilities")), {"drop": ["ALL"]})
    wanted: dict[str, Any] = {"capabilities": capabilities}
    if own.get("privileged") is not True and "CAP_SYS_ADMIN" not in (capabilities.get("add") or ()):
        wanted = {"allowPrivilegeEscalation": False, **wanted}  # the API server rejects it beside either of the two
    return {**container, "securityContext": {**_filled(own, wanted), "capabilities": capabilities}}


def _filled(own: Json, wanted: Json) -> dict[str, Any]:
    """The user's fields first, whose keys know their lines in the spec, then those that are missing."""
    return {**own, **{key: value for key, value in wanted.items() if key not in own}}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
