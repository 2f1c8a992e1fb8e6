"""Nodes keep the version of a moving tag that they pulled first.

PTC802 stale-image: warning at run (risks), by kubelet.
Needs: IfNotPresent {MULTI_POD_KINDS}

What: containers that train in several pods have an image without a tag, or `latest`, and
imagePullPolicy IfNotPresent.

Why: each node uses the version of `latest` that it pulled first: the pods of one job run different
code, some of it months old. Ranks that do not agree hang in the first collective.

Example: indexed_job.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
    -         image: ghcr.io/acme/train:latest
    +         image: ghcr.io/acme/train:1.0
              imagePullPolicy: IfNotPresent  # <--
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use a version tag or a digest. Pulling always is not enough: a tag can move between two pulls.

Source: Kubernetes 1.36, images: pull policies.
"""

from __future__ import annotations

from ptcompile.linter.containers import mutable_rank_images
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for container, image in mutable_rank_images(subject):
        if container.spec.get("imagePullPolicy") == "IfNotPresent":
            yield found_at(
                (*container.path, "imagePullPolicy"),
                f"each node keeps the {image} it pulled first, so pods may run different code",
                "use a version tag or a digest",
            )
