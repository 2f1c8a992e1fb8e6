"""A container's variables as the files show them: which names it has, and what kind of text a source gives.

The values themselves are `simulation`'s: order, operators' variables and references are looked at there.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.untyped import at, items, text
from ptcompile.linting.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.untyped import Json

_SOURCES: Final = {"configMapRef": ("v1", "ConfigMap"), "secretRef": ("v1", "Secret")}
_APART: Final = (
    "<metadata.name>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "$(hostname", "`hostname", "$HOSTNAME",
    "${HOSTNAME", "$RANDOM", "${RANDOM", "$(uuidgen", "`uuidgen", "$(cat /proc/sys/kernel/random", "$(openssl rand",
)  # fmt: skip
"""Texts that no two pods have in common, as `simulation` leaves them in a value."""
_NO_NUMBER: Final = (
    "<metadata.name>", "<metadata.namespace>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "<status.hostIP>",
    "<status.hostIPs>", "<spec.nodeName>", "<spec.serviceAccountName>", "$(hostname)", "$(hostname -f)", "`hostname`",
)  # fmt: skip
"""Sources whose text is not a whole number: a name of a pod or a node, an address, a UID."""


def given_by_stream(subject: Subject, container: Json, space: str) -> frozenset[str] | None:
    """The names that `envFrom` gives a container; None where one of its objects is not in the stream."""
    names: set[str] = set()
    for source in items(container.get("envFrom")):
        found = [_object(subject.others.within(space), source, key) for key in _SOURCES if source.get(key)]
        if not found or None in found:
            return None
        prefix = text(source.get("prefix"))
        for one in found:
            keys = {**at(one, "data"), **at(one, "stringData"), **at(one, "binaryData")}
            names |= {prefix + str(key) for key in keys}
    return frozenset(names)


def _object(near: Objects, source: Json, key: str) -> Json | None:
    return next(iter(near.named(_SOURCES[key], text(at(source, key).get("name")))), None)


def differs(value: str) -> str | None:
    """What makes a value another one in each pod, or None."""
    return next((mark for mark in _APART if mark in value), None)


def never_a_number(value: str) -> bool:
    """Whether a value that is not known is a text all the same, and no whole number."""
    return ("<" in value or "hostname" in value) and any(mark in value for mark in _NO_NUMBER)
