"""Names of variables that hold a credential, beyond doubt."""

from __future__ import annotations

import re

from ptcompile.kubernetes.patterns import Pattern

is_credential = Pattern(
    r"(?:.*_)?(?:API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|SECRET|PASSWORD|PASSWD|AUTH_TOKEN|ACCESS_TOKEN|API_TOKEN)"
    r"|(?:HF|HUGGINGFACE|HUGGING_FACE|HUGGING_FACE_HUB|GITHUB|GH|GITLAB|WANDB|NEPTUNE|NPM|SLACK|VAULT)_(?:TOKEN|KEY)",
    re.IGNORECASE,
).fullmatch
"""Not SORT_KEY or EOS_TOKEN, which look like a secret's name and are none."""
