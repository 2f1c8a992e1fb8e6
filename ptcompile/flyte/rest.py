"""What Flyte's platform gives to pods and a ClusterProfile has no word for: laid into each job that is converted.

The job's own words stand, as they stand against a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ptcompile.flyte.accelerators import CLASSES, entry_name
from ptcompile.flyte.foreign import Device, mapping, mappings

if TYPE_CHECKING:
    from ptcompile.flyte.platforms import Platform

Json = Mapping[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Rest:
    """The leftovers of a Flyte configuration. Expressions are node selector requirements of Kubernetes."""

    fields: Json = field(default_factory=dict)
    """Fields of a JobSpec for those who leave them out: affinity, envFrom, securityContext and the like."""
    pod: Json = field(default_factory=dict)
    """Fields of a pod that a JobSpec has no word for: dnsConfig."""
    tolerations: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    """By the resource that a pod asks for, other than the GPU's."""
    interruptible: Json | None = None
    not_interruptible: Json | None = None
    unpartitioned: Mapping[str, Json] = field(default_factory=dict)
    """By catalogue name, for devices that must be whole."""


NOTHING = Rest()


def catalogue_name(device: Device | None, platform: Platform | None) -> str | None:
    """What the job calls its accelerator."""
    if device is None:
        return None
    return entry_name(device, platform.devices) if platform is not None else entry_name(device)


def lay(spec: Json, rest: Rest, device: Device | None) -> dict[str, Any]:
    """A JobSpec with the leftovers beneath it."""
    out = dict(spec)
    for key, value in rest.fields.items():
        if out.get(key) in (None, {}, []):
            out[key] = value
    if rest.pod:
        patch = mapping(out.get("podTemplate"))
        out["podTemplate"] = {**patch, "spec": {**rest.pod, **mapping(patch.get("spec"))}}
    required = [_interruptible(spec, rest), _whole(spec, rest, device)]
    for expression in required:
        if expression is not None:
            out["affinity"] = _with(out.get("affinity") or {}, expression)
    for block in (out, *(out[name] for name in ("master", "worker") if isinstance(out.get(name), dict))):
        asked = _asked(block.get("resources") or {})
        if block is out:
            asked |= _in_template(out.get("podTemplate") or {})
        added = _tolerations(asked, rest)
        if added:
            block["tolerations"] = [*(block.get("tolerations") or []), *added]
    return out


def _interruptible(spec: Json, rest: Rest) -> Json | None:
    return rest.interruptible if spec.get("spot") else rest.not_interruptible


def _whole(spec: Json, rest: Rest, device: Device | None) -> Json | None:
    """The requirement of a device that must not be sliced: no label of a slice, where Flyte is not told otherwise."""
    if device is None or not device.unpartitioned:
        return None
    name = str(spec.get("accelerator"))
    label = CLASSES["tpu" if name.startswith("tpu-") else "nvidia"][2]
    return rest.unpartitioned.get(name, {"key": label, "operator": "DoesNotExist"})


def _asked(resources: Json) -> set[str]:
    """The resources that a block of the spec names, in Kubernetes' words."""
    names = {key for half in ("requests", "limits") for key in resources.get(half) or {}} | set(resources)
    return {"ephemeral-storage" if name == "ephemeralStorage" else name for name in names}


def _in_template(template: Json) -> set[str]:
    """The resources that any container of a pod template names."""
    pod = mapping(template.get("spec"))
    containers = [*mappings(pod.get("containers")), *mappings(pod.get("initContainers"))]
    lists = [mapping(one.get("resources")) for one in containers]
    return {name for one in lists for half in ("requests", "limits") for name in mapping(one.get(half))}


def _tolerations(asked: set[str], rest: Rest) -> list[Json]:
    found = [one for name, items in sorted(rest.tolerations.items()) if name in asked for one in items]
    return [one for i, one in enumerate(found) if one not in found[:i]]


def _with(affinity: Json, expression: Json) -> dict[str, Any]:
    """The affinity with one more requirement in each of its alternatives, as Flyte 1.16 adds it."""
    node = mapping(affinity.get("nodeAffinity"))
    required = mapping(node.get(_REQUIRED))
    terms = []
    for term in mappings(required.get("nodeSelectorTerms")) or [{}]:
        there = mappings(term.get("matchExpressions"))
        new = [] if expression in there else [dict(expression)]
        terms.append({**term, "matchExpressions": [*there, *new]})
    return {**affinity, "nodeAffinity": {**node, _REQUIRED: {**required, "nodeSelectorTerms": terms}}}
