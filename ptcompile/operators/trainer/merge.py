"""Strategic merge of a TrainJob's runtimePatches into its runtime, as Trainer 2.3 does it."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.untyped import at, items, mapping, text
from ptcompile.operators.common.podspec import upserted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_KEYS = {
    "containers": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "replicatedJobs": "name",
    "schedulingGates": "name",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""The key by which a list's items are merged; other lists are replaced (Kubernetes 1.36, JobSet 0.12)."""


def merge(base: Any, patch: Any, field: str = "") -> Any:
    """The patch laid over the base: mappings by key, known lists by their items' key, all else replaced."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        out = dict(base)
        for key, value in patch.items():
            if value is not None:  # a TrainJob's null is unset: it takes nothing away
                out[key] = merge(base.get(key), value, str(key))
        return out
    if isinstance(base, list) and isinstance(patch, list) and field in _KEYS:
        return _merge_lists(base, patch, _KEYS[field])
    return patch


def _merge_lists(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    out = list(items(base))
    for item in items(patch):
        position = next((i for i, old in enumerate(out) if old.get(key) == item.get(key)), None)
        if position is None:
            out.append(item)
        else:
            out[position] = merge(out[position], item)
    return out


def patched(runtime: Json, manifest: Json) -> dict[str, Any]:
    """The runtime's JobSet template with the TrainJob's runtimePatches, in their order.

    Labels and annotations of the template go to the JobSet alone.
    """
    template: dict[str, Any] = dict(at(runtime, "spec", "template"))
    for patch in items(at(manifest, "spec").get("runtimePatches")):
        change = at(patch, "trainingRuntimeSpec").get("template")
        if isinstance(change, Mapping):
            template = merge(template, change)
    return template


def env_over(container: Json, env: Any) -> dict[str, Any]:
    """The container with env entries put in by name."""
    entries = [e for e in items(env) if text(e.get("name"))]
    old = items(container.get("env"))
    return {**mapping(container), "env": upserted(old, entries)} if old or entries else dict(container)
