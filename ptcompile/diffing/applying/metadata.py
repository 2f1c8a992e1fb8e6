"""An object's metadata over an update (apimachinery `ValidateObjectMetaAccessorUpdate`, Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.told import fixed, forbidden
from ptcompile.findings.diagnostics import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GONE = "remove it: the server writes it when the object is deleted"


def metadata_update(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    """What the server answers to a change of metadata; labels and annotations are free."""
    before, after = _mapping(old.get("metadata")), _mapping(new.get("metadata"))
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        value = after.get(key)
        if value is not None and value != before.get(key):
            yield fixed(("metadata", key), value, _GONE)
    if after.get("uid") and before.get("uid") and after["uid"] != before["uid"]:
        yield fixed(("metadata", "uid"), after["uid"], "remove it: the server sets it")
    versions = before.get("resourceVersion"), after.get("resourceVersion")
    if all(versions) and versions[0] != versions[1]:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        yield forbidden(("metadata", "resourceVersion"), why, "remove it: it is from another state of the object")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
