"""Releases of Kubernetes and the operators: what they do and what they reject depends on the version."""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

Version = tuple[int, int]
"""Major and minor, for example `(1, 36)`; no patch release changes anything that is modeled."""


class Versions(NamedTuple):
    """The releases that decide what is accepted and created. The defaults are the newest that are modeled."""

    kubernetes: Version = (1, 37)
    training_operator: Version = (1, 9)
    trainer: Version = (2, 3)
    jobset: Version = (0, 12)
    volcano: Version = (1, 16)
    kueue: Version = (0, 19)
    kai: Version = (0, 15)
    mpi_operator: Version = (0, 8)
    lws: Version = (0, 10)
    kuberay: Version = (1, 7)
    nvidia_dra: Version = (25, 12)
    """NVIDIA's DRA driver for GPUs. Its releases after 25.12 are numbered 0.x; `no_dns_names` tells the two apart."""
    torch: Version = (2, 15)
    """PyTorch in the training images; `torch_of` reads an image's tag first."""
    gates: tuple[tuple[str, str, bool], ...] = ()
    """Feature gates that the profile switches on or off, each with the field of the software that has it."""
    declared: frozenset[str] = frozenset()
    """The fields that the profile sets; the others have their defaults."""

    def gates_of(self, software: str) -> tuple[tuple[str, bool], ...]:
        """Return the feature gates that the profile switches on or off in one software, such as `kubernetes`."""
        return tuple([(gate, value) for name, gate, value in self.gates if name == software]) if self.gates else ()


def parse_version(text: str) -> Version:
    """Return the major and minor of `v1.9.4`, `1.9` or `1.9.0-rc.1`.

    Raises:
        ValueError: the text does not begin with two numbers.
    """
    major, _, rest = text.strip().removeprefix("v").partition(".")
    digits = rest.partition(".")[0].partition("-")[0].partition("+")[0]
    if not (major.isascii() and major.isdigit() and digits.isascii() and digits.isdigit()):
        message = f"not a version such as 1.36: {text!r}"
        raise ValueError(message)
    return int(major), int(digits)
