"""`ptcompile compile`, and `--check`: compare manifests on disk with what their specs compile to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api import compile
from ptcompile.cli import files
from ptcompile.cli.config import Config, load
from ptcompile.cli.files import InputFile, UsageError, enter_untrusted_mode
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Findings, map_files, quoted_lines
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.unstructured import GENERATED, kind_of, namespace_of, object_name
from ptcompile.source.emitter import emit_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile

    Manifests = list[dict[str, object]]
    Outputs = dict[str, dict[str, Manifests]]
    """By target, and by the file of specs; the target of one run is the empty name."""
    ObjectKey = tuple[str, tuple[str, str], str, str]
    """Target, apiVersion and kind, namespace, name."""


def check(contents: Mapping[str, str], folder: str | None, form: str) -> int:
    """Compare files with what would be written to them; 1 where they differ.

    The difference goes to standard output, as a patch that makes the files current wherever no secret had to be
    hidden; the names of stale, missing and orphaned files go to standard error. Orphans are files of `folder`
    that ptcompile could have written, and that no spec makes any more; without `folder` they are not looked for.
    """
    from ptcompile.api import check as verb

    committed = {path: files.read(path) for path in contents if os.path.lexists(path)}
    beside = _beside(folder, contents, form) if folder is not None else {}
    checked = verb.check(contents, committed, beside)
    for what, path in checked.found:
        files.print_error(f"ptcompile: {what}: {path}\n")
    if checked.ok:
        return 0
    files.print_error(
        "ptcompile: the same command without --check writes what is stale or missing; orphans are yours to delete\n"
    )
    return max(1, files.write_stdout(checked.patch))


def _beside(folder: str, contents: Mapping[str, str], form: str) -> dict[str, bytes]:
    """Return the other files of a folder with the ending of those that would be written."""
    written = {os.path.realpath(path) for path in contents}
    paths = (os.path.join(folder, name) for name in (os.listdir(folder) if os.path.isdir(folder) else ()))
    kept = (path for path in paths if path.endswith(f".{form}") and os.path.isfile(path))
    return {path: files.read(path) for path in kept if os.path.realpath(path) not in written}


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
        check_target(None if name == ALL else name, extra=(ALL,), extensions=config.extensions)
    if ALL in named:
        from ptcompile.registry.targets import TARGETS

        named = list(TARGETS)
    whole = options.output is None and options.format == "json"
    if len(named) > 1 and not (whole or (options.output is not None and is_folder(options.output))):
        raise UsageError("several targets require -o DIR/, with a folder for each, or --format json")
    return [*named] or [None]


def is_folder(output: str) -> bool:
    """Whether -o names a folder."""
    return output.endswith(os.sep) or os.path.isdir(output)


class CompiledFile(NamedTuple):
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

    def __call__(self, file: InputFile) -> CompiledFile:
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
        return CompiledFile(manifests, said, notes, quoted_lines(file, said, self._options), meant)

    def _result(self, file: InputFile, target: str | None) -> compile.Result:
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
        from ptcompile.cli import overrides

        return result._replace(
            diagnostics=tuple(overrides.point_at_options(result.diagnostics, options.set, options.name))
        )


def _said(runs: Sequence[tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
    """What is said for all targets, each once, without fixes, which are lint's."""
    if not any(runs):
        return ()
    from ptcompile.compiler.advice import targets_by_finding

    return tuple(targets_by_finding(runs))


def _unable(one: compile.Result) -> str | None:
    """Why a target cannot express a job that others can, which is then said and no error; None for any other error."""
    errors = [each for each in one.diagnostics if each.severity == "error"]
    return None if any(each.name != "unsupported-by-target" for each in errors) else errors[0].message


def _compiler(options: argparse.Namespace) -> Compiler:

    if options.untrusted:
        enter_untrusted_mode()
    config = load(None)
    content = None if options.cluster is None else files.read(options.cluster)
    return Compiler(options, config, load_profile(content)[0], targets_of(options, config))


