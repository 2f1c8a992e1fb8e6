"""The roles of a job train with different versions of one image.

PTC803 mixed-image-tags: warning at run (risks), by ptcompile.
Needs: {COMPARED_KINDS}

What: containers that train in one job use the same image repository with different tags or digests.
(PyTorchJobs have their own rule.)

Why: all ranks must run the same program with the same PyTorch and NCCL. With two versions they hang
in the first collective, or fail with a size that does not match. Most often one role was forgotten
in an update.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: master
            replicas: 1
            template:
              spec:
                completionMode: Indexed
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.1
                        resources: {limits: {cpu: 8, memory: 64Gi}}
          - name: worker
            replicas: 1
            template:
              spec:
                completionMode: Indexed
                completions: 3
                parallelism: 3
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
    -                   image: ghcr.io/acme/train:1.0  # <--
    +                   image: ghcr.io/acme/train:1.1
                        resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: use one version for all roles.

Source: NCCL 2.29, all ranks run one version; PyTorch 2.13, collectives have to agree on every rank.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.linter.containers import split_image
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


class _Image(NamedTuple):
    """The first image of a repository, and the role that uses it."""

    name: str
    version: str
    role: str


def check(subject: Subject) -> Findings:
    if len(subject.templates) < 2 or subject.record.rendezvous.all_pods:
        return  # roles-with-different-images compares the roles

    images: dict[str, _Image] = {}
    for template in subject.templates:
        for container in template.main_containers:
            image = container.image
            repository, version = split_image(image)
            expected = images.setdefault(repository, _Image(image, version, template.role))
            if repository and version != expected.version:
                path = (*container.path, "image")
                yield found_at(
                    path,
                    f"uses {version or 'no tag'} of {repository}, but {expected.role} uses "
                    f"{expected.version or 'no tag'}",
                    "use one version for all roles",
                    fix_setting(f"use {expected.name}", path, expected.name),
                )
