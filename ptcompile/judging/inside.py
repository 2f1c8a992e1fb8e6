"""What is found in the jobs and pods inside an object, and in manifests that stand in its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile import streams
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.judging.objects import Asked, extended, judge
from ptcompile.linting import Stream, run
from ptcompile.linting.foreign import judgeable
from ptcompile.linting.inside import inside, texts_inside
from ptcompile.validate import supported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def inside_of(manifest: Mapping[str, Any], others: Stream, asked: Asked) -> Iterator[Problem]:
    """What is found in the jobs and pods inside an object, at their places in it."""
    for path, inner, only in inside(manifest):
        if only is None:
            found = judge(inner, others, asked) or ()
            beside = [one for one in found if not (supported(manifest) and one.stage == "apply")]
            beside += extended(inner, others, asked)
        else:
            wanted = only if asked.selection.select is None else only & asked.selection.select
            beside = list(run(inner, versions=asked.versions, others=others, only=wanted))
        yield from (_moved(one, path) for one in beside)
    for path, content in texts_inside(manifest):
        yield from _in_text(path, content, asked)


def _moved(problem: Problem, under: Path) -> Problem:
    """A problem of an object inside another one, as one of the other."""
    said = problem.message.replace(field_path(problem.path), field_path((*under, *problem.path)), 1)
    return problem._replace(path=(*under, *problem.path), message=said, fix=None)


def _in_text(path: Path, content: str, asked: Asked) -> Iterator[Problem]:
    """What is found in manifests that stand in a text, at the text; nothing of its placeholders."""
    documents = streams.read(content, None).documents
    objects = [one for document in documents for _, one in streams.objects(document.data)]
    everything = Stream(objects, asked.versions)
    for one in objects:
        for problem in (judge(one, everything, asked) or ()) if supported(one) else ():
            if judgeable(problem, one):
                message = f"{field_path(path)}: in {streams.resource(one)}: {problem.message}"
                yield problem._replace(path=path, message=message, fix=None, on_key=False, span=None)
