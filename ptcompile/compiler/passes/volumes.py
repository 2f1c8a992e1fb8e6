"""Volumes: the annotation that makes a CSI driver's webhook inject the sidecar that mounts a pod's
volume.

GKE's Cloud Storage FUSE is such a driver (`hardware.csi_drivers`). Only volumes that name the
driver themselves are recognized: a spec does not show what a claim is bound to. The user's own
annotation is kept, whatever its value.
"""

from __future__ import annotations

from ptcompile.hardware.csi_drivers import SIDECAR_ANNOTATIONS
from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate


def volumes(job: Job, _context: Context) -> Job:
    """Annotate each role's pods for the CSI drivers of their volumes."""
    return map_templates(job, _annotate)


def _annotate(template: PodTemplate) -> PodTemplate:
    drivers = [str((volume.get("csi") or {}).get("driver")) for volume in template.volumes]
    annotations = {
        SIDECAR_ANNOTATIONS[driver]: "true" for driver in drivers if driver in SIDECAR_ANNOTATIONS
    }
    if annotations.keys() <= template.annotations.keys():
        return template
    return template._replace(annotations={**annotations, **template.annotations})
