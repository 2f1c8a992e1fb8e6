"""The cluster profile of an import: the minimal one for proofs, and one with the defaults that
several jobs share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from ptcompile.importer.candidate import compile_manifests
from ptcompile.importer.residue import are_equivalent
from ptcompile.kubernetes.unstructured import JsonDict, nested_map, nested_value, without_keys
from ptcompile.spec.reader import default_cluster, read_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


MINIMAL: JsonDict = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "imported"},
    "spec": {"gpu": {"tolerations": []}},
}
"""The built-in profile without its tolerations for GPU pods."""


@cache
def minimal_cluster() -> ClusterProfile:
    """Return the minimal profile."""
    profile = read_cluster(MINIMAL)
    assert profile is not None  # noqa: S101 - a bug of ptcompile
    return profile


def needed_profile(specs: Sequence[JsonDict]) -> JsonDict | None:
    """Return the minimal profile if any spec compiles differently with the built-in one, else
    None.
    """
    fits = all(built_in_fields(spec, minimal_cluster()) == {} for spec in specs)
    return None if fits else MINIMAL


_NO_TOLERATIONS = {"spec": {"tolerations": None}}
"""The pod template that keeps the built-in profile from adding tolerations."""


def built_in_fields(spec: JsonDict, profile: ClusterProfile) -> JsonDict | None:
    """Return the fields with which a spec compiles with the built-in profile as it does with
    `profile`: none, or a pod template without tolerations. None if both compile differently.
    """
    manifests = compile_manifests(spec, profile)
    job = spec["spec"]
    if compile_manifests(spec, default_cluster()) == manifests:
        return {}
    if "podTemplate" in job:
        return None

    fields = {"podTemplate": _NO_TOLERATIONS}
    closed = {**spec, "spec": {**job, **fields}}
    alike = all(
        compile_manifests(closed, cluster) == manifests for cluster in (default_cluster(), profile)
    )

    return fields if alike else None


MIN_JOBS = 3
"""Number of jobs that must share a value before a profile gets it."""
MIN_SHARE = 0.5
"""Share of the jobs that must have the same value for it to be reported as nearly common."""
_MAPPING_FIELDS = ("env", "nodeSelector")
_WHOLE_FIELDS = ("serviceAccountName", "schedulerName", "imagePullSecrets", "tolerations", "queue")


def factor_out_profile(
    specs: Sequence[JsonDict], needed: JsonDict | None
) -> tuple[list[JsonDict], JsonDict | None, list[str]]:
    """Return the specs without their common fields, the profile with these fields, and notes on
    nearly common values.

    A field moves only if every spec then compiles to the same objects. At least three jobs are
    needed. `needed` is the profile that the jobs were proved with, or None for the built-in one.
    """
    profile = {**MINIMAL, "spec": dict((needed or {}).get("spec", {}))}
    remaining = list(specs)
    if len(remaining) >= MIN_JOBS:
        for fields in _common_defaults(remaining):
            new_profile = _with_defaults(profile, fields)
            new_specs = [_without(spec, fields) for spec in remaining]
            if _compile_alike(remaining, profile, new_specs, new_profile):
                remaining = new_specs
                profile = new_profile

    notes = list(_near_misses(remaining)) if len(remaining) >= MIN_JOBS else []
    return remaining, profile if profile["spec"] else needed, notes


def _common_defaults(specs: Sequence[JsonDict]) -> Iterator[JsonDict]:
    """Yield what all jobs have in common, one field or one mapping entry at a time."""
    first, *jobs = [spec["spec"] for spec in specs]
    for field in _WHOLE_FIELDS:
        if field in first and all(job.get(field) == first[field] for job in jobs):
            yield {field: first[field]}
    for field in _MAPPING_FIELDS:
        for key, value in nested_map(first, field).items():
            if isinstance(value, str) and all(
                nested_value(job, field, key) == value for job in jobs
            ):
                yield {field: {key: value}}

    for key, value in nested_map(specs[0], "metadata", "labels").items():
        if all(
            nested_value(spec, "metadata", "labels", key) == value
            and nested_value(spec, "spec", "podLabels", key) == value
            for spec in specs
        ):
            yield {"labels": {key: value}}


def _with_defaults(profile: JsonDict, fields: JsonDict) -> JsonDict:
    defaults = dict(profile["spec"].get("defaults", {}))
    for field, value in fields.items():
        defaults[field] = {**defaults.get(field, {}), **value} if isinstance(value, dict) else value
    return {**profile, "spec": {**profile["spec"], "defaults": defaults}}


def _without(spec: JsonDict, fields: JsonDict) -> JsonDict:
    """Return a spec without the fields that the profile has now."""
    metadata = dict(spec["metadata"])
    job = dict(spec["spec"])
    for field, value in fields.items():
        if field == "labels":
            holders = [(metadata, "labels"), (job, "podLabels")]
        else:
            holders = [(job, field)]

        for holder, name in holders:
            kept = {}
            if isinstance(value, dict):
                kept = without_keys(holder[name], *value)
            if kept:
                holder[name] = kept
            else:
                del holder[name]

    return {**spec, "metadata": metadata, "spec": job}


def _compile_alike(
    specs: Sequence[JsonDict], old: JsonDict, new_specs: Sequence[JsonDict], new: JsonDict
) -> bool:
    old_cluster = read_cluster(old)
    new_cluster = read_cluster(new)
    if old_cluster is None or new_cluster is None:
        return False

    for spec, new_spec in zip(specs, new_specs, strict=True):
        ours = compile_manifests(spec, old_cluster)
        theirs = compile_manifests(new_spec, new_cluster)
        if "$(" in str(ours) or not are_equivalent(ours, theirs, is_exact=False):
            return False

    return True


def _near_misses(specs: Sequence[JsonDict]) -> Iterator[str]:
    """Yield a note on values that most but not all jobs share, which therefore cannot go into
    the profile.
    """
    for field in _MAPPING_FIELDS:
        counted = Counter(
            (key, value)
            for spec in specs
            for key, value in nested_map(spec, "spec", field).items()
            if isinstance(value, str)
        )
        near = [
            key
            for (key, _), count in counted.items()
            if len(specs) * MIN_SHARE <= count < len(specs)
        ]
        if near:
            yield (
                f"not moved to the profile, because some jobs differ: {field} "
                f"{', '.join(sorted(near))}"
            )
