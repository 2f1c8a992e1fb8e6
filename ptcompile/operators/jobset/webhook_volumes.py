"""JobSet's volumeClaimPolicies (JobSet 0.12 webhook)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.untyped import at, items, text
from ptcompile.operators.common.verdict import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def claims(spec: Json, name: str, path: Path, say: Say) -> Iterator[Problem]:
    """Each template has a name of its own, is mounted, and no volume of that name is already there."""
    seen: set[str] = set()
    pods = [at(j, "template", "spec", "template", "spec") for j in items(spec.get("replicatedJobs"))]
    for i, policy in enumerate(items(spec.get("volumeClaimPolicies"))):
        for j, template in enumerate(items(policy.get("templates"))):
            here = (*path, i, "templates", j, "metadata", "name")
            claim = text(at(template, "metadata").get("name"))
            problem = _claim(claim, name, here, say)
            if problem:
                yield problem
                continue
            if claim in seen:
                yield say(here, f'Duplicate value: "{claim}"', "rename one of the templates")
            seen.add(claim)
            yield from _use(claim, pods, here, say)


def _claim(claim: str, name: str, path: Path, say: Say) -> Problem | None:
    if why := names.why_not_dns_subdomain(claim):
        return say(path, f'Invalid value: "{claim}": {why}', "name the claim with letters, digits and dashes")
    full = f"{claim}-{name}"
    if len(full) > names.DNS_LABEL_MAX:
        why = f"the claim {full} would have {len(full)} characters, and 63 are allowed"
        return say(path, f'Invalid value: "{claim}": {why}', "shorten the claim's or the JobSet's name")
    return None


def _use(claim: str, pods: list[Json], path: Path, say: Say) -> Iterator[Problem]:
    containers = [c for p in pods for key in ("initContainers", "containers") for c in items(p.get(key))]
    if not any(m.get("name") == claim for c in containers for m in items(c.get("volumeMounts"))):
        yield say(path, f'Invalid value: "{claim}": no container mounts it', "mount it, or remove the template")
    if any(v.get("name") == claim for p in pods for v in items(p.get("volumes"))):
        yield say(path, f'Invalid value: "{claim}": a pod has a volume of this name already', "rename one of them")
