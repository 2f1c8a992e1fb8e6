"""An image has no tag, or the tag latest.

PTC801 latest-image: warning at run (risks), by ptcompile.
Needs: {MULTI_POD_KINDS}

What: the image that trains in several pods has no tag and no digest, or the tag `latest`.

Why: what runs changes without the manifest. Pods of one job that start at different times may train
with different code, and a run cannot be repeated.

Example: indexed_job.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
    -         image: ghcr.io/acme/train:latest  # <--
    +         image: ghcr.io/acme/train:1.0
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use a version tag, or better a digest.

Source: Kubernetes 1.36, images: the pull policy is Always for latest and IfNotPresent for other
tags.
"""

from __future__ import annotations

from ptcompile.linter.containers import mutable_rank_images
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for container, image in mutable_rank_images(subject):
        if container.spec.get("imagePullPolicy") not in ("IfNotPresent", "Never"):
            yield found_at(
                (*container.path, "image"),
                f"{image} can change between two pod starts, so ranks may run different code",
                "use a version tag or a digest",
            )
