"""Image references as distribution/reference parses them: its own test cases and references of real manifests."""

from __future__ import annotations

import pytest

from ptcompile.kubernetes.images import is_placeholder, why_not_image

SHA = "sha256:" + "f" * 64
VALID = [
    "pytorch",
    "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
    "ghcr.io/acme/train:1.0",
    "localhost/train",
    "localhost:5000/train:1",
    "registry.example.com:8080/a/b/c:tag",
    "test.com/repo@" + SHA,
    "test:5000/repo:tag@" + SHA,
    "lowercase:Uppercase",
    "Acme/train:1",  # a first component with a capital letter is a registry
    "a__b/c-d.e--f:_x",
    "[2001:db8::1]:5000/repo:tag",
    "xn--n3h.com/myimage:xn--n3h.com",
    "a/" * 20 + "b",
    "repo@sha512:" + "0" * 128,
    "x:" + "t" * 128,
    "a/" + "b" * 253,
    "f" * 63,
    "g" * 64,
]
INVALID = [
    "",
    "a:1:2",
    "a b:1",
    " a:1",
    "acme/Train:1",
    "ghcr.io/Acme/train:1",
    "Train:1",
    ":tag",
    "a:",
    "a:-1",
    "a:" + "t" * 129,
    "a@" + SHA[:-1],
    "a@md5:" + "f" * 32,
    "a@sha256:" + "F" * 64,
    "@" + SHA,
    "a//b",
    "/a",
    "a/",
    "-a/b.c:1",
    "ghcr.io/-a",
    "a..b",
    "a___b",
    "https://ghcr.io/acme/train:1",
    "pytorch/pytorch:1.7.0-cuda11.0-cudnn8-runtime=",
    "<image>",
    "${IMAGE}",
    "{{ .Values.image }}",
    "<训练镜像>",
    "f" * 64,
    "a/" * 128 + "b",
    "a" * 5000,
    "a/" + "b" * 254,
]


@pytest.mark.parametrize("image", VALID)
def test_valid_images_are_accepted(image: str) -> None:
    assert why_not_image(image) is None
    assert not is_placeholder(image)


@pytest.mark.parametrize("image", INVALID)
def test_invalid_images_are_rejected(image: str) -> None:
    assert why_not_image(image)


@pytest.mark.parametrize(
    "image",
    [
        "<image>",
        "reg/<x>:1",
        "${IMAGE}",
        "a:${TAG}",
        "$(IMAGE)",
        "$IMAGE",
        "{{ .image }}",
        "a:{{tag}}",
        "<训练镜像>",
    ],
)
def test_placeholders_are_recognized(image: str) -> None:
    assert is_placeholder(image)


def test_time_is_linear() -> None:
    for image in (
        "a-" * 100_000,
        "a." * 100_000 + "!",
        "{{" * 100_000,
        "<" * 100_000,
        "a" * 100_000 + "_" * 100_000,
    ):
        why_not_image(image)
        is_placeholder(image)
