"""What is found in all objects of a stream."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from ptcompile import streams
from ptcompile.documents.source import Source
from ptcompile.findings.diagnostics import Diagnostic, Problem
from ptcompile.judging.objects import Asked, extended, judge
from ptcompile.judging.text import nameless, templates_of, unknown
from ptcompile.linting import Stream
from ptcompile.linting.foreign import foreign, judgeable


def everything_found(
    read: Source,
    filename: str | None,
    asked: Asked,
    unchecked: list[str],
    unknown_kinds: Literal["count", "error"],
    beside: Sequence[Mapping[str, Any]],
) -> Iterator[Diagnostic]:
    """What is found in the objects of a stream; those of unknown kinds are noted in `unchecked`."""
    objects = [(document, at, one) for document in read.documents for at, one in streams.objects(document.data)]
    texts = {id(document.data): document.texts for document in read.documents}
    everything = Stream([*[manifest for _, _, manifest in objects], *beside], asked.versions, texts)
    templates = templates_of(read)
    for document in read.documents:
        for problem in streams.not_objects(document.data):
            yield streams.stamp(problem, document, filename)
        if document.index == next(iter(templates), None):  # once a file
            yield streams.stamp(templates[document.index], document, filename)
    for document, at, manifest in objects:
        if asked.pause is not None:
            asked.pause()
        problems: Iterable[Problem] | None
        other = foreign(manifest) if read.text else None
        if other is not None:
            unchecked.append(other)
            continue
        problems = nameless(manifest) or judge(manifest, everything, asked)
        if problems is not None and document.index in templates:
            problems = [one for one in problems if judgeable(one, manifest)]
        if problems is None:
            unchecked.append(streams.resource(manifest) or "a document without kind")
            problems = [unknown(manifest)] if unknown_kinds == "error" else []
        further = () if streams.is_ours(manifest) else extended(manifest, everything, asked)  # compiling asks
        for problem in (*problems, *further, *_inside(manifest, everything, asked)):
            yield streams.stamp(problem, document, filename, at, manifest)


_MAKES_OTHERS = ("CronJob", "Deployment", "StatefulSet", "Ray", "LeaderWorkerSet", "ConfigMap", "Workflow")


def _inside(manifest: Mapping[str, Any], others: Stream, asked: Asked) -> Iterable[Problem]:
    """What is found inside an object of a kind that makes others."""
    kind = manifest.get("kind")
    if not isinstance(kind, str) or not any(name in kind for name in _MAKES_OTHERS):
        return ()
    from ptcompile.judging.inside import inside_of

    return inside_of(manifest, others, asked)
