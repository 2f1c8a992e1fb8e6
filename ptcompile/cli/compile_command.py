"""`ptcompile compile`: specs in, manifests out."""

from __future__ import annotations

import argparse
import os

from ptcompile.cli import files, sets
from ptcompile.cli.files import UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.options import check_target
from ptcompile.documents.emit import emit_all
from ptcompile.verbs import compile


def run(options: argparse.Namespace) -> int:
    """Compile every spec of every file. One error anywhere, and nothing is written."""
    if not options.paths:
        raise UsageError("no spec given; ptcompile --help shows how (- reads standard input)")
    if options.check and options.output is None:
        raise UsageError("--check compares with what is there: say where with -o FILE or -o DIR/")
    check_target(options.target)
    findings = Findings(options.output_format)
    given: list[sets.Set] = options.set
    overrides = [(one.path, one.value) for one in given]
    if given:
        findings.text(sets.NAME, sets.texts(given))
    inputs, unreadable = files.read_all(options.paths)
    findings.unreadable(unreadable)
    profile = findings.profile(options.cluster)
    outputs: dict[str, list[dict[str, object]]] = {}
    for file in inputs if profile is not None else ():
        result = compile.compile(
            file.content, target=options.target, cluster=profile, filename=file.name, overrides=overrides
        )
        result = result._replace(diagnostics=tuple(sets.pointed(result.diagnostics, given)))
        if findings.compiled(file, result):
            outputs[file.name] = list(result.manifests)
    status = findings.finish()
    if status:
        return status
    if not outputs:
        return findings.no_jobs(options.paths)
    if options.check:
        from ptcompile.cli.check import check

        contents, folder = _contents(outputs, options.output, options.format)
        return check(contents, folder if any(not file.named for file in inputs) else None)
    return _write(outputs, options.output, options.format)


def _write(outputs: dict[str, list[dict[str, object]]], output: str | None, form: str) -> int:
    if output is None:
        return files.write_stdout(_text([one for manifests in outputs.values() for one in manifests], form))
    files.write_files(_contents(outputs, output, form)[0])
    return 0


def _contents(outputs: dict[str, list[dict[str, object]]], output: str, form: str) -> tuple[dict[str, str], str | None]:
    """The texts by the files that they belong in, and the directory of these where one was named."""
    if output.endswith(os.sep) or os.path.isdir(output):
        return _in_folder(outputs, output, form), output
    return {output: _text([one for manifests in outputs.values() for one in manifests], form)}, None


def _in_folder(outputs: dict[str, list[dict[str, object]]], folder: str, form: str) -> dict[str, str]:
    """What is written to each file of a directory: one for each file of specs, called like it."""
    contents: dict[str, str] = {}
    for name, manifests in outputs.items():
        stem = os.path.splitext(os.path.basename(name))[0].strip("<>")
        path = os.path.join(folder, f"{stem}.{form}")
        if path in contents:
            raise UsageError(f"two specs would be written to {path}: give their files different names")
        contents[path] = _text(manifests, form)
    return contents


def _text(manifests: list[dict[str, object]], form: str) -> str:
    if form == "yaml":
        return emit_all(manifests)
    import json

    whole = manifests[0] if len(manifests) == 1 else {"apiVersion": "v1", "kind": "List", "items": manifests}
    return json.dumps(whole, indent=2) + "\n"
