"""Readers of a TrainJob for the rules."""

from __future__ import annotations

from ptcompile.kinds.model import Base
from ptcompile.linter.rule import Subject


def runtime_of(subject: Subject) -> Base:
    """Return the runtime that a TrainJob names, and whether it is only assumed."""
    runtime = subject.base
    assert runtime is not None  # noqa: S101  # every TrainJob has one
    return runtime
