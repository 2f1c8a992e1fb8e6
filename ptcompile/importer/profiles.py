"""The profile that a proof is made with: one that adds nothing, unless the manifests are to be told apart from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ptcompile.importer.residue import gaps, manifests
from ptcompile.spec.reader import cluster, default_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]

MINIMAL: Final[Json] = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "imported"},
    "spec": {"gpu": {"tolerations": []}},
}
"""The built-in profile without the tolerations that it gives to pods with GPUs."""


def needed(specs: Sequence[Json], profile: ClusterProfile) -> bool:
    """Whether the built-in profile makes something else of a spec than this one does."""
    return any(manifests(one, default_cluster()) != manifests(one, profile) for one in specs)


_LEAST = 3
"""Jobs that must have something in common before a profile says it."""
_NEAR = 0.5
"""Share of the jobs from which something nearly common is told."""
_MAPPINGS = {"env": "env", "nodeSelector": "nodeSelector"}
_WHOLE = ("serviceAccountName", "schedulerName", "imagePullSecrets", "tolerations", "queue")


def factored(specs: Sequence[Json], needed: Json | None) -> tuple[list[Json], Json | None, list[str]]:
    """The same specs without what all of them have in common, the profile that says it, and what is nearly common.

    A word moves only where every spec then compiles to the same as before. Fewer than three jobs have nothing in
    common. `needed` is the profile that they were proved with, None for the built-in one.
    """
    profile = {**MINIMAL, "spec": dict((needed or {}).get("spec", {}))}
    left = list(specs)
    for words in _common(left) if len(left) >= _LEAST else ():
        tried_profile, tried = _with_default(profile, words), [_without(one, words) for one in left]
        if _same(left, profile, tried, tried_profile):
            left, profile = tried, tried_profile
    return left, profile if profile["spec"] else needed, list(_near(left)) if len(left) >= _LEAST else []


def _common(specs: Sequence[Json]) -> Iterator[Json]:
    """What every job says alike, one word or one entry of a mapping at a time."""
    jobs = [one["spec"] for one in specs]
    for word in _WHOLE:
        if word in jobs[0] and all(one.get(word) == jobs[0][word] for one in jobs):
            yield {word: jobs[0][word]}
    for word in _MAPPINGS:
        for key, value in (jobs[0].get(word) or {}).items():
            if isinstance(value, str) and all((one.get(word) or {}).get(key) == value for one in jobs):
                yield {word: {key: value}}
    labels = [(one["metadata"].get("labels") or {}, one["spec"].get("podLabels") or {}) for one in specs]
    for key, value in labels[0][0].items():
        if all(own.get(key) == value == pods.get(key) for own, pods in labels):
            yield {"labels": {key: value}}


def _with_default(profile: Json, words: Json) -> Json:
    defaults = dict(profile["spec"].get("defaults", {}))
    for word, value in words.items():
        defaults[word] = {**defaults.get(word, {}), **value} if isinstance(value, dict) else value
    return {**profile, "spec": {**profile["spec"], "defaults": defaults}}


def _without(spec: Json, words: Json) -> Json:
    metadata, job = dict(spec["metadata"]), dict(spec["spec"])
    for word, value in words.items():
        holders = [(metadata, "labels"), (job, "podLabels")] if word == "labels" else [(job, word)]
        for holder, name in holders:
            left = {k: v for k, v in holder[name].items() if k not in value} if isinstance(value, dict) else None
            if left:
                holder[name] = left
            else:
                del holder[name]
    return {**spec, "metadata": metadata, "spec": job}


def _same(before: Sequence[Json], old: Json, after: Sequence[Json], new: Json) -> bool:
    was, now = cluster(old), cluster(new)
    if was is None or now is None:
        return False
    for one, other in zip(before, after, strict=True):
        made, again = manifests(one, was), manifests(other, now)
        if made is None or again is None or len(made) != len(again) or "$(" in str(made):
            return False
        if any(gaps(x, y) for x, y in zip(made, again, strict=True)):
            return False
    return True


def _near(specs: Sequence[Json]) -> Iterator[str]:
    """What most jobs have alike and some have not, which no profile may say."""
    for word in _MAPPINGS:
        counted = Counter(
            (key, value)
            for one in specs
            for key, value in (one["spec"].get(word) or {}).items()
            if isinstance(value, str)
        )
        near = [key for (key, _), count in counted.items() if len(specs) * _NEAR <= count < len(specs)]
        if near:
            yield f"nearly common in {word}, so not in the profile: {', '.join(sorted(near))}"
