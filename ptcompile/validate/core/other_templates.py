"""Pod templates inside kinds of other operators: accepted, and refused when the pods are made.

Where the templates stand, by API group and kind. A `*` is each item of a list or each value of a mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.templates import check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_RAY: Final = ("headGroupSpec.template", "workerGroupSpecs.*.template")

TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        "spec.leaderWorkerTemplate.leaderTemplate",
        "spec.leaderWorkerTemplate.workerTemplate",
    ),
    ("ray.io", "RayCluster"): tuple(f"spec.{path}" for path in _RAY),
    ("ray.io", "RayJob"): (*(f"spec.rayClusterSpec.{path}" for path in _RAY), "spec.submitterPodTemplate"),
    ("ray.io", "RayService"): tuple(f"spec.rayClusterConfig.{path}" for path in _RAY),
}
"""LeaderWorkerSet 0.10, KubeRay 1.7."""


def other_template_problems(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    """What the server answers to the pods that these operators make of a manifest: stage pod."""
    kind = str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind"))
    found: f.Found = []
    for steps in TEMPLATES.get(kind, ()):
        for path, template in templates_at(manifest, steps):
            check_template(template, path, context, found, frozenset())
    return f.at_stage(found, "pod")


def templates_at(manifest: Mapping[str, Any], steps: str) -> Iterator[tuple[Path, Any]]:
    """What stands at `steps`, with the path to each."""
    return _at(manifest, steps.split("."), ())


def _at(value: Any, steps: list[str], path: Path) -> Iterator[tuple[Path, Any]]:
    if not steps:
        yield path, value
    elif steps[0] == "*":
        parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, one in parts:
            yield from _at(one, steps[1:], (*path, key))
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _at(value[steps[0]], steps[1:], (*path, steps[0]))
