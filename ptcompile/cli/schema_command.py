"""`ptcompile schema`: the JSON Schemas of our own kinds, and of what the commands print as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable


def _spec() -> str:
    from ptcompile.vocabulary.spec import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _cluster() -> str:
    from ptcompile.vocabulary.cluster.model import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _report() -> str:
    from ptcompile.report.schema import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _world() -> str:
    """Written by hand, and so printed as it stands."""
    from ptcompile.documents.schema_files import schema_text

    return schema_text("world.schema.json")


def _diff() -> str:
    from ptcompile.diffing.schema import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _explanation() -> str:
    """Written by hand, and so printed as it stands."""
    from ptcompile.documents.schema_files import schema_text

    return schema_text("explanation.schema.json")


SCHEMAS: dict[str, Callable[[], str]] = {
    "spec": _spec,
    "cluster": _cluster,
    "report": _report,
    "world": _world,
    "diff": _diff,
    "explanation": _explanation,
}
"""What each word prints."""
