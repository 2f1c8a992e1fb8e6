"""Which nodes of a document are secret: by the names beside them, by what the object is, and parts of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.source.secrets.names import FIELDS, HIDDEN, is_plain, is_searched, is_secret
from ptcompile.source.secrets.texts import (
    Interval,
    gives_secret,
    is_option,
    merge_intervals,
    occurrences,
    parts,
    without_parts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class SecretScalar(NamedTuple):
    """A scalar that is secret, or has secret parts."""

    path: Path
    value: str | int | float
    parts: tuple[Interval, ...] | None
    """The secret parts of a text; None where all of it is secret."""
    searched: bool
    """Whether sentences about the document hide it wherever they quote it (`names.is_searched`)."""
    is_key: bool = False
    """Whether it is the last key of the path, as in `HF_TOKEN: {hf_abc}`, a mapping whose value is null."""

    def texts(self) -> Iterator[str]:
        """What is secret, as text."""
        if self.parts is None:
            yield str(self.value)
        else:
            yield from (str(self.value)[start:end] for start, end in self.parts)


REFERENCES: Final = frozenset(
    [
        "valueFrom",
        "secretKeyRef",
        "configMapKeyRef",
        "fieldRef",
        "resourceFieldRef",
        "fileKeyRef",
        "secretRef",
        "configMapRef",
    ]
)
"""Fields that say where a value is kept: what stands in them is a name."""
_REFERENCE_WORDS: Final = frozenset(
    [
        "name",
        "key",
        "optional",
        "fieldPath",
        "apiVersion",
        "resource",
        "containerName",
        "divisor",
        "volumeName",
        "path",
        "prefix",
    ]
)
_ENV: Final = frozenset({"env", "envs", "environment", "envvars", "variables"})
_TABLES: Final = frozenset({"annotations", "podannotations", "parameters", "stringdata", "data", "binarydata"})
"""Mappings whose keys users choose, besides those of variables."""
_NAMES: Final = ("name", "key", "header", "nmae", "naem")
_is_value = Pattern(r"v[alue]{2,6}|content|default").fullmatch
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "type", "immutable"})
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

_SHORTEST_COPY: Final = 8
"""Characters: a shorter secret is not looked for in other nodes."""


def secrets_of(data: object) -> list[SecretScalar]:
    """The secrets of a document, of any shape, in no order. Total: any plain data."""
    found: dict[Path, SecretScalar] = {}
    _walk(data, (), "", found)
    if copied := unmistakable_secrets(found.values()):
        _copies(data, (), occurrences(copied), found)
    return list(found.values())


def unmistakable_secrets(secrets: Iterable[SecretScalar]) -> set[str]:
    """Secrets that no name or word can be: long and random, so that they may be looked for in other nodes."""
    texts = (text for one in secrets if one.searched for text in one.texts())
    return {text for text in texts if len(text) >= _SHORTEST_COPY and not is_plain(text)}


def _walk(value: object, path: Path, parent: str, found: dict[Path, SecretScalar]) -> None:
    if isinstance(value, str):
        if path not in found and (where := parts(value)):
            found[path] = SecretScalar(path, value, tuple(where), True)
    elif isinstance(value, Mapping):
        _mapping(value, path, parent, found)
    elif isinstance(value, list | tuple):
        option: str | None = None
        for index, item in enumerate(value):
            if option is not None and isinstance(item, str | int | float) and gives_secret(option, str(item)):
                _leaves(item, (*path, index), option, found)
            option = is_option(item)
            _walk(item, (*path, index), parent, found)


def _mapping(box: Mapping[Any, Any], path: Path, parent: str, found: dict[Path, SecretScalar]) -> None:
    """The secrets of a mapping: what is secret as a whole first, so that it is not looked at as a text."""
    kind = str(box.get("kind")).strip().casefold()
    table = parent.casefold()
    named = _named(box, table)
    for key, inner in box.items():
        name, at = str(key), (*path, key)
        if kind == "secret" and name not in _IDENTITY and path[-1:] != ("ownerReferences",) and _is_object(box):
            _leaves(inner, at, None, found)
        elif kind == "secret" and name == "metadata" and isinstance(inner, Mapping):
            _last_applied(inner, at, found)
        elif named is not None and (table in _ENV or _is_value(name.strip().casefold())):
            if name.strip().casefold() not in _NAMES:
                _leaves(inner, at, named, found)
        elif _names_secret(name, inner, table):
            _leaves(inner, at, name, found)
        _walk(inner, at, name, found)


def _is_object(box: Mapping[Any, Any]) -> bool:
    """Whether a mapping of this kind is the object itself, and not a reference to it (`kind`, `name`, `namespace`)."""
    return "name" not in box


def _last_applied(metadata: Mapping[Any, Any], path: Path, found: dict[Path, SecretScalar]) -> None:
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping) and isinstance(text := annotations.get(_LAST_APPLIED), str):
        _leaves(text, (*path, "annotations", _LAST_APPLIED), None, found)


def _named(box: Mapping[Any, Any], table: str) -> str | None:
    """The secret's name in an entry such as `{name: HF_TOKEN, value: X}`, however its keys are spelt."""
    for key, inner in box.items():
        if isinstance(inner, str) and str(key).strip().casefold() in _NAMES and len(inner) < 256:
            values = [v for k, v in box.items() if k != key and not isinstance(v, Mapping)]
            if is_secret(inner, next(iter(values), None)) or (table not in _ENV and "AUTHORIZATION" in inner.upper()):
                return inner
    return None


