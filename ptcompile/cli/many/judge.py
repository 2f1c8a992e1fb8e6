"""What `ptcompile lint` does with one file, in whichever process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptcompile.cli.config import Config, settings
from ptcompile.cli.files import File
from ptcompile.cli.many.judged import Judged

if TYPE_CHECKING:
    import argparse

    from ptcompile.verbs.fix import Fixed
    from ptcompile.verbs.lint import Report
    from ptcompile.vocabulary.cluster.model import ClusterProfile


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
        lines: Mapping[int, str] = {}
        if found and shows_lines(self.options):
            from ptcompile.cli.trust import hidden
            from ptcompile.report.full import lines_shown

            lines = {} if hidden(file.name) else lines_shown(found, file.text(), file.name)
        return Judged(found, report.documents, report.unchecked, len(report.meant), lines)

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


def shows_lines(options: argparse.Namespace) -> bool:
    """Whether the report shows lines of the files."""
    return options.output_format == "full" and not options.statistics


def _judge(options: argparse.Namespace, beside: Any) -> Judge:
    from ptcompile.verbs.compile import read_cluster

    if options.untrusted:
        from ptcompile.cli.trust import distrust

        distrust()
    config = settings(options)
    if config.cluster is None:
        return Judge(options, config, None, beside)
    from ptcompile.cli import files

    return Judge(options, config, read_cluster(files.read(config.cluster))[0], beside)
