"""Master and Worker run different releases of one image.

PTC831 roles-with-different-images: warning at style (risks), by ptcompile.
Needs: image

What: the images of the roles that train have one repository, and different tags or digests.

Why: the processes of a job have to run the same code and the same PyTorch. Different tags are
usually an update that missed one of the two places.

Example: pytorchjob.yaml with

      pytorchReplicaSpecs:
        Worker:
          replicas: 1
          restartPolicy: OnFailure
          template:
            spec:
              containers:
                - name: pytorch
    -             image: ghcr.io/acme/train:1.1  # <--
    +             image: ghcr.io/acme/train:1.0
                  command: [torchrun, train.py]
                  resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the same image in both.

Source: PyTorch 2.13, torch.distributed: all processes are expected to run the same release.
"""

from __future__ import annotations

from ptcompile.linter.containers import split_image
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    mains = [container for template in subject.templates for container in template.main_containers]
    if len(mains) < 2:
        return

    lead, *others = mains
    first = lead.image
    repository, _ = split_image(first)
    for main in others:
        image = main.image
        if image and first and image != first and split_image(image)[0] == repository:
            path = (*main.path, "image")
            yield found_at(
                path,
                f"{image} is another release than {first}",
                "write the same image in both",
                fix_setting(f"write {first}", path, first),
            )
