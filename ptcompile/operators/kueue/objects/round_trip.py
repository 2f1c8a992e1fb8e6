"""An object of Kueue after its mutating webhook, which decodes it in Go and encodes it again.

A missing nominalQuota becomes "0", and an amount such as 1.5 becomes text, which the CRD requires.
Cohorts and the other kinds have no such webhook.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver import roundtrip
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import Json, without_nulls

_AMOUNTS = frozenset({"borrowingLimit", "lendingLimit", "nominalQuota", "weight"})
_AMOUNT_MAPS = frozenset({"limits", "overhead", "requests"})

_TOLERATIONS: list[roundtrip.FieldShapes] = [{}]
_SHAPES: dict[str, roundtrip.FieldShapes] = {
    "ClusterQueue": {
        "resourceGroups": [
            {
                roundtrip.ZERO: {"coveredResources": None, "flavors": None},
                "coveredResources": roundtrip.STRINGS,
                "flavors": [
                    {
                        roundtrip.ZERO: {"name": "", "resources": None},
                        "resources": [{roundtrip.ZERO: {"name": "", "nominalQuota": "0"}}],
                    }
                ],
            }
        ],
        "namespaceSelector": {
            "matchExpressions": [
                {
                    roundtrip.ZERO: {"key": "", "operator": ""},
                    "values": roundtrip.STRINGS,
                }
            ]
        },
    },
    "ResourceFlavor": {
        "nodeTaints": [{roundtrip.ZERO: {"key": "", "effect": ""}}],
        "tolerations": _TOLERATIONS,
    },
    "Workload": {"podSets": [{"template": roundtrip.POD_TEMPLATE}]},
}
"""Shape of the spec of each kind that a mutating webhook decodes (Kueue 0.19,
apis/kueue/v1beta2).
"""


def as_kueue_writes(manifest: Json, kind: str) -> Json:
    """Return the object that the mutating webhook sends back, or the manifest itself if nothing
    changes.
    """
    spec = manifest.get("spec")
    if kind not in _SHAPES or not isinstance(spec, dict):
        return manifest
    written = _with_text_amounts(roundtrip.as_go_writes(without_nulls(spec), _SHAPES[kind]))
    if written is spec:
        return manifest
    return {**manifest, "spec": written}


def _with_text_amounts(value: Any, *, in_amounts: bool = False) -> Any:
    """Return a value whose fractional amounts are text, as Go writes quantities."""
    if isinstance(value, dict):
        changed = {}
        for key, item in value.items():
            if in_amounts or key in _AMOUNTS:
                new = _written_amount(item)
            else:
                new = _with_text_amounts(item, in_amounts=key in _AMOUNT_MAPS)
            if new is not item:
                changed[key] = new
        return {**value, **changed} if changed else value

    if isinstance(value, list):
        items = [_with_text_amounts(item) for item in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return items

    return value


def _written_amount(value: Any) -> Any:
    amount = quantity.parse(value) if type(value) is float else None
    return value if amount is None else str(amount)
