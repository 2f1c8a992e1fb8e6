"""jsonschema's keywords with patterns, matched in linear time: a schema is a user's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ptcompile.kubernetes.goregex import fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def linear(validator: Any) -> Any:
    """A validator class of jsonschema whose patterns cannot hang."""
    from jsonschema.validators import extend

    words = {"pattern": _pattern, "patternProperties": _properties, "additionalProperties": _additional}
    return extend(validator, words)  # type: ignore[no-untyped-call]


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not fits(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if fits(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not isinstance(instance, dict):
        return
    patterns, known = schema.get("patternProperties", {}), schema.get("properties", {})
    extra = [key for key in instance if key not in known and not any(fits(one, key) for one in patterns)]
    if isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed and extra:
        names = ", ".join(map(repr, extra))
        verb = "was" if len(extra) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({names} {verb} unexpected)")
