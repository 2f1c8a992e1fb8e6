"""Which values of a document are secret: by the names next to them, by the kind of object, and
parts of texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.secret_formats import has_secret_format
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.unstructured import LAST_APPLIED, as_string, placed_values, without_keys
from ptcompile.source.secrets.commands import command_intervals, is_program
from ptcompile.source.secrets.names import FIELDS, MASK, is_plain, is_searched, is_secret
from ptcompile.source.secrets.texts import (
    TextInterval,
    gives_secret,
    merge_intervals,
    occurrences,
    option_name,
    secret_parts,
    without_parts,
)
from ptcompile.source.templates import is_reference


class SecretScalar(NamedTuple):
    """A scalar that is secret, or has secret parts."""

    path: Path
    value: str | int | float
    parts: tuple[TextInterval, ...] | None
    """The secret intervals of a text, or None if all of it is secret."""
    searched: bool
    """Whether messages about the document mask it wherever they quote it (`names.is_searched`)."""
    is_key: bool = False
    """Whether it is the last key of the path, as in `HF_TOKEN: {hf_abc}`, a mapping whose value
    is null.
    """

    def texts(self) -> Iterator[str]:
        """Yield the secret texts."""
        if self.parts is None:
            yield str(self.value)
        else:
            yield from (str(self.value)[start:end] for start, end in self.parts)


REFERENCES = frozenset(
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
"""Fields that say where a value is kept; their content is a name."""
_REFERENCE_FIELDS = frozenset(
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
_ENV = frozenset({"env", "envs", "environment", "envvars", "variables"})
_TABLES = frozenset(
    {
        "annotations",
        "podannotations",
        "parameters",
        "stringdata",
        "data",
        "binarydata",
        "options",
        "volumeattributes",
    }
)
"""Mappings other than variables whose keys users choose."""
_NAMES = ("name", "key", "header", "nmae", "naem")
_is_value = Pattern(r"v[alue]{2,6}|content|default").fullmatch
_REGISTRY_LOGIN = frozenset({"auth", "identitytoken", "registrytoken"})
"""Fields of an entry of `auths` in Docker's config.json."""
_KEY = "\0key"
"""Ends the entry of a key, whose path is that of its value."""
_IDENTITY = frozenset({"apiVersion", "kind", "metadata", "type", "immutable"})

_MIN_COPY = 8
"""Minimum length of a secret that is searched for in other values."""


def secrets_of(data: object) -> list[SecretScalar]:
    """Return the secrets of a document of any shape, in no order. Accepts any plain data; never
    raises.
    """
    secrets: dict[Path, SecretScalar] = {}
    _walk(data, (), "", secrets)
    if searched := unmistakable_secrets(secrets.values()):
        _add_copies(data, occurrences(searched), secrets)
    return list(secrets.values())


def unmistakable_secrets(secrets: Iterable[SecretScalar]) -> set[str]:
    """Return the secrets that cannot be a name or a word: long and random enough to search for
    in other values.
    """
    texts = (text for secret in secrets if secret.searched for text in secret.texts())
    return {text for text in texts if len(text) >= _MIN_COPY and not is_plain(text)}


def _walk(value: object, path: Path, parent: str, secrets: dict[Path, SecretScalar]) -> None:
    """Collect the secrets in a value and below it, by path."""
    if isinstance(value, str):
        if (intervals := secret_parts(value)) and path not in secrets:
            secrets[path] = SecretScalar(path, value, tuple(intervals), True)
    elif isinstance(value, list | tuple):
        _add_arguments(value, path, secrets)
        option: str | None = None
        for index, item in enumerate(value):
            if (
                option is not None
                and isinstance(item, str | int | float)
                and gives_secret(option, str(item))
            ):
                _add_leaves(item, (*path, index), option, secrets)
            option = option_name(item)
            _walk(item, (*path, index), parent, secrets)
    elif isinstance(value, Mapping):
        _walk_mapping(value, path, parent, secrets)


def _walk_mapping(
    mapping: Mapping[Any, Any], path: Path, parent: str, secrets: dict[Path, SecretScalar]
) -> None:
    """Add the secrets of a mapping; entirely secret values first, so that they are not searched
    for parts.
    """
    kind = str(mapping.get("kind")).strip().casefold()
    table = parent.casefold()
    entry_name = _secret_entry_name(mapping, table)
    for key, inner in mapping.items():
        name = str(key)
        value_path = (*path, key)
        if (
            kind == "secret"
            and name not in _IDENTITY
            and path[-1:] != ("ownerReferences",)
            # a reference has the kind, the name and the namespace of its object
            and "name" not in mapping
        ):
            _add_leaves(inner, value_path, None, secrets)
        elif kind == "secret" and name == "metadata" and isinstance(inner, Mapping):
            _add_last_applied(inner, value_path, secrets)
        elif entry_name is not None and (table in _ENV or _is_value(name.strip().casefold())):
            if name.strip().casefold() not in _NAMES:
                _add_leaves(inner, value_path, entry_name, secrets)
        elif _names_secret(name, inner, table) or (
            path[-2:-1] == ("auths",) and name in _REGISTRY_LOGIN
        ):
            _add_leaves(inner, value_path, name, secrets)
        elif has_secret_format(name):
            secrets[(*value_path, _KEY)] = SecretScalar(value_path, name, None, True, is_key=True)

        _walk(inner, value_path, name, secrets)


