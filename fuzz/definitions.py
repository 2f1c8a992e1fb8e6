"""The harness of definitions that a stranger brings: CRDs in the stream or in a folder, JSON
Schemas, their objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import ptcompile
from fuzz.harness import NAME, findings, harmless
from ptcompile.api import fix as fixing
from ptcompile.diagnostics import Diagnostic
from ptcompile.source import documents as source
from ptcompile.source.emitter import emit_all

LAST = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Last_Of-All}\n"
"""A document of its own, whose finding no other document may cost."""


def definitions(data: bytes) -> None:
    """Lint a stream that defines its own kinds, or with the definitions in a folder; fix and
    compare its objects.
    """
    (_stream, _folder, _folder, _change)[crc32(data) % 4](data)


def _stream(data: bytes) -> None:
    dice = crc32(data) >> 4
    report = ptcompile.lint(
        data, filename=NAME, webhooks=bool(dice & 1), unknown_kinds="error" if dice & 2 else "count"
    )
    findings((*report.diagnostics, *report.meant), data)
    _no_fault(report.diagnostics)
    read = source.read(data)
    if (
        not read.problems
        and read.documents
        and not read.is_json
        and b"ptcompile:" not in data
        and len(data) < 8192
    ):
        both = ptcompile.lint(data + LAST.encode(), filename=NAME)
        told = [one for one in both.diagnostics if "Last_Of-All" in one.message]
        is_template = any(one.name == "unrendered-template" for one in both.diagnostics)
        assert told or is_template, "a document costs another its findings"
    if dice & 12 == 0:
        done = fixing.fix(data, filename=NAME, unsafe=bool(dice & 16))
        findings(done.report.diagnostics, done.content)


def _folder(data: bytes) -> None:
    """The definitions are files, in one of the forms that people keep them in; the objects are
    the stream.
    """
    crds, schemas, objects = _parts(data)
    as_json = bool(crc32(data) & 16)
    with TemporaryDirectory() as folder:
        for i, document in enumerate(crds):
            text = json.dumps(document) if as_json else emit_all([document])
            Path(folder, f"crd{i}.{'json' if as_json else 'yaml'}").write_text(
                text, "utf-8", "replace"
            )

        for schema in schemas[:1]:
            Path(folder, "foo-x-v1.json").write_text(json.dumps(schema), "utf-8")
        text = emit_all(objects)
        try:
            report = ptcompile.lint(text, filename=NAME, schemas=[folder])
        except ValueError as error:
            _names_its_file(str(error), folder)
            return

    findings((*report.diagnostics, *report.meant), text.encode())
    _no_fault(report.diagnostics)


def _no_fault(found: Iterable[Diagnostic]) -> None:
    """No finding stands for an exception of ours: it costs nobody else's findings, but is a
    mistake all the same.
    """
    for one in found:
        assert not re.search(r"\(\w+(Error|Exception): |\(AssertionError", one.message), one.message


def _names_its_file(message: str, folder: str) -> None:
    harmless(message)
    assert folder in message, message


def _change(data: bytes) -> None:
    """One object becomes another, beside the definitions: rules that compare with the old object
    are asked.
    """
    crds, _, objects = _parts(data)
    old, new = ([*crds, *(_named(one) for one in some)] for some in (objects[:1], objects[1:2]))
    found = ptcompile.diff(old, new, filenames=(NAME, NAME))
    harmless(found.text())
    json.dumps(found.to_dict(), allow_nan=False)


def _parts(data: bytes) -> tuple[list[Any], list[Any], list[Any]]:
    """The CRDs, the JSON Schemas and the other documents of a stream."""
    parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for document in source.read(data).documents:
        value = document.data
        crd = value.get("kind") == "CustomResourceDefinition"
        parts[0 if crd else 1 if "$schema" in value else 2].append(value)
    return parts


def _named(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {"name": "a"}}
