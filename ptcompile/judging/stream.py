"""What is found in a stream: in the text as such, and in all of its objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile import streams
from ptcompile.documents.source import Source
from ptcompile.findings.diagnostics import Diagnostic, Problem
from ptcompile.judging.objects import Asked, extended, judge
from ptcompile.linting import Stream
from ptcompile.linting.foreign import foreign, judgeable, may_be_template, unrendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal


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
    templates = _templates(read)
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
        problems = _nameless(manifest) or judge(manifest, everything, asked)
        if problems is not None and document.index in templates:
            problems = [one for one in problems if judgeable(one, manifest)]
        if problems is None:
            unchecked.append(streams.resource(manifest) or "a document without kind")
            problems = [_unknown(manifest)] if unknown_kinds == "error" else []
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


def of_the_text(read: Source, unchecked: list[str]) -> Iterator[Problem]:
    """What is wrong with a text as such. Of a file that is not for Kubernetes only that it is not YAML.

    kubectl keeps the last of two equal keys and says nothing, so that two of them are no refusal.
    """
    if not read.problems:
        return
    lists = [one for one in read.problems if one.name == "not-a-mapping" and "is a list" in one.message]
    if lists and not read.documents:
        unchecked += ["a list"] * len(lists)
    ours = any(streams.is_ours(one.data) for one in read.documents)
    theirs = bool(read.text and read.documents) and all(foreign(one.data) for one in read.documents)
    for problem in read.problems:
        if (theirs and problem.name in _OF_KUBERNETES) or (not read.documents and problem in lists):
            continue
        if problem.name == "duplicate-key" and not ours:
            problem = problem._replace(severity="warning", stage="style")
        yield problem


_OF_KUBERNETES = frozenset({"unsupported-yaml", "duplicate-key"})
"""What only a Kubernetes object has to be, or may not have."""


def _templates(read: Source) -> dict[int, Problem]:
    """The documents that something else fills in first, by their index, with what is said of each."""
    if not may_be_template(read.text):
        return {}
    found = {document.index: unrendered(document.data) for document in read.documents if not foreign(document.data)}
    return {index: problem for index, problem in found.items() if problem is not None}


def _nameless(manifest: Mapping[str, Any]) -> list[Problem]:
    """Why it is unknown what an object is: every Kubernetes client rejects one without apiVersion and kind."""
    missing = [key for key in ("apiVersion", "kind") if not isinstance(manifest.get(key), str) or not manifest[key]]
    return [_nothing_at(key, manifest) for key in missing]


def _nothing_at(key: str, manifest: Mapping[str, Any]) -> Problem:
    from ptcompile.kubernetes.names import suggest

    message = f"{key}: Required value: every object needs it"
    near = suggest(key, [one for one in manifest if one not in ("apiVersion", "kind")])
    if near is None:
        return Problem("required-value", (key,), message, f"add {key}")
    return Problem("required-value", (near,), message, f"did you mean {key}?", on_key=True)


def _unknown(manifest: Mapping[str, Any]) -> Problem:
    """What is said of an object of an unknown kind, where that counts as an error."""
    kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
    return Problem("unknown-kind", ("kind",), f"{kind} is not checked: unknown kind", None, authority="ptcompile")
