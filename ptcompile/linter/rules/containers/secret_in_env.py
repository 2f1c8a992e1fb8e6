"""A secret is written into a manifest.

What: an env entry has its value in the manifest although its name is that of a secret (a token, a key, a password), or
a value has the form of a well-known token.

Why: everyone who can read the object, the repository or the logs of a pipeline has the secret. kubectl describe shows
it, and git history keeps it.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            env:
              - name: WANDB_API_KEY
    -           value: 0c5a7f3e9b1d48f2a6c4  # <--
    +           valueFrom: {secretKeyRef: {name: wandb, key: api-key}}

Fix: keep it in a Secret, refer to it by secretKeyRef, and revoke the one that was written.

Source: Kubernetes 1.36, Secrets: good practices.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.source.secrets.names import is_credential

_TOKEN = Pattern(
    r"\b(?:hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{30,}|glpat-[\w-]{20,}|A[KS]IA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,}"
    r"|xox[bap]-[\w-]{20,})\b|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_MIN_SECRET_LENGTH = 4
"""Shorter values are flags and placeholders."""
_MAX_SEARCHED = 1 << 14
"""Number of characters of a text that are searched."""
_MIN_TOKEN_LENGTH = 20
"""Length of the shortest token: AKIA and 16 characters."""
_TOKEN_MARKS = (
    "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "AKIA", "ASIA", "sk-", "xoxb-", "xoxa-", "xoxp-",
    "PRIVATE KEY",
)  # fmt: skip
"""How tokens begin or end. Most containers have none of these."""


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        text = "\n".join([*container.tokens, *[entry.value for entry in container.env if entry.value]])
        has_token = any(mark in text for mark in _TOKEN_MARKS)
        for entry in container.env:
            value = (entry.value or "")[:_MAX_SEARCHED]
            is_named_secret = is_credential(entry.name) and _can_be_secret(value)
            if is_named_secret or (has_token and len(value) >= _MIN_TOKEN_LENGTH and _TOKEN.search(value)):
                path = (*entry.path, "value")
                yield found_at(
                    path,
                    f"the secret {entry.name} can be read by everyone who sees this manifest",
                    "refer to a Secret by valueFrom.secretKeyRef, and revoke this one",
                )
        for index, word in enumerate(container.tokens if has_token else ()):
            if len(word) >= _MIN_TOKEN_LENGTH and _TOKEN.search(word[:_MAX_SEARCHED]):
                yield found_at(
                    container.argv[index].path,
                    "a secret token can be read by everyone who sees this manifest",
                    "put it into a variable that refers to a Secret, and revoke this one",
                )


def _can_be_secret(value: str) -> bool:
    """Return whether a value may be a secret, and not a reference, path, placeholder or switch."""
    if len(value) < _MIN_SECRET_LENGTH or value.lower() in (
        "true",
        "false",
        "none",
        "null",
        "changeme",
        "dummy",
        "offline",
    ):
        return False
    return value[0] not in "/<{" and "$(" not in value and "${" not in value and not value.isdigit()


RULE = Rule("secret-in-env", _check, severity="warning", stage="style", authority="ptcompile")
