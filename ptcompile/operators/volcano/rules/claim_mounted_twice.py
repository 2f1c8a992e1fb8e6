"""A claim is mounted twice, and the second mount is lost.

PTC141 claim-mounted-twice: error at run (differs), by volcano.
Needs: volumeClaimName

What: two entries of spec.volumes name one volumeClaimName.

Why: Volcano makes one pod volume of a claim and drops the second entry with its mountPath: the
directory is missing, or writes go to the container's own disk.

Example: volcano_job.yaml with

      minAvailable: 1
      volumes:
    -   - {mountPath: /data, volumeClaimName: shared}
    -   - {mountPath: /checkpoints, volumeClaimName: shared}  # <--
    +   - {mountPath: /shared, volumeClaimName: shared}

Fix: mount the claim once, or write volume and mounts into the templates.

Source: Volcano 1.16, job controller (createJobPod skips a claim that it has seen).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    mounts: dict[str, str] = {}
    for i, volume in enumerate(nested_maps(subject.spec, "volumes")):
        claim = nested_string(volume, "volumeClaimName")
        mount = nested_string(volume, "mountPath")
        if claim and claim in mounts:
            yield found_at(
                ("spec", "volumes", i),
                f"the claim {claim} is mounted at {mounts[claim]}, and {mount} is dropped",
                "mount it once, or write the volume and mounts into the templates",
            )

        mounts.setdefault(claim, mount)
