"""Names whose value is a secret."""

from __future__ import annotations

from functools import lru_cache

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.secret_formats import MASK as MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    _T = TypeVar("_T")


_CREDENTIAL_SUFFIXES = (
    "_API_KEY", "_APIKEY", "_ACCESS_KEY", "_SECRET_KEY", "_PRIVATE_KEY", "_SECRET", "_PASSWORD", "_PASSWD",
    "_AUTH_TOKEN", "_ACCESS_TOKEN", "_API_TOKEN",
)  # fmt: skip
_SERVICES = (
    "HF", "HUGGINGFACE", "HUGGING_FACE", "HUGGING_FACE_HUB", "GITHUB", "GH", "GITLAB", "WANDB", "NEPTUNE", "NPM",
    "SLACK", "VAULT",
)  # fmt: skip
_SERVICE_CREDENTIALS = frozenset(
    f"{service}_{what}" for service in _SERVICES for what in ("TOKEN", "KEY")
)


def is_credential(name: str) -> bool:
    """Return whether a name is surely a credential's; SORT_KEY and EOS_TOKEN only look like one."""
    name = name.upper()
    return f"_{name}".endswith(_CREDENTIAL_SUFFIXES) or name in _SERVICE_CREDENTIALS


FIELDS = frozenset(load_table("_internal/secret_formats.json")["fields"])
"""Fields of Kubernetes and the operators whose names only look like a secret's."""

MAX_NAME = 120
"""Maximum length of a name, in characters; longer texts name nothing."""

_camel = Pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_separators = Pattern(r"[-./ ]")
_version = Pattern(r"(?:_V?\d{1,4}){1,8}$|#\d{1,4}$")
_SECRET = Pattern(
    r"(?:^|_)(?:TOKEN|KEY)$|PASSWORD|PASSWD|PASSPHRASE|SECRET(?!AR)"
    r"|(?:^|_)(?:PASS|PWD|PAT|CREDENTIALS?)$"
    r"|(?:^|_)(?:API|ACCESS|AUTH|PRIVATE|BEARER|REFRESH|SESSION|HF)(?:_)?(?:TOKEN|KEY)S?$"
    r"|(?:TOKEN|(?:^|_)KEY|CREDENTIALS?)_(?:JSON|B64|BASE64|DATA|VALUE|STRING)$|ACCESS_KEY_ID$"
    r"|(?:^|_)(?:CONNECTION|CONN)_?STR(?:ING)?$|^AUTHORIZATION$"
)
"""*_TOKEN, *_KEY, *PASSWORD*, *PASSWD*, *SECRET*, *PASSPHRASE*, *_PASS, *_PWD, *_PAT,
*CREDENTIALS, APIKEY.
"""
_ORDINARY = Pattern(
    r"(?:^|_)(?:PAD|EOS|BOS|UNK|SEP|CLS|MASK|EOT|STOP|START|END|SPECIAL|IMAGE|MAX|MIN|NUM)_TOKEN$"
    r"|(?:^|_)(?:SORT|PRIMARY|FOREIGN|PARTITION|CACHE|GROUP|JOIN|INDEX|LABEL|HASH|SHARD|ROUTING|LOOKUP|TEXT|IMAGE|INPUT"
    r"|OUTPUT|COLUMN|BATCH|SAMPLE)_KEY$"
    r"|(?:SECRETS?|PASSWORD|PASSWD|PASSPHRASE|TOKEN|KEY|CREDENTIALS?)(?:_[A-Z0-9]{1,16}){0,3}"
    r"_(?:DIR|DIRECTORY|NAME|NAMESPACE|LENGTH|LEN|SIZE|COUNT|LIMIT|TTL|TIMEOUT|POLICY|TYPE|ENABLED)$"
    r"|^(?:USE|ENABLE|DISABLE|HAS|WITH|NEEDS|REQUIRE|ALLOW|MOUNT)_"
)
"""Names with the word for a secret that rarely name one: EOS_TOKEN, SORT_KEY,
PASSWORD_MIN_LENGTH, USE_SECRETS.
"""
_PUBLIC = Pattern(r"(?:^|_)(?:PUBLIC|PUB|SITE)_?KEY$")
_DOUBTFUL = Pattern(
    r"(?:^|_)(?:TOKENS|KEYS|AUTH|COOKIES?|DSN|WEBHOOK(?:_URL)?|AUTH_HEADER)$|(?:TOKEN|KEY|CREDENTIALS?)_(?:FILE|PATH)$"
)
"""Names of a secret unless the value is a plain word, a number or a path."""

