"""The JSON form of an explanation: schemas/explanation.schema.json. `version` changes when a field does."""

from __future__ import annotations

from ptcompile import streams
from ptcompile.explaining.leaves import MISSING
from ptcompile.explaining.model import Cause, Change, Explained, Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.explaining.model import Told

VERSION = 1


def to_dict(explanation: Told) -> dict[str, Any]:
    """The whole explanation. Manifests are named only: `ptcompile compile` writes them."""
    return {
        "version": VERSION,
        "jobs": [_job(job) for job in explanation.jobs],
        "manifests": [streams.resource(manifest) for manifest in explanation.manifests],
        "causes": [cause_to_dict(cause) for cause in explanation.causes],
        "files": {file: text.filename for file, text in explanation.texts.items()},
        "diagnostics": [d.to_dict() for d in explanation.diagnostics],
    }


def _job(job: Explained) -> dict[str, Any]:
    return {
        "resource": job.resource,
        "target": job.target,
        "chosenBy": job.chosen_by,
        "manifests": list(job.manifests),
        "steps": [{"pass": step.name, "changes": [_change(change) for change in step.changes]} for step in job.steps],
    }


def _change(change: Change) -> dict[str, Any]:
    out: dict[str, Any] = {
        "kind": change.kind,
        "roles": list(change.roles),
        "path": list(change.path),
        "shown": change.shown,
        "masked": change.masked,
    }
    sides = {"before": change.before, "after": change.after}
    return {**out, **{name: value for name, value in sides.items() if value is not MISSING}}


def cause_to_dict(cause: Cause) -> dict[str, Any]:
    """One cause."""
    return {
        "manifest": cause.manifest,
        "path": list(cause.path),
        "shown": cause.shown,
        "value": cause.value,
        "by": cause.by,
        "rule": cause.rule,
        "inputs": [_input(one) for one in cause.inputs],
        "masked": cause.masked,
    }


def _input(one: Input) -> dict[str, Any]:
    return {
        "file": one.file,
        "path": list(one.path),
        "value": one.value,
        "leftOut": one.left_out,
        "otherValue": one.other_value,
        "given": one.given,
        "span": one.span._asdict() if one.span else None,
        "masked": one.masked,
    }
