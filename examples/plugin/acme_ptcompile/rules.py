"""Acme's rules. Each is a function of plain data; its docstring is what `ptcompile explain CODE` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptcompile.extending import Edit, Fix, Found, Rule, found_at

LABEL = "acme.example/team"
_AT = ("metadata", "labels", LABEL)


def team_namespace(
    manifest: Mapping[str, Any], _others: Sequence[Mapping[str, Any]]
) -> Iterator[Found]:
    """A job's team label names another team than its namespace.

    Namespaces are called team-NAME, and the bill goes to the label. A job whose label names another team is paid for by
    the wrong one.

    Fix: give the label the name of the namespace, or leave it out: the pass cost_center fills it in.
    """
    metadata = manifest.get("metadata") or {}
    namespace, team = metadata.get("namespace") or "", (metadata.get("labels") or {}).get(LABEL)
    if namespace.startswith("team-") and team is not None and namespace != f"team-{team}":
        own = namespace.removeprefix("team-")
        fix = Fix(f"set {LABEL} to {own}", (Edit("set", _AT, own),), safe=False)
        yield found_at(
            _AT,
            f"the namespace is {namespace}, so {team!r} pays for another team",
            f"write {own}",
            fix,
        )


RULES = (
    Rule(
        code="ACME001",
        name="team-namespace",
        check=team_namespace,
        kinds=("TrainingJob", "Job", "JobSet", "PyTorchJob", "TrainJob"),
        severity="error",
        stage="run",
    ),
)
