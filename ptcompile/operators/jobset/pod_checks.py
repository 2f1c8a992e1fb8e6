"""What the API server answers to the Jobs, pods and claims of a JobSet (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.job import (
    check_job_counts,
    check_job_selector,
    check_job_template_metadata,
    check_restart_policy,
)
from ptcompile.validate.core.pvc import check_claim_spec
from ptcompile.validate.core.templates import check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """All that a JobSet creates."""
    check_jobs(spec, ("spec",), f.mapping(manifest.get("metadata")).get("name"), False, context, found)


def check_jobs(spec: Any, path: Path, name: Any, counted: bool, context: ApiServer, found: f.Found) -> None:
    """The replicated jobs of a JobSet spec. `counted`: Trainer sets parallelism and completions itself."""
    volumes = _claim_volumes(spec, path, found)
    clean: Any = None
    for index, job in f.objects(spec.get("replicatedJobs")):
        here = (*path, "replicatedJobs", index, "template")
        template = f.mapping(job.get("template"))
        child = template.get("spec")
        if type(child) is not dict:
            continue
        clean = check_template(child.get("template"), (*here, "spec", "template"), context, found, volumes, clean)
        problems: f.Found = []
        check_job_template_metadata(template.get("metadata"), (*here, "metadata"), problems)
        full = f"{name}-{job.get('name')}-0" if type(name) is str else None
        _check_child(child, (*here, "spec"), full, counted, context, problems)
        found.extend(_outside(problems, (*here, "spec")))


def _claim_volumes(spec: Any, path: Path, found: f.Found) -> frozenset[str]:
    """The volumes that JobSet adds for its volumeClaimPolicies (named as the claim templates)."""
    out = set()
    for index, policy in f.objects(spec.get("volumeClaimPolicies")):
        for number, template in f.objects(policy.get("templates")):
            here = (*path, "volumeClaimPolicies", index, "templates", number, "spec")
            check_claim_spec(template.get("spec"), here, found)
            name = f.mapping(template.get("metadata")).get("name")
            if type(name) is str:
                out.add(name)
    return frozenset(out)


def _check_child(
    spec: dict[str, Any], path: Path, name: str | None, counted: bool, context: ApiServer, found: f.Found
) -> None:
    """The child Job, with JobSet's defaults: completionMode Indexed, restartPolicy OnFailure (JobSet 0.12 webhook)."""
    child = spec if spec.get("completionMode") else {**spec, "completionMode": "Indexed"}
    if counted and child.get("completions") is None:
        child = {**child, "completions": f.integer(child.get("parallelism")) or 1}
    check_job_counts(child, path, context, found)
    check_job_selector({"name": name}, child, path, found)
    pod = f.mapping(child.get("template")).get("spec")
    if type(pod) is dict and pod.get("restartPolicy") == "Always":
        check_restart_policy(pod, (*path, "template", "spec"), found)


def _outside(problems: list[Problem], path: Path) -> Iterator[Problem]:
    """The same problems, those under the pod template moved to the child Job: the template alone is no mistake."""
    size = len(path) + 1
    for p in problems:
        inside = p.path[:size] == (*path, "template")
        yield Problem(p.name, path if inside else p.path, p.message, p.help)
