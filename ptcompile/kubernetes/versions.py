"""Which releases a cluster runs: what the operators do differs by version, and so does what they refuse."""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

Version = tuple[int, int]
"""Major and minor, for example `(1, 36)`; patch releases change nothing that we model."""


class Versions(NamedTuple):
    """The releases that decide what is accepted and what is created. The defaults are the newest that we know."""

    kubernetes: Version = (1, 37)
    training_operator: Version = (1, 9)
    trainer: Version = (2, 3)
    jobset: Version = (0, 12)
    volcano: Version = (1, 16)
    kueue: Version = (0, 19)
    kai: Version = (0, 15)
    mpi_operator: Version = (0, 8)
    nvidia_dra: Version = (25, 12)
    """NVIDIA's DRA driver for GPUs. Its releases after 25.12 are numbered 0.x: `no_dns_names` tells them from older."""
    torch: Version = (2, 15)
    """PyTorch, of the images that train; `torch_of` asks an image's tag first."""


def parse_version(text: str) -> Version:
    """`v1.9.4`, `1.9` or `1.9.0-rc.1` as major and minor.

    Raises:
        ValueError: the text has no two leading numbers.
    """
    major, _, rest = text.strip().removeprefix("v").partition(".")
    digits = rest.partition(".")[0].partition("-")[0].partition("+")[0]
    if not (major.isascii() and major.isdigit() and digits.isascii() and digits.isdigit()):
        message = f"not a version such as 1.36: {text!r}"
        raise ValueError(message)
    return int(major), int(digits)
