"""Whether pods of a job are recreated when they fail or are preempted, by the operator's own fields."""

from __future__ import annotations

from ptcompile.linting.subject import Subject, Template
from ptcompile.operators import all as operators


def made_again(subject: Subject, template: Template) -> bool | None:
    """Whether a lost pod of a template is recreated; None for kinds where that is unknown."""
    recreated = operators.part(subject.kind, "recreated")
    return None if recreated is None else recreated(subject.manifest, template)
