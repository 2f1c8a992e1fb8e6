"""Volumes: the annotation by which a CSI driver's webhook gives a pod the sidecar that mounts its volume.

Cloud Storage FUSE of GKE is such a driver (`hardware.csi_drivers`). Only volumes that name the driver themselves are
known here: what a claim is bound to is not in a spec. The user's own annotation is kept, whatever it says.
"""

from __future__ import annotations

from ptcompile.hardware.csi_drivers import SIDECAR_ANNOTATIONS
from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate


def volumes(job: Job, _context: Context) -> Job:
    """Annotate each role's pods for the CSI drivers of their volumes."""
    return map_templates(job, _annotated)


def _annotated(template: PodTemplate) -> PodTemplate:
    drivers = [str((one.get("csi") or {}).get("driver")) for one in template.volumes]
    wanted = {SIDECAR_ANNOTATIONS[driver]: "true" for driver in drivers if driver in SIDECAR_ANNOTATIONS}
    if wanted.keys() <= template.annotations.keys():
        return template
    return template._replace(annotations={**wanted, **template.annotations})
