"""`ptcompile compile`: specs in, manifests out."""

from __future__ import annotations

import os

from ptcompile.cli import files
from ptcompile.cli.config import load
from ptcompile.cli.files import File, UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.many import shared
from ptcompile.cli.many.compiling import Compiled, Compiler, is_folder, targets_of
from ptcompile.documents.emit import emit_all
from ptcompile.verbs import compile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    Manifests = list[dict[str, object]]
    Outputs = dict[str, dict[str, Manifests]]
    """By target, and by the file of specs; the target of one run is the empty name."""


def run(options: argparse.Namespace) -> int:
    """Compile every spec of every file. One error anywhere, and nothing is written."""
    config = load(None)
    targets = targets_of(options, config)
    findings = Findings(options.output_format, extensions=config.extensions)
    if options.set or options.name is not None:
        _show_options(options, findings)
    inputs, unreadable = files.read_all(options.paths)
    if options.name is not None and len(inputs) > 1:
        raise UsageError(f"--name names one job, but {len(inputs)} files were given")
    findings.unreadable(unreadable)
    profile = findings.profile(options.cluster)
    outputs: Outputs = {}
    if profile is not None:
        compiler = Compiler(options, config, profile, targets)
        results = shared(compiler, inputs, options.jobs)
        try:
            for file, one in zip(inputs, results, strict=True):
                _collect(file, one, outputs, findings)
        finally:
            results.close()
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


def _collect(file: File, one: Compiled, outputs: Outputs, findings: Findings) -> None:
    """Put the manifests of a file to those of the others, and what there is to say of it to the findings."""
    for note in one.notes:
        files.say(note)
    manifests = [each for made in one.manifests.values() for each in made]
    if findings.compiled(file, compile.Result(tuple(manifests), one.diagnostics, one.meant), one.lines):
        for target, made in one.manifests.items():
            outputs.setdefault(target, {})[file.name] = made


def _show_options(options: argparse.Namespace, findings: Findings) -> None:
    """Let findings about --set and --name be shown under their words."""
    from ptcompile.cli import sets

    if options.set:
        findings.text(sets.NAME, sets.texts(options.set))
    if options.name is not None:
        findings.text(sets.RUN, options.name)


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
