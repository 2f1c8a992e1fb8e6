"""`podSecurity: restricted` in place of the fields that it fills in, where an object has all of them."""

from __future__ import annotations

from ptcompile.importing.compiled import manifests
from ptcompile.kubernetes.untyped import at, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_OF_A_POD: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_OF_A_CONTAINER: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def hardened(spec: Spec, cluster: ClusterProfile) -> Spec:
    """The spec with the word in place of the fields, if it compiles to the same objects; else as it is."""
    job = spec["spec"]
    if "podSecurity" in job or "allowPrivilegeEscalation" not in str(job):
        return spec
    tried = {**spec, "spec": {**_bare_block(job), "podSecurity": "restricted"}}
    wanted = manifests(spec, cluster)
    return tried if wanted is not None and manifests(tried, cluster) == wanted else spec


def _bare_block(block: Json) -> dict[str, Any]:
    """The job or a role without what the level fills in."""
    out = _bare_container(_without(block, "podSecurityContext", _OF_A_POD))
    for role in {"master", "worker"} & out.keys():
        out[role] = _bare_block(out[role])
    for name, role in out.get("roles", {}).items():
        out["roles"] = {**out["roles"], name: _bare_block(role)}
    if pod := at(out, "podTemplate", "spec"):
        left = {"spec": _bare_pod(pod)} if _bare_pod(pod) else {}
        template = {**{key: value for key, value in out["podTemplate"].items() if key != "spec"}, **left}
        out = {**{key: value for key, value in out.items() if key != "podTemplate"}}
        out |= {"podTemplate": template} if template else {}
    return out


def _bare_pod(pod: Json) -> dict[str, Any]:
    out = _without(pod, "securityContext", _OF_A_POD)
    if out.get("automountServiceAccountToken") is False:
        del out["automountServiceAccountToken"]
    for key in {"containers", "initContainers"} & out.keys():
        out[key] = [_bare_container(one) for one in items(out[key])]
    return out


def _bare_container(container: Json) -> dict[str, Any]:
    """A container, or what a block says of its own. Beside `drop`, capabilities may add some."""
    out = _without(container, "securityContext", _OF_A_CONTAINER)
    added = at(out, "securityContext", "capabilities")
    if added.get("drop") == ["ALL"]:
        capabilities = {key: value for key, value in added.items() if key != "drop"}
        out["securityContext"] = {**out["securityContext"], "capabilities": capabilities}
    return out


def _without(holder: Json, key: str, filled: Json) -> dict[str, Any]:
    """A mapping whose security context lacks the fields that are filled in, or that has none."""
    own = at(holder, key)
    left = {field: value for field, value in own.items() if field not in filled or value != filled[field]}
    out = {other: value for other, value in holder.items() if other != key}
    return {**out, key: left} if left else out