def _add_arguments(items: Sequence[object], path: Path, secrets: dict[Path, SecretScalar]) -> None:
    """Add the passwords in the arguments of a program, such as `[curl, -u, user:X]`."""
    if len(items) < 2 or not isinstance(items[0], str) or not is_program(items[0]):
        return

    program, *arguments = map(as_string, items)
    program = basename(program)
    intervals = [*command_intervals(" ".join([program, *arguments]))]
    offset = len(program) + 1
    for index, word in enumerate(arguments, start=1):
        parts = [(max(0, start - offset), min(len(word), end - offset)) for start, end in intervals]
        parts = merge_intervals([*parts, *secret_parts(word)])
        if parts:
            secrets[(*path, index)] = SecretScalar((*path, index), word, tuple(parts), True)
        offset += len(word) + 1


def _add_last_applied(
    metadata: Mapping[Any, Any], path: Path, secrets: dict[Path, SecretScalar]
) -> None:
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping) and isinstance(text := annotations.get(LAST_APPLIED), str):
        _add_leaves(text, (*path, "annotations", LAST_APPLIED), None, secrets)


def _secret_entry_name(entry: Mapping[Any, Any], table: str) -> str | None:
    """Return the secret's name in an entry such as `{name: HF_TOKEN, value: X}`, however its keys
    are spelled, or None.
    """
    for key, name in entry.items():
        if not isinstance(name, str) or str(key).strip().casefold() not in _NAMES:
            continue
        if len(name) >= 256:
            continue

        values = (v for k, v in entry.items() if k != key and not isinstance(v, Mapping))
        is_header = table not in _ENV and "AUTHORIZATION" in name.upper()
        if is_header or is_secret(name, next(values, None)):
            return name

    return None


def _names_secret(name: str, value: object, table: str) -> bool:
    """Return whether a key says that its value is secret: a user's own key, or a field unknown
    to Kubernetes.
    """
    if not is_secret(name, value) or (name in FIELDS and table not in _ENV | _TABLES):
        return False
    is_user_key = table in _ENV or table in _TABLES or not name.isalnum() or name.isupper()
    return is_user_key or isinstance(value, str)


def _add_leaves(
    value: object, path: Path, name: str | None, secrets: dict[Path, SecretScalar]
) -> None:
    """Add all scalars of a value, except in references to where it is kept."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if inner is None and key not in REFERENCES:
                secrets[(*path, key)] = SecretScalar(
                    (*path, key), str(key), None, True, is_key=True
                )
            elif key not in REFERENCES or not isinstance(inner, Mapping):
                _add_leaves(inner, (*path, key), name, secrets)
            elif key == "valueFrom" or not inner.keys() <= _REFERENCE_FIELDS:
                user_fields = without_keys(inner, *_REFERENCE_FIELDS)
                _add_leaves(user_fields, (*path, key), name, secrets)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _add_leaves(inner, (*path, index), name, secrets)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        if isinstance(value, str) and is_reference(value):
            return
        secrets[path] = SecretScalar(
            path, value, None, name is None or is_searched(name, str(value))
        )


def _add_copies(data: object, locate: Any, secrets: dict[Path, SecretScalar]) -> None:
    """Add texts that repeat a secret, such as a command line with a token that is also in a
    variable.
    """
    for path, value in placed_values(data):
        if not isinstance(value, str):
            continue
        existing = secrets.get(path)
        if (existing is None or existing.parts is not None) and (more := locate(value)):
            existing_parts = existing.parts if existing is not None and existing.parts else ()
            secrets[path] = SecretScalar(
                path, value, tuple(merge_intervals([*more, *existing_parts])), True
            )


def without_secrets(data: Any, mark: Any = None) -> Any:
    """Return the data with `***` instead of its secrets, or the same data if it has none. The shape
    is kept.

    `mark`, from the secret's text to its replacement, tells secrets apart when two documents are
    compared.
    """
    secrets = secrets_of(data)
    if not secrets:
        return data
    masks = {secret.path: _mask(secret, mark) for secret in secrets if not secret.is_key}
    keys = frozenset(secret.path for secret in secrets if secret.is_key)
    inner = {path[:end] for path in (*masks, *keys) for end in range(len(path))}
    return _replace_secrets(data, (), _Masks(masks, keys, inner))


def _mask(secret: SecretScalar, mark: Any) -> str:
    """Return a secret masked: the whole value, or only its secret parts."""
    if secret.parts is None:
        return MASK if mark is None else str(mark(str(secret.value)))
    return without_parts(str(secret.value), secret.parts, mark or (lambda _: MASK))


class _Masks(NamedTuple):
    values: Mapping[Path, str]
    keys: frozenset[Path]
    inner: set[Path]
    """Paths below which something is replaced."""


def _replace_secrets(value: Any, path: Path, masks: _Masks) -> Any:
    if path in masks.values:
        return masks.values[path]
    if path not in masks.inner:
        return value
    if isinstance(value, Mapping):
        masked_keys = {key: MASK if (*path, key) in masks.keys else key for key in value}
        return {
            masked_keys[key]: _replace_secrets(item, (*path, key), masks)
            for key, item in value.items()
        }
    return [_replace_secrets(item, (*path, index), masks) for index, item in enumerate(value)]