_SWITCHES = frozenset({"true", "false", "none", "null"})
_PART = r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,8})\d{0,3}|\d{1,8})"
_plain_match = Pattern(
    rf"{_PART}(?:[-_./: ]{_PART}){{0,5}}|</?[\w|. -]{{1,20}}>|\[[A-Z]{{1,10}}\]"
).fullmatch
"""Words, numbers, and marks such as `</s>` and `[PAD]`, which no generated credential looks
like.
"""

_number_match = Pattern(
    r"[+-]?\d{1,8}(?:[._]\d{1,8}){0,3}(?:[eE][+-]?\d{1,3}|[kKmMbBgGtT])?"
).fullmatch
"""Numbers such as `1e9`, `0.5` and `4k`."""


@lru_cache(maxsize=4096)
def normalize_name(name: str) -> str:
    """Return a name in one spelling: `acme.io/apiToken-2 ` becomes API_TOKEN."""
    _, _, last = name.strip()[-MAX_NAME:].rpartition("/")
    return _version.sub("", _separators.sub("_", _camel.sub("_", last)).upper())


def is_secret(name: str, value: object = None) -> bool:
    """Return whether a name says that its value is a secret. Doubtful names need a value that
    looks like one.
    """
    category = _category(name)
    if category == "secret":
        if normalize_name(name).endswith(("_FILE", "_PATH", "CREDENTIALS", "PWD")):
            return not _is_path(value)
        return True
    if value is None or category == "plain":
        return False

    return not isinstance(value, bool | int | float) and not (
        isinstance(value, str) and _is_harmless(value)
    )


@bounded_cache(16384)
def _category(name: str) -> Literal["secret", "doubtful", "plain"]:
    """Return whether a name tells a secret: surely, only with a value that looks like one, or
    not.
    """
    normalized = normalize_name(name)
    if _PUBLIC.search(normalized) is not None:
        return "plain"
    if _SECRET.search(normalized) is not None:
        if is_credential(normalized) or _ORDINARY.search(normalized) is None:
            return "secret"
        return "doubtful"
    return "plain" if _DOUBTFUL.search(normalized) is None else "doubtful"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("/", "./", "../", "~"))


def _is_harmless(value: str) -> bool:
    is_plain_or_number = _plain_match(value) is not None or _number_match(value) is not None
    return value.lower() in _SWITCHES or _is_path(value) or is_plain_or_number


def is_searched(name: str, value: str) -> bool:
    """Return whether the value of a secret's variable is also masked in messages, not only at its
    own path.

    A switch occurs in every text. So does a plain word under a doubtful name (`SORT_KEY: train`):
    masking it would mask the names of jobs and hosts.
    """
    if value.lower() in _SWITCHES:
        return False
    return is_credential(normalize_name(name)) or _plain_match(value) is None


def is_plain(value: str) -> bool:
    """Return whether a value consists of words and numbers, as no generated credential does."""
    return _plain_match(value) is not None


def mask_value(name: object, value: _T) -> _T | str:
    """Return the value of the variable `name`, or `MASK` if its name is that of a secret.

    A mapping or list is returned unchanged: `scanner.without_secrets` masks its contents.
    """
    if isinstance(value, dict | list | tuple) or value is None:
        return value
    if isinstance(name, str) and value != "" and is_secret(name, value):
        return MASK
    return value
