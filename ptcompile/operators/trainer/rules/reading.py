"""What rules read of a TrainJob."""

from __future__ import annotations

from ptcompile.linter.subject import Subject
from ptcompile.registry.model import Base


def runtime_of(subject: Subject) -> Base:
    """The runtime that a TrainJob names, and whether it is but assumed."""
    found = subject.base
    assert found is not None  # noqa: S101  # every TrainJob has one
    return found
