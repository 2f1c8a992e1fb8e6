"""Independent reference for explanations: another way to remove a line and another way to compare manifests.

Uses nothing of `ptcompile.explainer`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ptcompile.compiler import passes
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_profile, decode_spec
from ptcompile.diagnostics import Path
from ptcompile.ir.job import Context
from ptcompile.operators.targets import default_target, target_named
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.objects import Profile

Json = dict[str, Any]


def every_leaf(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Return all scalars and empty containers with their paths."""
    inner = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    return (
        [leaf for key, child in inner for leaf in every_leaf(child, (*path, key))]
        if inner
        else [(path, value)]
    )


def without(data: Json, path: Path) -> Json:
    """Return a copy of the data without the value at `path`."""
    whole = copy.deepcopy(data)
    holder: Any = whole
    for part in path[:-1]:
        holder = holder[part]
    del holder[path[-1]]
    return whole


def emitted(data: Json, cluster: Json | ClusterProfile, target: str | None) -> list[Json]:
    """Return the manifests of an unvalidated spec."""
    spec, problems = decode_spec(data)
    profile = cluster if isinstance(cluster, Profile) else decode_profile(cluster)[0]
    assert spec is not None, problems
    assert profile is not None
    job = lower(spec, profile)
    chosen = target_named(target) if target is not None else default_target(job, profile)
    job = passes.run(job, Context(profile, chosen))
    return chosen.emit(job, profile)


def count_values(manifests: Sequence[Json]) -> Counter[tuple[str, str]]:
    """Count each value per place, where list items are identified by name or not at all."""
    return Counter(
        (place(path, manifests), repr(value)) for path, value in every_leaf(list(manifests))
    )


def place(path: Path, manifests: Any) -> str:
    """Return a path in which list items are identified by name."""
    out, data = "", manifests
    for part in path:
        data = data[part]
        out += f"/{part}" if isinstance(part, str) else f"/[{_called(data)}]"
    return out


def _called(item: Any) -> str:
    keys = ("mountPath", "name", "key", "kind")
    return (
        next((str(item[key]) for key in keys if key in item), "") if isinstance(item, dict) else ""
    )
