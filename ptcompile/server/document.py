"""One text at one moment, and what was found out about it. Each thing is found out once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ptcompile.compiling.compiler import Compiled
from ptcompile.documents import source
from ptcompile.documents.source import Document, Source
from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.server.positions import Lines
from ptcompile.server.surroundings import DECIDING, Defined, Settings
from ptcompile.streams import objects
from ptcompile.validate.definitions import Definitions
from ptcompile.verbs.lint import Report, lint

if TYPE_CHECKING:
    from ptcompile.simulation.job import Job
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_MOST_PODS = 100_000
"""A job with more pods than this has no hints: to count them is a matter of moments, to look at them is not."""


class Object(NamedTuple):
    """One object of a text: its document, and where in it the object is (the items of a List)."""

    document: Document
    under: Path
    data: Mapping[str, Any]

    @property
    def is_spec(self) -> bool:
        """Whether it is a TrainingJob."""
        return str(self.data.get("apiVersion")).startswith("ptcompile/") and self.data.get("kind") == "TrainingJob"


class Open:
    """A text that is open in an editor."""

    def __init__(
        self,
        uri: str,
        path: str,
        text: str,
        *,
        settings: Settings | None = None,
        elsewhere: Sequence[Defined] = (),
        before: Open | None = None,
        encoding: str = "utf-16",
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.uri = uri
        self.path = path
        self.settings = settings or Settings()
        self.elsewhere = elsewhere
        """The objects of other files."""
        self.lines = Lines(text, encoding)
        self.pause = pause
        """Called between two objects; what it raises ends the work."""
        self._before = before

    @property
    def text(self) -> str:
        """Without a byte order mark, as offsets count."""
        return self.lines.text

    @cached_property
    def source(self) -> Source:
        """The documents that can be read."""
        return source.read(self.text, self.path)

    @property
    def sound(self) -> bool:
        """Whether the whole text could be read."""
        return not any(problem.severity == "error" for problem in self.source.problems)

    def last_sound(self) -> Open | None:
        """This text, or the last before it that could be read."""
        return self if self.sound else self._before

    @cached_property
    def objects(self) -> list[Object]:
        """The objects of all documents."""
        return [Object(document, at, one) for document in self.source.documents for at, one in objects(document.data)]

    @cached_property
    def report(self) -> Report:
        """What `lint` says of the text."""
        if self.settings.excluded or self.settings.wrong:
            return Report((), 0, ())
        return lint(
            self.text,
            filename=self.path,
            cluster=self.settings.profile,
            kubernetes=self.settings.kubernetes,
            select=self.settings.select,
            ignore=self.settings.ignore,
            schemas=self.settings.schemas,
            beside=[one.data for one in self.elsewhere if one.kind in DECIDING],
            pause=self.pause,
        )

    @cached_property
    def profile(self) -> ClusterProfile:
        """The profile of the configuration, or the built-in one."""
        from ptcompile.vocabulary.from_schema import default_cluster

        return self.settings.profile or default_cluster()

    @cached_property
    def definitions(self) -> Definitions:
        """The kinds that the configuration's schemas define."""
        from ptcompile.validate.definitions.files import read_definitions

        return read_definitions(self.settings.schemas) if self.settings.schemas else Definitions()

    @cached_property
    def versions(self) -> Versions:
        """The releases in force."""
        versions = self.profile.versions()
        given = self.settings.kubernetes
        return versions._replace(kubernetes=parse_version(given)) if given else versions

    @cached_property
    def compiled(self) -> dict[tuple[int, Path], Compiled]:
        """What each TrainingJob compiles to, by document and place in it."""
        from ptcompile.compiling.compiler import compile_document

        found: dict[tuple[int, Path], Compiled] = {}
        for one in self.objects:
            if one.is_spec:
                self.pause()
                found[one.document.index, one.under] = compile_document(one.data, self.profile)
        return found

    @cached_property
    def jobs(self) -> dict[tuple[int, Path], list[Job]]:
        """The jobs of each object, with the pods that they will have. A spec is compiled for the target it gets."""
        from ptcompile.kubernetes.index import Objects
        from ptcompile.linting.oversized import oversized
        from ptcompile.simulation import simulate

        beside = Objects([*(one.data for one in self.objects), *(one.data for one in self.elsewhere)])
        found: dict[tuple[int, Path], list[Job]] = {}
        for one in self.objects:
            self.pause()
            key = one.document.index, one.under
            compiled = self.compiled.get(key)
            manifests = compiled.manifests if compiled is not None else (one.data,)
            small = [manifest for manifest in manifests if not any(True for _ in oversized(manifest))]
            target = compiled.target.name if compiled is not None and compiled.target is not None else None
            world = simulate(small, versions=self.versions, others=beside, target=target)
            found[key] = [job for job in world.jobs if 0 < job.size <= _MOST_PODS]
        return found

    def object_at(self, offset: int) -> Object | None:
        """The object around an offset; the document's first where it is in none of a List."""
        within = [one for one in self.objects if one.document.start() <= offset <= one.document.end()]
        for one in within:
            span = one.document.span(one.under)
            if span is not None and one.under:
                start, end = (self.source.offset(*place) for place in (span[:2], span[2:]))
                if start <= offset <= end:
                    return one
        return within[0] if within else None

    def defined(self, kinds: Sequence[str], name: str) -> Iterator[Defined]:
        """The objects of these kinds and this name: here first, then elsewhere."""
        for one in (*self.own, *self.elsewhere):
            if one.kind in kinds and one.name == name:
                yield one

    @cached_property
    def own(self) -> Sequence[Defined]:
        """The objects here that others may name."""
        from ptcompile.server.surroundings import File, defined

        return defined(File(self.path, self.text))
