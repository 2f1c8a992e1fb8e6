"""Secrets in the open: values of environment variables that no text of ours repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from ptcompile.kubernetes.credentials import is_credential
from ptcompile.kubernetes.patterns import Pattern

HIDDEN = "***"
"""What stands in place of a secret."""

_SECRET = Pattern(r"(?:^|_)(?:TOKEN|KEY)$|PASSWORD|PASSWD|SECRET", re.IGNORECASE)
"""Names that look like a secret's: *_TOKEN, *_KEY, *PASSWORD*, *PASSWD*, *SECRET*."""

_SWITCHES = frozenset({"true", "false", "none", "null"})
_PART = r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,8})\d{0,3}|\d{1,8})"
_is_plain = Pattern(rf"{_PART}(?:[-_./: ]{_PART}){{0,5}}|</?[\w|. -]{{1,20}}>|\[[A-Z]{{1,10}}\]").fullmatch
"""Words, numbers, and marks such as `</s>` and `[PAD]`: no credential is made like that but by hand."""

_Value = TypeVar("_Value")


def is_secret(name: str) -> bool:
    """Whether a variable's name says that its value is a secret."""
    return _SECRET.search(name) is not None


def is_searched(name: str, value: str) -> bool:
    """Whether the value of a secret's variable is hidden wherever it turns up, and not in its own place alone.

    A switch is in every text. A plain word under a doubtful name (`SORT_KEY: train`) is too: to hide it would hide the
    names of jobs and hosts.
    """
    if value.lower() in _SWITCHES:
        return False
    return is_credential(name) is not None or _is_plain(value) is None


def masked(name: object, value: _Value) -> _Value | str:
    """The value of the variable `name`, or `HIDDEN` where its name looks like that of a secret.

    A mapping is no secret: it says where the secret is kept (`secretKeyRef`), and so stays.
    """
    if isinstance(value, Mapping | list | tuple) or value is None:
        return value
    return HIDDEN if isinstance(name, str) and value != "" and is_secret(name) else value


def without_secrets(data: object) -> object:
    """Plain data with the variables' values masked: under `env` by name, and in items with `name` and `value`."""
    if isinstance(data, Mapping):
        named = {key: masked(data.get("name"), inner) if key == "value" else inner for key, inner in data.items()}
        variables = {
            key: {name: masked(name, value) for name, value in inner.items()}
            for key, inner in named.items()
            if key == "env" and isinstance(inner, Mapping)
        }
        return {key: without_secrets(inner) for key, inner in {**named, **variables}.items()}
    return [without_secrets(inner) for inner in data] if isinstance(data, list | tuple) else data


def secret_paths(data: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where plain data has values that `without_secrets` masks."""
    if isinstance(data, Mapping):
        for key, inner in data.items():
            named = path[-1:] == ("env",)
            name = key if named else data.get("name") if key == "value" else None
            if masked(name, inner) is not inner:
                yield (*path, key)
            else:
                yield from secret_paths(inner, (*path, key))
    elif isinstance(data, list | tuple):
        for index, inner in enumerate(data):
            yield from secret_paths(inner, (*path, index))
