"""Whether pods of a job are recreated when they fail or are preempted, by the operator's own fields."""

from __future__ import annotations

from ptcompile.linting.subject import Subject, Template
from ptcompile.operators.common.templates import Template as WrittenTemplate


def made_again(subject: Subject, template: Template) -> bool | None:
    """Whether a lost pod of a template is recreated; None for kinds where that is unknown."""
    written = WrittenTemplate(template.path, template.data, template.role, template.replicas, template.main)
    return subject.record.recreates(subject.manifest, written)
