"""Record the CustomResourceDefinitions that projects publish, without their descriptions.

A set is the name of a file below tests/recorded, such as crds/jobset; `--from` has a file of the
same name with the ending .yaml, as `kubectl get crd NAME -o yaml` or the project's release has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests import recorded
from tests.places import children
from tests.recorded.recording import Json, arguments, header, write

RECORDER = "tests.recorded.crds.record"


def without_descriptions(node: Any) -> Any:
    """Return a schema without the descriptions of its fields; a field of that name stays."""
    if isinstance(node, dict):
        return {
            key: without_descriptions(value)
            for key, value in node.items()
            if not is_description(key, value)
        }
    return [without_descriptions(item) for item in node] if isinstance(node, list) else node


def is_description(key: str, value: Any) -> bool:
    return key == "description" and isinstance(value, str)


def published(path: Path) -> Json:
    """Return the definition in a file, without what a cluster adds."""
    (document,) = [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]
    return {key: value for key, value in without_descriptions(document).items() if key != "status"}


def changes(old: Json, new: Json) -> Iterator[str]:
    """Yield a line for each value that differs, with its path."""
    before, after = dict(leaves(old, "")), dict(leaves(new, ""))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield f"{path}: {before.get(path, 'absent')} -> {after.get(path, 'absent')}"


def leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values below a node that have no parts, with their paths; items are named if they
    have a name.
    """
    items = children(node)
    for key, value in items:
        name = value.get("name", key) if isinstance(node, list) and isinstance(value, dict) else key
        yield from leaves(value, f"{path}.{name}")
    if not items:
        yield path, node


def main() -> int:
    """Record the named definitions, or compare them. Returns the exit status."""
    parser = arguments(RECORDER, __doc__)
    parser.add_argument(
        "--from",
        dest="folder",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="has crds/NAME.yaml",
    )
    parser.add_argument(
        "--release", required=True, metavar="SOFTWARE=VERSION", help="such as jobset=0.12.1"
    )
    options = parser.parse_args()
    software, _, version = options.release.partition("=")
    status = 0
    for name in options.sets:
        row = published(options.folder / f"{name}.yaml")
        if options.check:
            (old,) = recorded.rows(name)
            lines = list(changes(old, row))
            sys.stdout.writelines(f"{name}: {line}\n" for line in lines)
            status |= bool(lines)
        else:
            write(name, header(RECORDER, {software: version}), [row])
    return status


if __name__ == "__main__":
    sys.exit(main())
