"""The image is a placeholder.

PTC565 image-placeholder: note at pod, by kubelet.
Needs: image

What: the image of a container is or contains a template's placeholder: <image>, ${IMAGE}, $(IMAGE),
{{ .image }}.

Why: the manifest is a template and is checked without the value. If it is applied unchanged, the
kubelet rejects the image name as invalid, and no pod starts.

Example: pod.yaml with

    - image: <image>  # <--
    + image: ghcr.io/acme/train:1.0

Fix: render the template, and lint the result.

Source: Kubernetes 1.36, kubelet, ErrInvalidImageName; distribution/reference 0.6.
"""

from __future__ import annotations

from ptcompile.kubernetes.images import is_placeholder
from ptcompile.linter.containers import image_references
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for path, image in image_references(subject):
        if is_placeholder(image):
            yield found_at(
                path, f"{image} is a placeholder", "render the template, and lint the result"
            )
