"""`ptcompile compile`: specs in, manifests out."""

from __future__ import annotations

import argparse
import os

from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.cli.findings import Findings
from ptcompile.cli.options import check_target
from ptcompile.documents import source
from ptcompile.documents.emit import emit_all
from ptcompile.findings.diagnostics import Path
from ptcompile.secrets.names import masked
from ptcompile.verbs import compile


def run(options: argparse.Namespace) -> int:
    """Compile every spec of every file. One error anywhere, and nothing is written."""
    if not options.paths:
        raise UsageError("no spec given; ptcompile --help shows how (- reads standard input)")
    if options.check and options.output is None:
        raise UsageError("--check compares with what is there: say where with -o FILE or -o DIR/")
    check_target(options.target)
    overrides = [_override(text) for text in options.set]
    findings = Findings(options.output_format)
    inputs, unreadable = files.read_all(options.paths)
    findings.unreadable(unreadable)
    profile = findings.profile(options.cluster)
    outputs: dict[str, list[dict[str, object]]] = {}
    for file in inputs if profile is not None else ():
        result = compile.compile(
            file.content, target=options.target, cluster=profile, filename=file.name, overrides=overrides
        )
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


def _override(text: str) -> tuple[Path, object]:
    """`spec.elastic.nnodes=2:4` as a path and a value; the value is read as in a YAML file, quotes and lists too."""
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise UsageError(f"--set {text}: it must be PATH=VALUE, such as spec.nodes=4")
    parts = tuple(int(part) if part.isascii() and part.isdigit() else part for part in path.split("."))
    read = source.read(f"value: {value}")
    if read.problems or not read.documents or read.documents[0].data.keys() != {"value"}:
        shown = masked(path.rpartition(".")[2], value)
        message = f"{shown!r} is not a YAML value; a text with special characters wants quotes"
        raise UsageError(f"--set {path}={shown}: {message}")
    return parts, read.documents[0].data["value"]


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
