"""Which releases a cluster runs: what the operators do differs by version, and so does what they refuse."""

from __future__ import annotations

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

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


SHARED_STORE: Final[Version] = (2, 4)
"""The first PyTorch whose torchrun agents share c10d's store with the processes they start (pull request 128096).

Agents that share it meet once: in a later round one that is new waits for keys that only the first round wrote.
"""

FIRST_STORE: Final[Version] = (2, 6)
"""The first PyTorch whose agents share a store of the first meeting's own, at the name of its node 0 (pull requests
135957 and 139702). Before, they share that of the rendezvous, at the endpoint's own name."""

CLOSED_BY_SIGTERM: Final[tuple[Version, Version]] = ((2, 3), (2, 8))
"""From and before which PyTorch a torchrun that is told to end closes the rendezvous for all (pull requests 117066 and
152525; measured on 2.5.1, and not so on 2.2.2 and 2.13)."""

OWN_STORE: Final = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""The variable that gives each meeting a store of its own where it is 1."""

_OFFICIAL = ("pytorch/pytorch:", "docker.io/pytorch/pytorch:")


def closes_when_told_to_end(torch: Version) -> bool:
    """Whether SIGTERM to one torchrun ends the rendezvous of all."""
    first, after = CLOSED_BY_SIGTERM
    return first <= torch < after


def same_torchrun(one: Version, other: Version) -> bool:
    """Whether the torchrun of two versions of PyTorch does the same, as far as it was measured."""
    changes = (*CLOSED_BY_SIGTERM, SHARED_STORE, FIRST_STORE)
    return all((one >= change) == (other >= change) for change in changes)


def torch_of(image: str | None, versions: Versions) -> Version:
    """The PyTorch of an image: what an official tag such as `pytorch/pytorch:2.6.0-cuda12.4` says, else the profile's.

    Other repositories number their images as they please.
    """
    for start in _OFFICIAL:
        if image is not None and image.startswith(start):
            try:
                return parse_version(image.removeprefix(start))
            except ValueError:  # such as `latest`
                return versions.torch
    return versions.torch


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
