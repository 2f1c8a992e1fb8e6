"""PersistentVolumeClaim over an update (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.told import forbidden
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.untyped import at
from ptcompile.validate.core.pvc import drops_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.operators.record import Update

_GROWS = ("spec", "resources", "requests", "storage")


def _set_once(path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a change names the volume or the class of a claim that had none, or a source that the server drops."""
    if path[1:2] in (("dataSource",), ("dataSourceRef",)):
        return old.get(path[1]) is None and drops_source(path[1], at(new, path[1]))
    return path[1:] in (("volumeName",), ("storageClassName",)) and not old.get(path[1])


def claim_update(update: Update) -> Iterator[Problem]:
    """A claim: once it is bound it may grow, where its class allows it; a claim that is not bound may not change.

    Whether it is bound stands in `status.phase`, which files do not have: kubectl get -o yaml does.
    """
    touched = [
        path
        for path in update.under("spec")
        if not _set_once(path, *(at(one, "spec") for one in (update.old, update.new)))
    ]
    if not touched:
        return
    bound = update.old.get("status") is None or at(update.old, "status").get("phase") == "Bound"
    live = update.old.get("status") is not None
    size, wanted = (parse(at(one, *_GROWS[:-1]).get("storage")) for one in (update.old, update.new))
    if live and bound and all(path == _GROWS for path in touched):
        if size is not None and wanted is not None and wanted < size:
            text = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
            yield Problem("forbidden-value", _GROWS, text, "make a new claim, and copy the data")
        return
    why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    yield forbidden(("spec",), why, "give the claim a new name; a bound claim may grow (kubectl edit pvc)")
