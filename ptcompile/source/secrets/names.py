"""Names that say that their value is a secret."""

from __future__ import annotations

from functools import lru_cache

from ptcompile._internal.lazy import Pattern, bounded_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal, TypeVar

    _T = TypeVar("_T")


_ENDS: Final = (
    "_API_KEY", "_APIKEY", "_ACCESS_KEY", "_SECRET_KEY", "_PRIVATE_KEY", "_SECRET", "_PASSWORD", "_PASSWD",
    "_AUTH_TOKEN", "_ACCESS_TOKEN", "_API_TOKEN",
)  # fmt: skip
_OF: Final = (
    "HF", "HUGGINGFACE", "HUGGING_FACE", "HUGGING_FACE_HUB", "GITHUB", "GH", "GITLAB", "WANDB", "NEPTUNE", "NPM",
    "SLACK", "VAULT",
)  # fmt: skip
_WHOLE: Final = frozenset(f"{service}_{what}" for service in _OF for what in ("TOKEN", "KEY"))


def is_credential(name: str) -> bool:
    """Not SORT_KEY or EOS_TOKEN, which look like a secret's name and are none."""
    name = name.upper()
    return f"_{name}".endswith(_ENDS) or name in _WHOLE


HIDDEN = "***"
"""What stands in place of a secret."""

FIELDS: Final = frozenset(
    [
        "key",
        "keyPath",
        "keyring",
        "keyType",
        "topologyKey",
        "topologyKeys",
        "capacityKey",
        "kubeletConfigKey",
        "podGroupReplicaKey",
        "secret",
        "secrets",
        "secretName",
        "secretNamespace",
        "secretRef",
        "secretFile",
        "secretKeyRef",
        "imagePullSecrets",
        "automountServiceAccountToken",
        "serviceAccountToken",
        "serviceAccountTokenInSecrets",
        "controllerExpandSecretRef",
        "controllerPublishSecretRef",
        "nodeExpandSecretRef",
        "nodePublishSecretRef",
        "nodeStageSecretRef",
        "tokenRequests",
        "continueToken",
        "enableK8sTokenAuth",
        "gmsaCredentialSpec",
        "gmsaCredentialSpecName",
        "credentialBundlePath",
        "pkixPublicKey",
        "pass",
        "passed",
        "webhook",
        "webhooks",
        "keys",
        "matchLabelKeys",
        "mismatchLabelKeys",
        "chapAuthSession",
        "chapAuthDiscovery",
        "x-kubernetes-list-map-keys",
    ]
)
"""Fields of Kubernetes and of the operators whose names only look like a secret's."""

LONGEST = 120
"""Characters of a name; what is longer names nothing."""

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
"""*_TOKEN, *_KEY, *PASSWORD*, *PASSWD*, *SECRET*, *PASSPHRASE*, *_PASS, *_PWD, *_PAT, *CREDENTIALS, APIKEY."""
_DOUBTFUL = Pattern(
    r"(?:^|_)(?:TOKENS|KEYS|AUTH|DSN|WEBHOOK(?:_URL)?|AUTH_HEADER)$|(?:TOKEN|KEY|CREDENTIALS?)_(?:FILE|PATH)$"
)
"""Names of a secret if the value is no plain word, number or path."""

_SWITCHES = frozenset({"true", "false", "none", "null"})
_PART = r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,8})\d{0,3}|\d{1,8})"
_is_plain = Pattern(rf"{_PART}(?:[-_./: ]{_PART}){{0,5}}|</?[\w|. -]{{1,20}}>|\[[A-Z]{{1,10}}\]").fullmatch
"""Words, numbers, and marks such as `</s>` and `[PAD]`: no credential is made like that but by hand."""


@lru_cache(maxsize=4096)
def normal(name: str) -> str:
    """A name in one spelling: `acme.io/apiToken-2 ` is API_TOKEN."""
    last = name.strip()[-LONGEST:].rpartition("/")[2]
    return _version.sub("", _separators.sub("_", _camel.sub("_", last)).upper())


def is_secret(name: str, value: object = None) -> bool:
    """Whether a name says that its value is a secret. Doubtful names need a value that looks like one."""
    sort = _sort(name)
    if sort == "secret":
        return not _is_path(value) if normal(name).endswith(("_FILE", "_PATH", "CREDENTIALS", "PWD")) else True
    if value is None or sort == "plain":
        return False
    return not isinstance(value, bool | int | float) and not (isinstance(value, str) and _is_harmless(value))


@bounded_cache(4096)
def _sort(name: str) -> Literal["secret", "doubtful", "plain"]:
    known = normal(name)
    if _SECRET.search(known) is not None:
        return "secret"
    return "plain" if _DOUBTFUL.search(known) is None else "doubtful"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("/", "./", "../", "~"))


def _is_harmless(value: str) -> bool:
    return value.lower() in _SWITCHES or _is_path(value) or _is_plain(value) is not None


def is_searched(name: str, value: str) -> bool:
    """Whether the value of a secret's variable is hidden in sentences too, and not in its own place alone.

    A switch is in every text. A plain word under a doubtful name (`SORT_KEY: train`) is too: to hide it would hide the
    names of jobs and hosts.
    """
    if value.lower() in _SWITCHES:
        return False
    return is_credential(normal(name)) or _is_plain(value) is None


def is_plain(value: str) -> bool:
    """Whether a value consists of words and numbers, as no generated credential does."""
    return _is_plain(value) is not None


def mask_value(name: object, value: _T) -> _T | str:
    """The value of the variable `name`, or `HIDDEN` where its name looks like that of a secret.

    A mapping or list is returned as it is: `structure.without_secrets` looks into it.
    """
    if isinstance(value, dict | list | tuple) or value is None:
        return value
    return HIDDEN if isinstance(name, str) and value != "" and is_secret(name, value) else value
