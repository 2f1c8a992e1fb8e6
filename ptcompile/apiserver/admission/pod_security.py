"""Pod Security Admission: what the level of a namespace forbids pods, said at the pod's field.

A Pod is rejected; of a template the pods are, later. Without a label on the namespace, or a level in the profile, there
is nothing to say. Sources: pod-security-admission of Kubernetes 1.30 to 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.pod_security_levels import Violation, violations
from ptcompile.apiserver.validation.templates import pods_of
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.diagnostics.terms import Severity

    Json = Mapping[str, Any]

LEVELS: Final = ("privileged", "baseline", "restricted")
_LABEL: Final = "pod-security.kubernetes.io/"
_LATEST: Final = "latest"


class Level(NamedTuple):
    """A level, and the version of Kubernetes whose checks it means."""

    name: str
    version: str = _LATEST

    def minor(self, server: Version) -> int:
        """The minor version of the checks: no newer than the server's."""
        if not self.version.startswith("v1.") or not self.version[3:].isdecimal():
            return server[1]
        return min(int(self.version[3:]), server[1])


def pod_security_problems(
    manifest: Json, others: Sequence[Json], profile: str | None, server: Version
) -> Iterator[Problem]:
    """What the namespace's levels have against the pods of a manifest.

    `others` are the objects of the stream, its Namespaces among them; `profile` is the level of every namespace without
    labels, such as `restricted` or `baseline:v1.34`.
    """
    pods = list(pods_of(manifest))
    modes = _modes(manifest, others, profile) if pods else {}
    if not modes:
        return

    for path, spec, meta in pods:
        said: set[Violation] = set()
        for mode in ("enforce", "warn", "audit"):
            level = modes.get(mode)
            if level is None:
                continue
            for one in violations(level.name, level.minor(server), spec, meta):
                if one not in said:
                    said.add(one)
                    yield _problem(one, level, mode, path)


def _problem(one: Violation, level: Level, mode: str, pod: Path) -> Problem:
    path = (*pod, *one.path)
    said = f'violates PodSecurity "{level.name}:{level.version}": {one.reason}'
    if mode != "enforce":
        said = f"would {said.replace('violates', 'violate', 1)} (mode {mode})"
    message = f"{field_path(path)}: {said} ({one.detail})"
    severity: Severity = "error" if mode == "enforce" else "warning"
    return Problem("pod-security", path, message, one.help, severity, "pod" if pod else "apply")


def _modes(manifest: Json, others: Sequence[Json], profile: str | None) -> dict[str, Level]:
    """The levels that count for a manifest, by mode; those that allow everything are left out."""
    labels = _labels(_namespace(manifest), others)
    found = {}
    for mode in ("enforce", "warn", "audit"):
        name = labels.get(f"{_LABEL}{mode}")
        if isinstance(name, str):
            known = name in LEVELS
            level = name if known else "restricted" if mode == "enforce" else "privileged"
            found[mode] = Level(level, str(labels.get(f"{_LABEL}{mode}-version") or _LATEST) if known else _LATEST)
    if not found and profile:
        name, _, version = profile.partition(":")
        found["enforce"] = Level(name, version or _LATEST)
    return {mode: level for mode, level in found.items() if level.name != "privileged"}


def _namespace(manifest: Json) -> str:
    meta = manifest.get("metadata")
    name = meta.get("namespace") if isinstance(meta, Mapping) else None
    return name if isinstance(name, str) and name else "default"


def _labels(namespace: str, others: Sequence[Json]) -> Mapping[str, Any]:
    for one in others:
        meta = one.get("metadata")
        if one.get("kind") == "Namespace" and one.get("apiVersion") == "v1" and isinstance(meta, Mapping):
            labels = meta.get("labels")
            if meta.get("name") == namespace and isinstance(labels, Mapping):
                return labels
    return {}
