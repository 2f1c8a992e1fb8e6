"""Pod Security Admission: violations of a namespace's level, reported at the pod's field.

A Pod is rejected; for a template, its pods are rejected later. Without a label on the namespace or
a level in the profile nothing is checked. Sources: pod-security-admission of Kubernetes 1.30 to
1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.admission.pod_security_levels import Violation, violations
from ptcompile.apiserver.validation.templates import pods_of
from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.kubernetes.unstructured import kind_of, namespace_of, nested_string, nested_value
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Severity
    from ptcompile.kubernetes.unstructured import Json


LEVELS = ("privileged", "baseline", "restricted")
_NAMESPACE = ("v1", "Namespace")
_LABEL_PREFIX = "pod-security.kubernetes.io/"
_LATEST = "latest"


class Level(NamedTuple):
    """A level and the Kubernetes version whose checks it uses."""

    name: str
    version: str = _LATEST

    def minor(self, server: Version) -> int:
        """Return the minor version of the checks, at most the server's."""
        major, _, minor = self.version.partition(".")
        if major == "v1" and is_short_number(minor):
            return min(int(minor), server[1])
        return server[1]


def pod_security_problems(
    manifest: Json, others: Sequence[Json], profile: str | None, server: Version
) -> Problems:
    """Yield the violations of the namespace's levels by the pods of a manifest.

    `others` are the objects of the stream, including Namespaces; `profile` is the level of all
    namespaces without labels, such as `restricted` or `baseline:v1.34`.
    """
    pods = list(pods_of(manifest))
    modes = _effective_levels(manifest, others, profile) if pods else {}
    if not modes:
        return

    for path, spec, meta in pods:
        seen: set[Violation] = set()
        for mode in ("enforce", "warn", "audit"):
            level = modes.get(mode)
            if level is None:
                continue
            for violation in violations(level.name, level.minor(server), spec, meta):
                if violation not in seen:
                    seen.add(violation)
                    yield _to_problem(violation, level, mode, path)


def _to_problem(violation: Violation, level: Level, mode: str, pod: Path) -> Problem:
    path = (*pod, *violation.path)
    text = f'violates PodSecurity "{level.name}:{level.version}": {violation.reason}'
    if mode != "enforce":
        text = f"would {text.replace('violates', 'violate', 1)} (mode {mode})"
    message = f"{text} ({violation.detail})"
    severity: Severity = "error" if mode == "enforce" else "warning"
    return problem_at(
        "pod-security", path, message, violation.help, severity, "pod" if pod else "apply"
    )


def _effective_levels(
    manifest: Json, others: Sequence[Json], profile: str | None
) -> dict[str, Level]:
    """Return the effective levels by mode, without those that allow everything."""
    labels = _namespace_labels(namespace_of(manifest), others)
    modes = {}
    for mode in ("enforce", "warn", "audit"):
        name = labels.get(f"{_LABEL_PREFIX}{mode}")
        if isinstance(name, str):
            if name in LEVELS:
                modes[mode] = Level(
                    name, str(labels.get(f"{_LABEL_PREFIX}{mode}-version") or _LATEST)
                )
            else:
                modes[mode] = Level("restricted" if mode == "enforce" else "privileged", _LATEST)

    if not modes and profile:
        name, _, version = profile.partition(":")
        modes["enforce"] = Level(name, version or _LATEST)

    return {mode: level for mode, level in modes.items() if level.name != "privileged"}


def _namespace_labels(namespace: str, others: Sequence[Json]) -> Json:
    for other in others:
        name = nested_string(other, "metadata", "name")
        labels = nested_value(other, "metadata", "labels")
        if kind_of(other) == _NAMESPACE and name == namespace and isinstance(labels, Mapping):
            return labels

    return {}
