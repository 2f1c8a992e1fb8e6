"""What an apply does to an object that is there, in a word and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.diffing.values import Apply
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_ROLLS: Final[dict[tuple[str, str], tuple[tuple[str, ...], str]]] = {
    ("apps", "Deployment"): (("spec", "template"), "pods are replaced, a few at a time"),
    ("apps", "DaemonSet"): (("spec", "template"), "pods are replaced, a few at a time"),
    ("apps", "StatefulSet"): (("spec", "template"), "pods are replaced, the last one first"),
    ("", "Pod"): (("spec", "containers"), "a container whose image changes is restarted"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate"),
        "groups of pods are replaced, one at a time",
    ),
}
"""Where a change restarts pods, by API group and kind."""

_LATER: Final[dict[tuple[str, str], tuple[tuple[tuple[str, ...], str], ...]]] = {
    ("apps", "ReplicaSet"): ((("spec", "template"), "running pods stay as they are; later pods use the new template"),),
    ("batch", "CronJob"): ((("spec", "jobTemplate"), "running Jobs stay as they are; it applies to the next ones"),),
    ("ray.io", "RayCluster"): (
        (("spec",), "running pods stay as they are; replicas are scaled (upgradeStrategy Recreate replaces all)"),
    ),
    ("ray.io", "RayJob"): ((("spec", "rayClusterSpec"), "the running cluster stays as it is"),),
    ("", "ConfigMap"): ((("data",), "volumes follow after a minute (not with subPath), variables never"),),
    ("", "Secret"): ((("data",), "volumes follow after a minute (not with subPath), variables never"),),
}
"""Where a change is taken and running pods do not see it; operators' kinds have `unseen_changes`."""


def verdict(
    old: Mapping[str, Any], new: Mapping[str, Any], touched: Sequence[tuple[str, ...]], problems: Sequence[Problem]
) -> Apply:
    """The verdict on an apply of `new` over `old`; `problems` are why it is rejected."""
    if any(problem.severity == "error" for problem in problems):
        return Apply("refused", None)  # the caller shows why
    api_version, kind = kind_of(new)
    key = api_version.rpartition("/")[0], kind
    rolls = _ROLLS.get(key)
    if rolls is not None and any(path[: len(rolls[0])] == rolls[0] for path in touched):
        return Apply("restarts", rolls[1])
    for place, why in kind_named((api_version, kind)).unseen_changes(old) or _LATER.get(key, ()):
        if any(path[: len(place)] == place for path in touched):
            return Apply("ignored", why)
    return Apply("in-place" if touched else "unchanged", None)
