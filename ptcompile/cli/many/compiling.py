"""What `ptcompile compile` does with one file, in whichever process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ptcompile.cli.config import Config
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import lines_of
from ptcompile.cli.options import check_target
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.typed import NamedTuple
from ptcompile.verbs import compile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile

ALL = "all"
"""The --target that stands for every one that can express the job."""


def targets_of(options: argparse.Namespace, config: Config) -> list[str | None]:
    """The targets to compile for. Raises `UsageError` for options that do not go together."""
    if not options.paths:
        raise UsageError("no spec given; ptcompile --help shows how (- reads standard input)")
    if options.check and options.output is None:
        raise UsageError("--check compares with existing files: say where with -o FILE or -o DIR/")
    named: list[str] = list(dict.fromkeys(options.target))
    for name in named:
        check_target(None if name == ALL else name, beside=(ALL,), extensions=config.extensions)
    if ALL in named:
        from ptcompile.operators.targets import TARGETS

        named = list(TARGETS)
    whole = options.output is None and options.format == "json"
    if len(named) > 1 and not (whole or (options.output is not None and is_folder(options.output))):
        raise UsageError("several targets require -o DIR/, with a folder for each, or --format json")
    return [*named] or [None]


def is_folder(output: str) -> bool:
    """Whether -o names a folder."""
    return output.endswith(os.sep) or os.path.isdir(output)


class Compiled(NamedTuple):
    """What became of one file."""

    manifests: Mapping[str, list[dict[str, object]]]
    """By target; the target of one run is the empty name."""
    diagnostics: tuple[Diagnostic, ...]
    """Each once, without fixes: those are lint's."""
    notes: Sequence[str]
    """Lines for people."""
    lines: Mapping[int, str]
    """The lines of the file that are shown with the findings."""
    meant: tuple[Diagnostic, ...] = ()
    """What comments in the file and the configuration ignore."""


class Compiler:
    """All that decides what a file is compiled to, but the file."""

    def __init__(
        self,
        options: argparse.Namespace,
        config: Config,
        profile: ClusterProfile | None,
        targets: Sequence[str | None],
    ) -> None:
        self._options, self._config, self._profile, self._targets = options, config, profile, targets

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made of, for a process that is not a fork: plugins cannot be."""
        return _compiler, (self._options,)

    def __call__(self, file: File) -> Compiled:
        """The manifests of a file, and what there is to say of it."""
        notes: list[str] = []
        results = {target: self._result(file, target) for target in self._targets}
        if ALL in self._options.target and any(one.ok for one in results.values()):
            for target, one in [*results.items()]:
                unable = None if one.ok else _unable(one)
                if unable is not None:
                    notes.append(f"ptcompile: not for {target}: {unable}\n")
                    del results[target]
        said = _said([one.diagnostics for one in results.values()])
        several = len(self._targets) > 1
        manifests = {(target or "") if several else "": list(one.manifests) for target, one in results.items()}
        meant = _said([one.meant for one in results.values()])
        return Compiled(manifests, said, notes, lines_of(file, said, self._options), meant)

    def _result(self, file: File, target: str | None) -> compile.Result:
        options, config = self._options, self._config
        result = compile.compile(
            file.content,
            target=target,
            cluster=self._profile,
            name=options.name,
            filename=file.name,
            overrides=[(one.path, one.value) for one in options.set],
            lint=not options.no_lint,
            select=config.selected(),
            ignore=config.ignored(file.name),
            extensions=config.extensions,
        )
        if not options.set and options.name is None:
            return result
        from ptcompile.cli import sets

        return result._replace(diagnostics=tuple(sets.pointed(result.diagnostics, options.set, options.name)))


def _said(runs: Sequence[tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
    """What is said for all targets, each once, without fixes, which are lint's."""
    if not any(runs):
        return ()
    from ptcompile.compiling.advice import of_all

    return tuple(of_all(runs))


def _unable(one: compile.Result) -> str | None:
    """Why a target cannot express a job that others can, which is then said and no error; None for any other error."""
    errors = [each for each in one.diagnostics if each.severity == "error"]
    return None if any(each.name != "unsupported-by-target" for each in errors) else errors[0].message


def _compiler(options: argparse.Namespace) -> Compiler:
    from ptcompile.cli import files
    from ptcompile.cli.config import load
    from ptcompile.cli.trust import distrust

    if options.untrusted:
        distrust()
    config = load(None)
    content = None if options.cluster is None else files.read(options.cluster)
    return Compiler(options, config, compile.read_cluster(content)[0], targets_of(options, config))
