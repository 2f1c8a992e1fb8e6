"""A check that a built extension contains exactly what its manifest declares: `python -m tests.editors.vsix FILE`."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ptcompile._internal.about import __version__

_FILES = {
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/dist/extension.js",
    "extension/dist/licenses.txt",
    "extension/package.json",
    "extension/readme.md",
}
_SCHEMA = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
_IDENTITY = f"{_SCHEMA}Metadata/{_SCHEMA}Identity"


def wrong(path: Path) -> list[str]:
    """Return the differences between the file and its manifest."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("extension/package.json"))
        identity = ElementTree.fromstring(archive.read("extension.vsixmanifest")).find(_IDENTITY)  # noqa: S314 - built by this project
        code = archive.read("extension/dist/extension.js").decode()
    found = [f"files: {sorted(names ^ _FILES)}"] if names != _FILES else []
    if identity is None or (identity.get("Id"), identity.get("Version")) != (
        "ptcompile",
        __version__,
    ):
        found.append(
            f"identity: {identity.attrib if identity is not None else None}, and this is {__version__}"
        )
    found += [
        f"{main}: not in the file"
        for main in [manifest["main"]]
        if f"extension/{main[2:]}" not in names
    ]
    return found + list(_undone(manifest, code))


def _undone(manifest: dict[str, Any], code: str) -> list[str]:
    """Yield declared names that are not in the code."""
    contributed = manifest["contributes"]
    commands = [command["command"] for command in contributed["commands"]]
    settings = [name.partition(".")[2] for name in contributed["configuration"]["properties"]]
    asked = [*commands, *(name for name in settings if name != "trace.server")]
    missing = [
        f"{name}: declared, and not in the code" for name in asked if f'"{name}"' not in code
    ]
    patterns = {f"${pattern['name']}" for pattern in contributed["problemPatterns"]}
    matchers = {matcher["pattern"] for matcher in contributed["problemMatchers"]}
    return missing + [f"{matcher}: no such pattern" for matcher in matchers - patterns]


if __name__ == "__main__":
    problems = wrong(Path(sys.argv[1]))
    print("\n".join(problems) or f"{Path(sys.argv[1]).name}: as its manifest says")
    sys.exit(bool(problems))
