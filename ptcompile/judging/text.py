"""What is wrong with a text as such, and with an object that is nothing one could judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile import streams
from ptcompile.documents.source import Source
from ptcompile.findings.diagnostics import Problem
from ptcompile.linting.foreign import foreign, may_be_template, unrendered


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


def templates_of(read: Source) -> dict[int, Problem]:
    """The documents that something else fills in first, by their index, with what is said of each."""
    if not may_be_template(read.text):
        return {}
    found = {document.index: unrendered(document.data) for document in read.documents if not foreign(document.data)}
    return {index: problem for index, problem in found.items() if problem is not None}


def nameless(manifest: Mapping[str, Any]) -> list[Problem]:
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


def unknown(manifest: Mapping[str, Any]) -> Problem:
    """What is said of an object of an unknown kind, where that counts as an error."""
    kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
    return Problem("unknown-kind", ("kind",), f"{kind} is not checked: unknown kind", None, authority="ptcompile")
