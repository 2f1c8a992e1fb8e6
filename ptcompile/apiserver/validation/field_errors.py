"""Problems in the server's own words: Required, Invalid, Forbidden (Go's package `field`).

Every function takes the list to add to and the path; `at` is the server's own notation where it differs from the
path (it names `metadata.labels` and not the label). The kinds are those of `apimachinery/pkg/util/validation/field`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Fix, Path, Problem, field_path
from ptcompile.diagnostics.fixes import fix_spelling, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.diagnostics.terms import Stage


Problems = list[Problem]

_SHOWN = 80


def quote_value(value: object) -> str:
    """A value as the server prints it in a message, cut when it is long."""
    if isinstance(value, str):
        text = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "{...}"
    return "[...]" if isinstance(value, list) else str(value)


def key_path(path: Path) -> str:
    """The path of an entry of a map, its key in brackets as the server prints it: `limits[nvidia.com/gpu]`."""
    return f"{field_path(path[:-1])}[{path[-1]}]"


def _add(found: Problems, name: str, path: Path, at: str | None, text: str, help: str, fix: Fix | None = None) -> None:
    found.append(Problem(name, path, f"{at or field_path(path)}: {text}", help, fix=fix))


def _after(detail: str) -> str:
    return f": {detail}" if detail else ""


def required(
    found: Problems, path: Path, detail: str = "", help: str = "", at: str | None = None, *, fix: Fix | None = None
) -> None:
    """A field that has to be there is missing or empty."""
    _add(found, "required-value", path, at, f"Required value{_after(detail)}", help or f"set `{_last(path)}`", fix)


def check_required(source: dict[str, Any], path: Path, found: Problems, *fields: str) -> None:
    """Ask for text (or a list) in each of these fields."""
    for name in fields:
        if source.get(name) in (None, "", []):
            required(found, (*path, name))


def invalid(
    found: Problems,
    path: Path,
    value: object,
    why: str,
    help: str = "",
    at: str | None = None,
    *,
    fix: Fix | None = None,
) -> None:
    """A value that the server refuses, and why."""
    if not help:
        help = like_label(value) if isinstance(value, str) and "lower case" in why else f"change `{_last(path)}`"
    _add(found, "invalid-value", path, at, f"Invalid value: {quote_value(value)}: {why}", help, fix)


def unsupported(
    found: Problems, path: Path, value: object, supported: Iterable[str], help: str = "", at: str | None = None
) -> None:
    """A value outside a closed list."""
    names = sorted(supported)
    cure = None
    if not help:
        meant = closest_match(value, names) if isinstance(value, str) and value else None
        cure = fix_spelling(str(value), meant)
        help = f'did you mean "{meant}"?' if meant else f"use one of {', '.join(names)}"
    allowed = ", ".join(f'"{name}"' for name in names)
    _add(
        found,
        "unsupported-value",
        path,
        at,
        f"Unsupported value: {quote_value(value)}: supported values: {allowed}",
        help,
        cure and cure.at(path),
    )


def not_found(found: Problems, path: Path, value: object, help: str, at: str | None = None) -> None:
    """A name that nothing in the object bears."""
    _add(found, "not-found-value", path, at, f"Not found: {quote_value(value)}", help)


def duplicate(found: Problems, path: Path, value: object, help: str = "", at: str | None = None) -> None:
    """A value that has to be unique and is there twice; the path is of the later one."""
    _add(
        found, "duplicate-value", path, at, f"Duplicate value: {quote_value(value)}", help or "keep one, or rename one"
    )


def forbidden(found: Problems, path: Path, why: str, help: str = "", at: str | None = None) -> None:
    """A field that may not be set here."""
    _add(found, "forbidden-value", path, at, f"Forbidden: {why}", help or f"remove `{_last(path)}`")


def too_long(found: Problems, path: Path, limit: int, help: str = "", at: str | None = None) -> None:
    """A text, or the sum of texts, above a number of bytes."""
    _add(found, "too-long-value", path, at, f"Too long: may not be more than {limit} bytes", help or "shorten it")


def too_many(found: Problems, path: Path, count: int, limit: int, help: str = "") -> None:
    """A list with too many items."""
    text = f"Too many: {count}: must have at most {limit} items"
    _add(found, "too-many-items", path, None, text, help or f"keep at most {limit}")


def _last(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "the value")


def indexed_mappings(value: Any) -> Iterable[tuple[int, dict[str, Any]]]:
    """The objects of a list with their indexes; null stands for an empty one, other types are left out."""
    if type(value) is not list:
        return ()
    for item in value:
        if type(item) is not dict:
            both = enumerate(value)
            return [(at, {} if one is None else one) for at, one in both if one is None or type(one) is dict]
    return enumerate(value)


def container_names(pod: dict[str, Any]) -> set[str]:
    """The names of a pod's containers and init containers."""
    both = (*indexed_mappings(pod.get("containers")), *indexed_mappings(pod.get("initContainers")))
    return {container["name"] for _, container in both if type(container.get("name")) is str}


def as_field_mapping(value: Any) -> dict[str, Any]:
    """A value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def as_field_int(value: Any) -> int | None:
    """A value if it is a whole number (`True` is none), else `None`."""
    return value if type(value) is int else None


def like_label(text: str) -> str:
    """Help for a text that should have been a DNS label: one that is near, where there is one."""
    near = label(text)
    return f'write it as, for example, "{near}"' if near else "use lower case letters, digits and '-'"


def is_empty(value: Any) -> bool:
    """Whether a text field is unset: null, absent or the empty string. A value of another type is not."""
    return value is None or value == ""


def check_choice(found: Problems, path: Path, value: Any, supported: Iterable[str]) -> None:
    """Refuse a text outside a closed list."""
    if type(value) is str and value not in supported:
        unsupported(found, path, value, supported)


def check_range(found: Problems, path: Path, value: Any, low: int, high: int) -> None:
    """Refuse a whole number outside its bounds, both of which belong to it."""
    if type(value) is int and not low <= value <= high:
        invalid(found, path, value, f"must be between {low} and {high}, inclusive", f"use {low} to {high}")


def check_not_negative(found: Problems, path: Path, value: Any) -> None:
    """Refuse a number below zero."""
    if type(value) is int and value < 0:
        invalid(found, path, value, "must be greater than or equal to 0", "use 0 or more")


def at_stage(problems: Iterable[Problem], stage: Stage) -> Iterator[Problem]:
    """The same problems, found at another stage."""
    for p in problems:
        yield p._replace(stage=stage)


ANEW: Final = "delete the object and apply again (kubectl replace --force), or give it another name"


def immutable(path: Path, value: Any = None, help: str = ANEW, why: str = "field is immutable") -> Problem:
    """A field that may not change."""
    shown = "" if value is None else f"{quote_value(value)}: "
    return Problem("invalid-value", path, f"{field_path(path)}: Invalid value: {shown}{why}", help)


def forbidden_change(path: Path, why: str, help: str = ANEW) -> Problem:
    """A change that is not allowed."""
    return Problem("forbidden-value", path, f"{field_path(path)}: Forbidden: {why}", help)
