"""The image name is invalid.

PTC564 invalid-image: error at pod, by kubelet.
Needs: image

What: the image of a container does not follow the grammar of references: two tags, capitals in the
repository, a space, a scheme such as https://, a tag or a digest with invalid characters.

Why: the API server accepts any text. The kubelet parses the name before it pulls the image, so the
pod stays in InvalidImageName.

Example: pod.yaml with

    - image: ghcr.io/acme/train:1.0:cuda  # <--
    + image: ghcr.io/acme/train:1.0-cuda

Fix: write REGISTRY/REPOSITORY:TAG, the repository in lower case.

Source: Kubernetes 1.36, kubelet, ErrInvalidImageName; distribution/reference 0.6.
"""

from __future__ import annotations

from ptcompile.kubernetes.images import is_placeholder, why_not_image
from ptcompile.linter.containers import image_references
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for path, image in image_references(subject):
        reason = None if is_placeholder(image) else why_not_image(image)
        if reason is not None:
            yield found_at(
                path, f"is not a valid image name: {reason}", "write REGISTRY/REPOSITORY:TAG"
            )
