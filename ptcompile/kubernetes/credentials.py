"""Names of variables that hold a credential, beyond doubt."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

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
