"""Explicit tags (`!!int`, `!Ref`), as go-yaml v2 takes them: it checks the core ones and ignores all others."""

from __future__ import annotations

import re

from ptcompile.documents.reader.nodes import Finding, refused
from ptcompile.kubernetes.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_CORE: Final = "tag:yaml.org,2002:"
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+(?:Z|[-+][0-9:]+)?)?")


class Infinite(str):
    """`.inf` or `.nan`: kubectl takes it as a key only."""


def tagged(event: Any, text: str) -> Any:
    """The value of a scalar with an explicit tag, as go-yaml decodes it."""
    kind = event.tag.removeprefix(_CORE) if event.tag.startswith(_CORE) else None
    value = resolve(text)
    if kind == "binary":
        return _binary(event, text)
    fits = {
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "null": value is None,
    }
    if kind == "timestamp":
        if not _TIMESTAMP.fullmatch(text):
            raise refused(event, "yaml-syntax", f"the value is not a !!{kind}", "remove the tag")
        return text
    if kind not in fits:
        return text
    if not fits[kind]:
        raise refused(event, "yaml-syntax", f"the value is not a !!{kind}", "remove the tag")
    return Infinite(text) if isinstance(value, float) and value - value != 0 else value


def _binary(event: Any, text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError):
        raise refused(event, "yaml-syntax", "the value is not base64", "remove the tag, or fix the value") from None


def note_tag(event: Any, findings: list[Finding]) -> None:
    """Say that kubectl ignores a custom tag."""
    tag = event.tag
    if not tag or tag == "!" or tag.startswith(_CORE):
        return
    start = event.start_mark.index
    message = f"kubectl ignores the tag {tag} and uses the value as written"
    cure = "remove the tag, or run the tool that understands it first"
    end = start + len(tag)
    findings.append(Finding("unsupported-yaml", message, cure, start, end, "ptcompile", "warning", "style"))
