"""Metadata: the profile's labels and annotations, on objects and pods; the user's stand."""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate


def metadata(job: Job, context: Context) -> Job:
    """The job's objects and pods carry the profile's labels and annotations beside their own."""
    defaults = context.cluster.spec.defaults
    if not (defaults.labels or defaults.annotations):
        return job

    def mark(template: PodTemplate) -> PodTemplate:
        return template._replace(
            labels={**defaults.labels, **template.labels},
            annotations={**defaults.annotations, **template.annotations},
        )

    return map_templates(job, mark)._replace(
        labels={**defaults.labels, **job.labels},
        annotations={**defaults.annotations, **job.annotations},
    )
