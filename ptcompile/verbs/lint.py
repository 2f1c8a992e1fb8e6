"""The verb `lint` as a function: manifests and specs in, what is wrong with them out.

Linting a manifest needs no pydantic: whatever knows our own kinds is imported where one comes by.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from ptcompile import arguments, streams
from ptcompile.documents.source import Source
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.findings.selection import NO_CODES, Selection, selection
from ptcompile.judging.objects import Asked
from ptcompile.judging.stream import everything_found, of_the_text
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ptcompile.arguments import Given
    from ptcompile.extending import Extensions
    from ptcompile.validate.definitions import Definitions
    from ptcompile.vocabulary.cluster.model import ClusterProfile


class Report(NamedTuple):
    """What linting found, and what it looked at."""

    diagnostics: tuple[Diagnostic, ...]
    documents: int
    """How many documents there were."""
    unchecked: tuple[str, ...]
    """The documents of unknown kinds, as `Kind/name`."""
    meant: tuple[Diagnostic, ...] = ()
    """What comments in the file and `ignore` say is meant, and so is not among the diagnostics."""

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)


def lint(
    source: Given,
    *,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    schemas: Iterable[str | os.PathLike[str]] = (),
    beside: Sequence[Mapping[str, Any]] = (),
    extensions: Extensions | None = None,
    pause: Callable[[], None] | None = None,
) -> Report:
    """Say what an API server, the operators, the kubelet and torchrun would say of every object of a stream.

    First what is rejected, then, by the rules, what is accepted and still goes wrong; each at the line where it is.

    `kubernetes` is the server's version, such as "1.34": the profile's, or the newest known, where absent.
    `webhooks=False` is the API server with the CRDs alone, as on a cluster without the operators' webhooks.
    `unknown_kinds="error"` makes a finding of each unknown kind; they are counted in any case.
    `select` and `ignore` are codes, beginnings of codes, or names. What would be refused is told whatever is selected,
    unless it is ignored. `schemas` are files and folders of CRDs or JSON Schemas, for kinds that ptcompile does not
    know; CRDs in the stream itself count too. `beside` are objects of other files that decide what happens to these,
    and are not judged themselves: namespaces, queues, quotas, limit ranges. `extensions` are further rules, by
    `ptcompile.extensions`. `pause` is called before each object; an exception that it raises ends the call, for callers
    that no longer want the answer.

    Raises ValueError for a selector that selects nothing, for a version that is none, and for a path in `schemas` that
    cannot be read or holds no definition.
    """
    arguments.check(filename=filename, kubernetes=kubernetes, extensions=extensions, pause=pause)
    beside = arguments.mappings(beside, "beside")
    read = streams.read(source, filename)
    filename = arguments.filename(source, filename)
    unchecked: list[str] = []
    found = [streams.stamp(problem, None, filename) for problem in of_the_text(read, unchecked)]
    profile, wrong = _profile(cluster)
    found += wrong
    versions = _versions(profile, kubernetes)
    chosen = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES)
    asked = Asked(profile, versions, webhooks, chosen, _definitions(read, schemas), extensions, pause)
    every = chain(found, everything_found(read, filename, asked, unchecked, unknown_kinds, beside))
    found, ignored = streams.chosen(every, asked.selection, filename)
    left, meant = _without_meant(read, found, asked.selection, filename)
    count = len(read.documents)
    read.documents = ()  # they know their source: apart, both go at once
    return Report(left, count, tuple(unchecked), (*meant, *ignored))


def _profile(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None,
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """The profile that was given, and what is wrong with it."""
    if cluster is None:
        return None, []
    from ptcompile.verbs.compile import read_cluster

    return read_cluster(cluster)


def _without_meant(
    read: Source, found: Sequence[Diagnostic], chosen: Selection, filename: str | None
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """What is left of the findings, with what is wrong with comments; and what comments in the file say is meant."""
    if "ptcompile:" not in read.text:
        return tuple(found), ()
    from ptcompile.documents.suppression import suppress

    left, meant, problems = suppress(read, found, chosen)
    return (*left, *(streams.stamp(problem, None, filename) for problem in problems)), meant


def _definitions(read: Source, schemas: Iterable[str | os.PathLike[str]]) -> Definitions | None:
    """The kinds that the files named define, and the CRDs of the stream."""
    if not isinstance(schemas, str | os.PathLike):
        arguments.check(schemas=schemas)
    paths = (schemas,) if isinstance(schemas, str | os.PathLike) else tuple(schemas)
    for one in paths:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"schemas must be a list of paths, and has {type(one).__name__}")
    if not paths and not _may_define(read):
        return None
    from ptcompile.validate.definitions.files import definitions_of, read_definitions

    brought = read_definitions(paths)
    manifests = (one for document in read.documents for _, one in streams.objects(document.data))
    return brought._replace(kinds={**brought.kinds, **definitions_of(manifests)})


def _may_define(read: Source) -> bool:
    """Return whether a CRD may be in the stream: a text is searched for the word, mappings have none."""
    if read.text:
        return "CustomResourceDefinition" in read.text
    manifests = (one for document in read.documents for _, one in streams.objects(document.data))
    return any(manifest.get("kind") == "CustomResourceDefinition" for manifest in manifests)


def _versions(profile: ClusterProfile | None, kubernetes: str | None) -> Versions:
    versions = profile.versions() if profile is not None else Versions()
    return versions._replace(kubernetes=parse_version(kubernetes)) if kubernetes else versions
