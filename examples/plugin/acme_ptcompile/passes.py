"""Acme's pass: who pays for a job, from its namespace."""

from __future__ import annotations

from ptcompile.extending import Context, Job

LABEL = "acme.example/team"


def cost_center(job: Job, context: Context) -> Job:
    """Label the job's objects with the team of its namespace, unless the spec has the label, or null for it."""
    if LABEL in job.labels or not (job.namespace or "").startswith("team-"):
        return job
    return job._replace(labels={**job.labels, LABEL: str(job.namespace).removeprefix("team-")})
