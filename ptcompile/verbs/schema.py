"""The verb `schema` as a function: the JSON Schemas of our own kinds, and of what the verbs give as JSON."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.documents import schema_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Schema = dict[str, Any]


def schema(name: str) -> Schema:
    """A JSON Schema (2020-12), a copy of your own: of `spec` and `cluster`, and of what is given as JSON.

    That is `report`, `world`, `diff`, `explanation`, `handle` and `rehearsal`. Raises KeyError for any other name.
    """
    return SCHEMAS[name]()


def _spec() -> Schema:
    from ptcompile.vocabulary.spec import json_schema

    return json_schema()


def _cluster() -> Schema:
    from ptcompile.vocabulary.cluster.model import json_schema

    return json_schema()


def _report() -> Schema:
    from ptcompile.report.schema import json_schema

    return json_schema()


def _diff() -> Schema:
    from ptcompile.diffing.schema import json_schema

    return json_schema()


def _by_hand(name: str) -> Callable[[], Schema]:
    def read() -> Schema:
        import json

        found: Schema = json.loads(schema_files.schema_text(f"{name}.schema.json"))
        return found

    return read


SCHEMAS: Final[dict[str, Callable[[], Schema]]] = {
    "spec": _spec,
    "cluster": _cluster,
    "report": _report,
    "world": _by_hand("world"),
    "diff": _diff,
    "explanation": _by_hand("explanation"),
    "handle": _by_hand("handle"),
    "rehearsal": _by_hand("rehearsal"),
}
"""How each is made, or read where it is written by hand."""