def run(options: argparse.Namespace) -> int:
    """Compile every spec of every file. One error anywhere, and nothing is written."""
    config = load(None)
    targets = targets_of(options, config)
    findings = Findings(options.output_format, extensions=config.extensions)
    if options.set or options.name is not None:
        _show_options(options, findings)
    inputs, unreadable = files.read_all(options.paths, require_match=not options.allow_empty)
    if options.name is not None and len(inputs) > 1:
        raise UsageError(f"--name names one job, but {len(inputs)} files were given")
    findings.report_unreadable(unreadable)
    profile = findings.read_profile(options.cluster)
    outputs: Outputs = {}
    names: dict[ObjectKey, str] = {}
    if profile is not None:
        compiler = Compiler(options, config, profile, targets)
        results = map_files(compiler, inputs, options.jobs)
        try:
            for file, one in zip(inputs, results, strict=True):
                _collect(file, one, outputs, findings)
                if repeated := _repeated_objects(file, one.manifests, names):
                    findings.add(file, repeated)
        finally:
            results.close()
    status = findings.finish()
    if status:
        return status
    if not outputs and not options.allow_empty:
        return findings.report_no_jobs(options.paths)
    if options.check:
        contents, folder = _contents(outputs, options.output, options.format)
        all_named = inputs and all(file.named for file in inputs)
        return check(contents, None if all_named else folder, options.format)
    return 0 if not outputs else write(outputs, options.output, options.format)


def _collect(file: InputFile, one: CompiledFile, outputs: Outputs, findings: Findings) -> None:
    """Put the manifests of a file to those of the others, and what there is to say of it to the findings."""
    for note in one.notes:
        files.print_error(note)
    manifests = [each for made in one.manifests.values() for each in made]
    if findings.add_compiled(file, compile.Result(tuple(manifests), one.diagnostics, one.meant), one.lines):
        for target, made in one.manifests.items():
            outputs.setdefault(target, {})[file.name] = made


def _repeated_objects(
    file: InputFile, manifests: Mapping[str, Manifests], names: dict[ObjectKey, str]
) -> list[Diagnostic]:
    """Return an error if a file compiles to an object that an earlier file already has.

    `names` are the files of these objects, to which those of this file are added.
    """
    repeated: dict[str, tuple[str, str]] = {}
    for target, made in manifests.items():
        for manifest in made:
            name = object_name(manifest)
            if not name or name.endswith(GENERATED):
                continue
            other = names.setdefault((target, kind_of(manifest), namespace_of(manifest), name), file.name)
            if other != file.name:
                repeated.setdefault(other, (name, f"{manifest['kind']}/{name}"))
    if not repeated:
        return []
    from ptcompile.source import streams

    documents = streams.read(file.content, file.name).documents
    return [
        streams.to_diagnostic(
            streams.repeated_in_other_file(resource, other),
            next((one for one in documents if object_name(one.data) == name), documents[0]),
            file.name,
        )
        for other, (name, resource) in repeated.items()
    ]


def _show_options(options: argparse.Namespace, findings: Findings) -> None:
    """Let findings about --set and --name be shown under their words."""
    from ptcompile.cli import overrides

    if options.set:
        findings.add_text(overrides.SET_OPTION, overrides.options_text(options.set))
    if options.name is not None:
        findings.add_text(overrides.NAME_OPTION, options.name)


def write(outputs: Outputs, output: str | None, form: str) -> int:
    """Write the manifests where they are to go; the exit status."""
    if output is None:
        return files.write_stdout(_whole(outputs, form))
    files.write_files(_contents(outputs, output, form)[0])
    return 0


def _whole(outputs: Outputs, form: str) -> str:
    """All manifests as one text; of several targets a JSON object by target."""
    by_target = {target: [one for made in by_file.values() for one in made] for target, by_file in outputs.items()}
    if [*by_target] == [""]:
        return _text(by_target[""], form)
    import json

    return json.dumps({target: _json(made) for target, made in by_target.items()}, indent=2) + "\n"


def _contents(outputs: Outputs, output: str, form: str) -> tuple[dict[str, str], str | None]:
    """The texts by the files that they belong in, and the directory of these where one was named."""
    if not is_folder(output):
        return {output: _whole(outputs, form)} if outputs else {}, None
    contents: dict[str, str] = {}
    for target, by_file in outputs.items():
        contents |= _in_folder(by_file, os.path.join(output, target), form)
    return contents, output if [*outputs] in ([""], []) else None


def _in_folder(by_file: dict[str, Manifests], folder: str, form: str) -> dict[str, str]:
    """What is written to each file of a directory: one for each file of specs, called like it."""
    contents: dict[str, str] = {}
    for name, manifests in by_file.items():
        stem = os.path.splitext(os.path.basename(name))[0].strip("<>")
        path = os.path.join(folder, f"{stem}.{form}")
        if path in contents:
            raise UsageError(f"two specs would be written to {path}: rename one of the files")
        contents[path] = _text(manifests, form)
    return contents


def _text(manifests: Manifests, form: str) -> str:
    if form == "yaml":
        return emit_all(manifests)
    import json

    return json.dumps(_json(manifests), indent=2) + "\n"


def _json(manifests: Manifests) -> dict[str, object]:
    """One object as it is, several as a List."""
    return manifests[0] if len(manifests) == 1 else {"apiVersion": "v1", "kind": "List", "items": manifests}
