"""Where the pods of an object are described: the object itself, or its templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named
from ptcompile.operators.common.templates import templates_of
from ptcompile.validate.core.other_templates import TEMPLATES, templates_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

PLACES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec.template",),
    ("apps", "DaemonSet"): ("spec.template",),
    ("apps", "Deployment"): ("spec.template",),
    ("apps", "ReplicaSet"): ("spec.template",),
    ("apps", "StatefulSet"): ("spec.template",),
    ("batch", "CronJob"): ("spec.jobTemplate.spec.template",),
    **TEMPLATES,
}
"""By API group and kind; those of the operators' kinds are found by their records."""


def pods_of(manifest: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, Any]]]:
    """Each pod of a manifest: the path to it, its spec and its metadata. That of a Pod is empty."""
    kind = str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind"))
    key = kind_of(manifest)
    found: list[tuple[Path, Any]] = []
    if kind_named(key).namespaced:
        found += [(one.path, one.template) for one in templates_of(key, manifest)]
    for steps in PLACES.get(kind, ()):
        found += templates_at(manifest, steps)
    for path, template in found:
        spec = template.get("spec") if isinstance(template, Mapping) else None
        if isinstance(spec, Mapping):
            meta = template.get("metadata")
            yield path, spec, meta if isinstance(meta, Mapping) else {}
