"""Files that another tool must render first: Helm charts, templates of Jinja and ERB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.apiserver import is_supported
from ptcompile.diagnostics import Path, Problem, Span, problem_at
from ptcompile.kubernetes.unstructured import Json
from ptcompile.linter.foreign import UNCHECKED_KEYS, foreign_kind
from ptcompile.source.documents import Source
from ptcompile.source.streams import is_ours
from ptcompile.source.templates import TemplateMark, mark_within, may_have_marks, template_mark

_SYNTAX_RULES = frozenset({"yaml-syntax", "unsupported-yaml", "not-a-mapping"})
"""Rules that report how YAML reads a template mark."""


def unrendered_file(source: Source, role: str | None) -> tuple[int, Problem] | None:
    """Return the note on a file that is a template as a whole, with the index of its document, or None.

    A mark counts in a text that YAML rejects, or in a field whose value no controller fills in. Command lines, data of
    ConfigMaps and kinds of other projects, such as Argo's Workflow, have marks for other reasons.
    """
    if role == "template":
        message = "this file is a template of a Helm chart and is not checked"
        return 0, _note(message, "helm template CHART")._replace(span=Span(1, 1, 1, 1))
    if not may_have_marks(source.text):
        return None
    if any(problem.name in _SYNTAX_RULES for problem in source.problems):
        mark = template_mark(source.text)
        if mark is not None:
            span = source.span(mark.start, mark.start + 2)
            return 0, _note(_mark_message(mark), mark.command)._replace(span=span)
    for document in source.documents:
        if not foreign_kind(document.data) and (is_ours(document.data) or is_supported(document.data)):
            for path, mark in _template_marks(document.data, ()):
                return document.index, _note(_mark_message(mark), mark.command)._replace(path=path)
    return None


def _mark_message(mark: TemplateMark) -> str:
    return f"{mark.sign} is filled in by another tool, such as {mark.tools}: the file is not checked"


def _note(message: str, command: str) -> Problem:
    help = f"render it first: {command} | ptcompile lint -"
    return problem_at("unrendered-template", (), message, help, severity="note", stage="style", authority="ptcompile")


def _template_marks(value: object, path: Path) -> Iterator[tuple[Path, TemplateMark]]:
    """Yield the marks in the values of an object, except in fields that may contain them for other reasons."""
    if isinstance(value, Mapping):
        for key, child in value.items():
            if key not in UNCHECKED_KEYS and key != "openAPIV3Schema":  # descriptions of fields, patterns, messages
                yield from _template_marks(child, (*path, key))
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from _template_marks(child, (*path, i))
    else:
        mark = mark_within(value)
        if mark is not None:
            yield path, mark


def without_verdicts_on_marks(problems: Sequence[Problem], manifest: Json, marked: bool) -> Sequence[Problem]:
    """Return the problems except those about one value that has a mark. `marked`: the file may have marks."""
    return [problem for problem in problems if not _concerns_mark(problem, manifest)] if marked else problems


def _concerns_mark(problem: Problem, manifest: Json) -> bool:
    """Return whether the finding is about one value that has a mark: its rendered value is unknown."""
    value: object = manifest
    for key in problem.path:
        if mark_within(key) is not None:
            return True
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return False
    return not problem.on_key and mark_within(value) is not None
