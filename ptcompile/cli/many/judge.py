"""What `ptcompile lint` does with files: each judged by itself, or known from the run before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile.cli import files
from ptcompile.cli.beside import Beside
from ptcompile.cli.config import Config, settings
from ptcompile.cli.files import File
from ptcompile.cli.findings import lines_of, shows_lines
from ptcompile.cli.many import Judged, shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Final

    from ptcompile.cli.many.kept import Kept
    from ptcompile.verbs.fix import Fixed
    from ptcompile.verbs.lint import Report
    from ptcompile.vocabulary.cluster.model import ClusterProfile

FEW: Final = 16
"""Files that are judged about as soon as it is known whether they have changed."""


class Judge:
    """All that decides what is found in a file, but the file."""

    def __init__(
        self,
        options: argparse.Namespace,
        config: Config,
        profile: ClusterProfile | None,
        beside: Callable[[File], Sequence[Mapping[str, Any]]] = lambda _: (),
    ) -> None:
        self.options, self.config, self.profile, self.beside = options, config, profile, beside

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made of, for a process that is not a fork: plugins cannot be."""
        return _judge, (self.options, self.beside)

    def __call__(self, file: File) -> Judged:
        """The findings of a file, with the lines that are shown of it."""
        report = self.report(file)
        found = tuple(
            one if one.fix is None else one._replace(fix=one.fix._replace(edits=())) for one in report.diagnostics
        )
        return Judged(found, report.documents, report.unchecked, len(report.meant), lines_of(file, found, self.options))

    def report(self, file: File) -> Report:
        """The findings of a file, with their edits."""
        from ptcompile.verbs.lint import lint

        config = self.config
        return lint(
            file.content,
            filename=file.name,
            cluster=self.profile,
            kubernetes=config.kubernetes_version,
            webhooks=not self.options.no_webhooks,
            unknown_kinds=self.options.unknown_kinds,
            select=config.selected(),
            ignore=[*config.ignore, *config.ignored_in(file.name)],
            schemas=config.schemas,
            beside=self.beside(file),
            extensions=config.extensions,
        )

    def fixed(self, file: File) -> Fixed:
        """A file with its findings fixed."""
        from ptcompile.verbs.fix import fixed_by

        report = self.report
        return fixed_by(
            file.content, lambda text: report(file._replace(content=text)), unsafe=self.options.unsafe_fixes
        )


def judged(inputs: Sequence[File], judge: Judge, others: Beside) -> Iterator[tuple[File, Judged]]:
    """Each file with what is found in it. `others` is what `judge` has for each file of the others."""
    kept = _kept(inputs, judge, others)
    known = [kept.get(file) if kept is not None else None for file in inputs]
    left = [file for file, one in zip(inputs, known, strict=True) if one is None]
    if left:
        others.found()  # once, and not in each process
    fresh = shared(judge, left, judge.options.jobs)
    try:
        for file, one in zip(inputs, known, strict=True):
            result = one if one is not None else next(fresh)
            if kept is not None and one is None:
                kept.put(file, result)
            yield file, result
    finally:
        fresh.close()
    if kept is not None:
        kept.save()


def _kept(inputs: Sequence[File], judge: Judge, others: Beside) -> Kept | None:
    """The results of the last run; None where they are not wanted, or cannot be had."""
    options, config = judge.options, judge.config
    if options.no_cache or options.untrusted or config.plugins or len(inputs) < FEW:
        return None
    from ptcompile.cli.many import kept, keys

    folder = options.cache_dir or kept.place()
    if folder is None:
        return None
    try:
        kept.prepare(folder)
        asked = keys.settings_key(options, config, shows_lines(options))
    except OSError as error:
        if options.cache_dir:
            files.say(f"ptcompile: --cache-dir: {folder}: {files.reason(error)}; no results are kept\n")
        return None
    return kept.Kept(folder, asked, keys.file_key(config, others))


def _judge(options: argparse.Namespace, beside: Any) -> Judge:
    from ptcompile.verbs.compile import read_cluster

    if options.untrusted:
        from ptcompile.cli.trust import distrust

        distrust()
    config = settings(options)
    if config.cluster is None:
        return Judge(options, config, None, beside)
    return Judge(options, config, read_cluster(files.read(config.cluster))[0], beside)
