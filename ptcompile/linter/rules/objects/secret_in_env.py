"""A secret is written into a manifest.

PTC814 secret-in-env: warning at style (exposes), by ptcompile.

What: an env entry has its value in the manifest although its name is that of a secret (a token, a
key, a password), or a text anywhere in the manifest has the form of a well-known token: those of
Hugging Face, GitHub, GitLab, AWS, Google, OpenAI, Anthropic, Slack, Stripe, npm, PyPI and others, a
JSON Web Token, a private key, or a signed address. Secrets are the place for them, so they are not
searched.

Why: everyone who can read the object, the repository or the logs of a pipeline has the secret.
kubectl describe shows it, and git history keeps it.

Example: pod.yaml with

      - name: pytorch
        env:
          - name: WANDB_API_KEY
    -       value: 0c5a7f3e9b1d48f2a6c4  # <--
    +       valueFrom: {secretKeyRef: {name: wandb, key: api-key}}

Fix: keep it in a Secret, refer to it by secretKeyRef, and revoke the one that was written.

Source: Kubernetes 1.36, Secrets: good practices; gitleaks, config/gitleaks.toml, for the forms of
tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.secret_formats import has_secret_format
from ptcompile.diagnostics import Path, field_path
from ptcompile.kubernetes.unstructured import placed_values
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.source.secrets.names import MASK, is_credential
from ptcompile.source.templates import find_placeholder

_PRIVATE_KEY = Pattern(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY")
_MIN_SECRET_LENGTH = 4
"""Shorter values are flags and placeholders."""
_MIN_TOKEN_LENGTH = 16
"""No token is shorter."""
_NO_SECRETS = ("true", "false", "none", "null", "changeme", "dummy", "offline")
_ADVICE = "put it into a Secret, refer to that, and revoke this one"


def check(subject: Subject) -> Findings:
    names = {}
    for entry in subject.variables:
        path = entry.value_path
        names[path] = entry.name
        is_masked = bool(entry.writer) and MASK in entry.text
        if is_credential(entry.name) and (is_masked or _can_be_secret(entry.text)):
            yield _named_finding(path, entry.name)

    if subject.kind == ("v1", "Secret"):
        return

    long_texts = [text for text in subject.texts if len(text) >= _MIN_TOKEN_LENGTH]
    if not _has_token("\0".join(long_texts)):
        return

    for path, on_key in _token_paths(subject.manifest):
        if path in names and not on_key:
            yield _named_finding(path, names[path])
        else:
            text = "a secret token can be read by everyone who sees this manifest"
            field = field_path(path[:-1]) if on_key else None
            yield found_at(path, text, _ADVICE, on_key=on_key, field=field)


def _named_finding(path: Path, name: str) -> Finding:
    return found_at(
        path,
        f"the secret {name} can be read by everyone who sees this manifest",
        "refer to a Secret by valueFrom.secretKeyRef, and revoke this one",
    )


def _token_paths(value: object) -> Iterator[tuple[Path, bool]]:
    """Yield the path of each text with a token, and whether it is the last key of the path."""
    for path, text in placed_values(value):
        if path and isinstance(path[-1], str) and _has_token(path[-1]):
            yield path, True
        if isinstance(text, str) and _has_token(text):
            yield path, False


def _has_token(text: str) -> bool:
    if len(text) < _MIN_TOKEN_LENGTH:
        return False
    return has_secret_format(text) or (
        "PRIVATE KEY" in text and _PRIVATE_KEY.search(text) is not None
    )


def _can_be_secret(value: str) -> bool:
    """Return whether a value may be a secret, and not a reference, path, placeholder or switch."""
    if len(value) < _MIN_SECRET_LENGTH or value.lower() in _NO_SECRETS:
        return False

    is_reference = "$(" in value or "${" in value or find_placeholder(value) is not None
    return value[0] not in "/<{" and not is_reference and not value.isdigit()
