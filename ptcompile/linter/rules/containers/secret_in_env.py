"""A secret is written into a manifest.

What: an env entry whose name says that it is a secret (a token, a key, a password) has its value in the manifest, or
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

_FORM = Pattern(
    r"\b(?:hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{30,}|glpat-[\w-]{20,}|A[KS]IA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,}"
    r"|xox[bap]-[\w-]{20,})\b|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_LEAST = 4
"""Shorter values are flags and placeholders."""
_MOST = 1 << 14
"""No more of a text is looked at."""
_FORM_LEAST = 20
"""Characters of the shortest form: AKIA and 16 more."""
_MARKS = (
    "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "AKIA", "ASIA", "sk-", "xoxb-", "xoxa-", "xoxp-",
    "PRIVATE KEY",
)  # fmt: skip
"""What the forms begin with, or end with: most containers have none of them."""


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        every = "\n".join([*container.words, *[entry.value for entry in container.env if entry.value]])
        formed = any(mark in every for mark in _MARKS)
        for entry in container.env:
            value = (entry.value or "")[:_MOST]
            named = is_credential(entry.name) and _is_secret(value)
            if named or (formed and len(value) >= _FORM_LEAST and _FORM.search(value)):
                path = (*entry.path, "value")
                yield found_at(
                    path,
                    f"the secret {entry.name} can be read by everyone who sees this manifest",
                    "refer to a Secret by valueFrom.secretKeyRef, and revoke this one",
                )
        for at, word in enumerate(container.words if formed else ()):
            if len(word) >= _FORM_LEAST and _FORM.search(word[:_MOST]):
                yield found_at(
                    container.argv[at].path,
                    "a secret token can be read by everyone who sees this manifest",
                    "put it into a variable that refers to a Secret, and revoke this one",
                )


def _is_secret(value: str) -> bool:
    """Whether a value may be one: no reference, no path, no placeholder, no switch."""
    if len(value) < _LEAST or value.lower() in ("true", "false", "none", "null", "changeme", "dummy", "offline"):
        return False
    return value[0] not in "/<{" and "$(" not in value and "${" not in value and not value.isdigit()


RULE = Rule("secret-in-env", _check, severity="warning", stage="style", authority="ptcompile")
