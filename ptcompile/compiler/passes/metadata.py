"""Metadata: the profile's labels and annotations, on objects and pods; the user's win."""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate


def metadata(job: Job, context: Context) -> Job:
    """Add the profile's labels and annotations to the job's objects and pods."""
    defaults = context.cluster.spec.defaults
    if not (defaults.labels or defaults.annotations):
        return job

    def add_metadata(template: PodTemplate) -> PodTemplate:
        return template._replace(
            labels={**defaults.labels, **template.labels},
            annotations={**defaults.annotations, **template.annotations},
        )

    return map_templates(job, add_metadata)._replace(
        labels={**defaults.labels, **job.labels},
        annotations={**defaults.annotations, **job.annotations},
    )