def _names_secret(name: str, value: object, table: str) -> bool:
    """Whether a key says that its value is secret: a user's own key, or a field that is none of Kubernetes'."""
    if not is_secret(name, value) or (name in FIELDS and table not in _ENV | _TABLES):
        return False
    own = table in _ENV or table in _TABLES or not name.isalnum() or name.isupper()
    return own or isinstance(value, str)


def _leaves(value: object, path: Path, name: str | None, found: dict[Path, SecretScalar]) -> None:
    """All scalars of a value, except in references to where it is kept."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if inner is None and key not in REFERENCES:
                found[(*path, key)] = SecretScalar((*path, key), str(key), None, True, is_key=True)
            elif key not in REFERENCES or not isinstance(inner, Mapping):
                _leaves(inner, (*path, key), name, found)
            elif key == "valueFrom" or not inner.keys() <= _REFERENCE_WORDS:
                known = {k: v for k, v in inner.items() if k not in _REFERENCE_WORDS}
                _leaves(known, (*path, key), name, found)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _leaves(inner, (*path, index), name, found)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        found[path] = SecretScalar(path, value, None, name is None or is_searched(name, str(value)))


def _copies(value: object, path: Path, where: Any, found: dict[Path, SecretScalar]) -> None:
    """Texts that repeat a secret, such as a command line with the token that a variable holds too."""
    if isinstance(value, str):
        known = found.get(path)
        if (known is None or known.parts is not None) and (more := where(value)):
            known_parts = known.parts if known is not None and known.parts else ()
            found[path] = SecretScalar(path, value, tuple(merge_intervals([*more, *known_parts])), True)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _copies(inner, (*path, key), where, found)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _copies(inner, (*path, index), where, found)


def without_secrets(data: Any, mark: Any = None) -> Any:
    """The data with `***` in place of its secrets; itself where it has none. The shape stays.

    `mark`, from the secret's text to what stands for it, tells secrets apart where two documents are compared.
    """
    found = secrets_of(data)
    if not found:
        return data
    masks = {one.path: _mask(one, mark) for one in found if not one.is_key}
    keys = frozenset(one.path for one in found if one.is_key)
    inner = {path[:end] for path in (*masks, *keys) for end in range(len(path))}
    return _replaced(data, (), _Masks(masks, keys, inner))


def _mask(one: SecretScalar, mark: Any) -> str:
    if one.parts is None:
        return HIDDEN if mark is None else str(mark(str(one.value)))
    return without_parts(str(one.value), one.parts, mark or (lambda _: HIDDEN))


class _Masks(NamedTuple):
    values: Mapping[Path, str]
    keys: frozenset[Path]
    inner: set[Path]
    """Where something below is replaced."""


def _replaced(value: Any, path: Path, masks: _Masks) -> Any:
    if path in masks.values:
        return masks.values[path]
    if path not in masks.inner:
        return value
    if isinstance(value, Mapping):
        shown = {key: HIDDEN if (*path, key) in masks.keys else key for key in value}
        return {shown[key]: _replaced(one, (*path, key), masks) for key, one in value.items()}
    return [_replaced(one, (*path, index), masks) for index, one in enumerate(value)]


def secret_paths(data: object) -> list[Path]:
    """Where plain data has values that `without_secrets` masks, whole or in part."""
    return [one.path for one in secrets_of(data)]
