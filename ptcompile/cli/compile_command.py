"""`ptcompile compile`: specs in, manifests out."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ptcompile.cli import files
from ptcompile.cli.config import Config, load
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.options import check_target
from ptcompile.documents.emit import emit_all
from ptcompile.verbs import compile

if TYPE_CHECKING:
    from ptcompile.findings.diagnostics import Diagnostic
    from ptcompile.vocabulary.cluster.model import ClusterProfile

    Manifests = list[dict[str, object]]
    Outputs = dict[str, dict[str, Manifests]]
    """By target, and by the file of specs; the target of one run is the empty name."""

ALL = "all"
"""The --target that stands for every one that can express the job."""


def run(options: argparse.Namespace) -> int:
    """Compile every spec of every file. One error anywhere, and nothing is written."""
    config = load(None)
    targets = _targets(options, config)
    findings = Findings(options.output_format, extensions=config.extensions)
    if options.set or options.name is not None:
        _show_options(options, findings)
    inputs, unreadable = files.read_all(options.paths)
    if options.name is not None and len(inputs) > 1:
        raise UsageError(f"--name names one job, but {len(inputs)} files were given")
    findings.unreadable(unreadable)
    profile = findings.profile(options.cluster)
    outputs: Outputs = {}
    for file in inputs if profile is not None else ():
        for target, manifests in _compiled(file, targets, options, config, profile, findings).items():
            outputs.setdefault(target, {})[file.name] = manifests
    status = findings.finish()
    if status:
        return status
    if not outputs:
        return findings.no_jobs(options.paths)
    if options.check:
        from ptcompile.cli.check import check

        contents, folder = _contents(outputs, options.output, options.format)
        return check(contents, folder if any(not file.named for file in inputs) else None)
    return write(outputs, options.output, options.format)


def _targets(options: argparse.Namespace, config: Config) -> list[str | None]:
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
    if len(named) > 1 and not (whole or (options.output is not None and _is_folder(options.output))):
        raise UsageError("several targets require -o DIR/, with a folder for each, or --format json")
    return [*named] or [None]


def _compiled(
    file: File,
    targets: list[str | None],
    options: argparse.Namespace,
    config: Config,
    profile: ClusterProfile | None,
    findings: Findings,
) -> dict[str, Manifests]:
    """The manifests of a file by target, with what there is to say added to the findings, each once."""
    overrides = [(one.path, one.value) for one in options.set]
    results: dict[str | None, compile.Result] = {}
    for target in targets:
        result = compile.compile(
            file.content,
            target=target,
            cluster=profile,
            name=options.name,
            filename=file.name,
            overrides=overrides,
            lint=not options.no_lint,
            select=config.selected(),
            ignore=config.ignored(file.name),
            extensions=config.extensions,
        )
        results[target] = result._replace(diagnostics=_at_options(result.diagnostics, options))
    if ALL in options.target and any(one.ok for one in results.values()):
        results = {target: one for target, one in results.items() if one.ok or not _unable(target, one)}
    said = _said([one.diagnostics for one in results.values()])
    meant = _said([one.meant for one in results.values()])
    manifests = [made for one in results.values() for made in one.manifests]
    if not findings.compiled(file, compile.Result(tuple(manifests), said, meant)):
        return {}
    return {target or "" if len(targets) > 1 else "": list(one.manifests) for target, one in results.items()}


def _show_options(options: argparse.Namespace, findings: Findings) -> None:
    """Let findings about --set and --name be shown under their words."""
    from ptcompile.cli import sets

    if options.set:
        findings.text(sets.NAME, sets.texts(options.set))
    if options.name is not None:
        findings.text(sets.RUN, options.name)


def _at_options(diagnostics: tuple[Diagnostic, ...], options: argparse.Namespace) -> tuple[Diagnostic, ...]:
    """Diagnostics, with those that --set or --name caused at these options."""
    if not options.set and options.name is None:
        return diagnostics
    from ptcompile.cli import sets

    return tuple(sets.pointed(diagnostics, options.set, options.name))


def _said(runs: list[tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
    """What is said for all targets, each once, without fixes, which are lint's."""
    if not any(runs):
        return ()
    from ptcompile.compiling.advice import of_all

    return tuple(of_all(runs))


def _unable(target: str | None, result: compile.Result) -> bool:
    """Whether a target cannot express a job that others can, which is then said and no error."""
    errors = [one for one in result.diagnostics if one.severity == "error"]
    if any(one.name != "unsupported-by-target" for one in errors):
        return False
    files.say(f"ptcompile: not for {target}: {errors[0].message}\n")
    return True


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


def _is_folder(output: str) -> bool:
    return output.endswith(os.sep) or os.path.isdir(output)


def _contents(outputs: Outputs, output: str, form: str) -> tuple[dict[str, str], str | None]:
    """The texts by the files that they belong in, and the directory of these where one was named."""
    if not _is_folder(output):
        return {output: _whole(outputs, form)}, None
    contents: dict[str, str] = {}
    for target, by_file in outputs.items():
        contents |= _in_folder(by_file, os.path.join(output, target), form)
    return contents, output if [*outputs] == [""] else None


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
