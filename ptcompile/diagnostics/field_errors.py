"""Problems in the API server's wording: Required, Invalid, Forbidden (Go's package `field`).

`field` is the server's own notation where it differs from the path: the server names
`metadata.labels`, not the label. The kinds of problems are those of
`apimachinery/pkg/util/validation/field`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Fix, Path, Problem, Problems, Stage, field_path, problem_at
from ptcompile.diagnostics.fixes import fix_spelling, nearest_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


TextRule = Callable[[str], "str | None"]
"""Returns why a text is invalid, or None."""

_MAX_QUOTED_CHARACTERS = 80


def quote_value(value: object) -> str:
    """Return a value as the server prints it in a message, shortened if it is long."""
    if isinstance(value, str):
        text = value
        if len(value) > _MAX_QUOTED_CHARACTERS:
            text = value[:_MAX_QUOTED_CHARACTERS] + "..."
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "{...}"
    return "[...]" if isinstance(value, list) else str(value)


def key_path(path: Path) -> str:
    """Return the path of a map entry as the server prints it, with the key in brackets:
    `limits[nvidia.com/gpu]`.
    """
    return f"{field_path(path[:-1])}[{path[-1]}]"


def _last_key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "the value")


def indexed_mappings(value: Any) -> Iterable[tuple[int, Json]]:
    """Return the objects of a list with their indexes. Null counts as an empty object; other
    types are skipped.
    """
    if type(value) is not list:
        return ()

    for item in value:
        if type(item) is not dict:
            return [
                (index, entry or {})
                for index, entry in enumerate(value)
                if entry is None or type(entry) is dict
            ]

    return enumerate(value)


def indexed_items(value: Any) -> Iterable[tuple[int, Any]]:
    """Return the items of a list with their indexes, or nothing for another value."""
    return enumerate(value if type(value) is list else ())


def indexed_texts(value: Any) -> Iterator[tuple[int, str]]:
    """Yield the texts of a list with their indexes: null is the empty text, items of other types
    are skipped.
    """
    for index, item in indexed_items(value):
        if item is None or type(item) is str:
            yield index, item or ""


def container_names(pod: Json) -> set[str]:
    """Return the names of a pod's containers and init containers."""
    entries = (
        *indexed_mappings(pod.get("containers")),
        *indexed_mappings(pod.get("initContainers")),
    )
    return {container["name"] for _, container in entries if type(container.get("name")) is str}


def as_field_int(value: Any) -> int | None:
    """Return `value` if it is an integer other than a boolean, else None."""
    return value if type(value) is int else None


def label_help(text: str) -> str:
    """Return the help for a text that must be a DNS label: a similar label if there is one."""
    near = nearest_label(text)
    if near:
        return f'write it as, for example, "{near}"'
    return "use lower case letters, digits and '-'"


def is_empty(value: Any) -> bool:
    """Return whether a text field is unset: null, absent or the empty string. Values of other
    types are not empty.
    """
    return value is None or value == ""


def with_stage(problems: Iterable[Problem], stage: Stage) -> Problems:
    """Yield the problems with their stage replaced."""
    for p in problems:
        yield p._replace(stage=stage)


RECREATE_HELP = (
    "delete the object and apply again (kubectl replace --force), or give it another name"
)


def immutable(
    path: Path, value: Any = None, help: str = RECREATE_HELP, why: str = "field is immutable"
) -> Problem:
    """Return the problem of a changed field that must not change."""
    value_text = "" if value is None else f"{quote_value(value)}: "
    return problem_at("invalid-value", path, f"Invalid value: {value_text}{why}", help)


def forbidden_change(path: Path, why: str, help: str = RECREATE_HELP) -> Problem:
    """Return the problem of a change that the server forbids."""
    return problem_at("forbidden-value", path, f"Forbidden: {why}", help)


class FieldErrors(list[Problem]):
    """Problems of one object, in the order in which they are found. Each method may append some."""

    def required(
        self,
        path: Path,
        detail: str = "",
        help: str = "",
        field: str | None = None,
        *,
        fix: Fix | None = None,
    ) -> None:
        """Report a required field that is missing or empty."""
        text = f"Required value: {detail}" if detail else "Required value"
        self._add("required-value", path, text, help or f"set `{_last_key(path)}`", field, fix)

    def invalid(
        self,
        path: Path,
        value: object,
        why: str,
        help: str = "",
        field: str | None = None,
        *,
        fix: Fix | None = None,
    ) -> None:
        """Report a value that the server rejects, with the reason."""
        if not help and isinstance(value, str) and "lower case" in why:
            help = label_help(value)
        text = f"Invalid value: {quote_value(value)}: {why}"
        self._add("invalid-value", path, text, help or f"change `{_last_key(path)}`", field, fix)

    def unsupported(
        self,
        path: Path,
        value: object,
        supported: Iterable[str],
        help: str = "",
        field: str | None = None,
    ) -> None:
        """Report a value outside a closed list."""
        names = sorted(supported)
        template = None
        if not help:
            suggestion = closest_match(value, names) if isinstance(value, str) and value else None
            template = fix_spelling(str(value), suggestion)
            help = f"use one of {', '.join(names)}"
            if suggestion:
                help = f'did you mean "{suggestion}"?'

        allowed = ", ".join(f'"{name}"' for name in names)
        text = f"Unsupported value: {quote_value(value)}: supported values: {allowed}"
        self._add("unsupported-value", path, text, help, field, template and template.at(path))

    def not_found(self, path: Path, value: object, help: str) -> None:
        """Report a reference to a name that the object does not define."""
        self._add("not-found-value", path, f"Not found: {quote_value(value)}", help)

    def duplicate(
        self, path: Path, value: object, help: str = "", field: str | None = None
    ) -> None:
        """Report a repeated value that must be unique; the path is that of the later one."""
        text = f"Duplicate value: {quote_value(value)}"
        self._add("duplicate-value", path, text, help or "keep one, or rename one", field)

    def forbidden(self, path: Path, why: str, help: str = "", field: str | None = None) -> None:
        """Report a field that must not be set in this object."""
        self._add(
            "forbidden-value",
            path,
            f"Forbidden: {why}",
            help or f"remove `{_last_key(path)}`",
            field,
        )

    def too_long(self, path: Path, limit: int, help: str = "", field: str | None = None) -> None:
        """Report a text, or a sum of texts, that exceeds a number of bytes."""
        text = f"Too long: may not be more than {limit} bytes"
        self._add("too-long-value", path, text, help or "shorten it", field)

    def too_many(self, path: Path, count: int, limit: int, help: str = "") -> None:
        """Report a list with too many items."""
        text = f"Too many: {count}: must have at most {limit} items"
        self._add("too-many-items", path, text, help or f"keep at most {limit}")

    def _add(
        self,
        name: str,
        path: Path,
        text: str,
        help: str,
        field: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        self.append(problem_at(name, path, text, help, fix=fix, field=field))
