"""Formats of tokens, keys and signed addresses: a text of such a form is secret wherever it occurs.

The rules of gitleaks (config/gitleaks.toml) and the documentation of the services say which prefix and how many
characters a token has; the patterns here are looser about its length. Each begins with a literal mark, and bounds every
repetition that does not end the match, so matching is linear.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.namedtuple import NamedTuple

MASK = "***"
"""The text that replaces a secret."""


class SecretFormat(NamedTuple):
    """A form that only secrets have."""

    marks: tuple[str, ...]
    """Texts of which each secret of this form contains one."""
    pattern: Pattern
    """The secret, or its group `value` inside an address."""
    source: str
    """The rules of gitleaks with this form, or the page of the service."""


def _token(mark: str, rest: str, source: str) -> SecretFormat:
    return SecretFormat((mark,), Pattern(mark + rest), source)


FORMATS = (
    _token("hf_", r"[A-Za-z0-9]{30,}", "huggingface-access-token"),
    _token("api_org_", r"[A-Za-z0-9]{30,}", "huggingface-organization-api-token"),
    SecretFormat(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        Pattern(r"gh[pousr]_[A-Za-z0-9]{30,}"),
        "github-pat, github-oauth, github-app-token, github-refresh-token",
    ),
    _token("github_pat_", r"[A-Za-z0-9_]{22,}", "github-fine-grained-pat"),
    SecretFormat(
        ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glimt-", "glft-", "glagent-", "gloas-"),
        Pattern(r"gl(?:pat|ptt|dt|rt|cbt|soat|imt|ft|agent|oas)-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{9})?"),
        "gitlab-pat and the other gitlab rules",
    ),
    SecretFormat(("AKIA", "ASIA"), Pattern(r"\bA[KS]IA[A-Z0-9]{16}\b"), "aws-access-token"),
    _token("AIza", r"[A-Za-z0-9_-]{30,}", "gcp-api-key"),
    SecretFormat(
        ("sk-",),
        Pattern(r"\bsk-(?:(?:proj|svcacct|admin|ant-[a-z]{3,8}\d\d|or-v1)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{20,})"),
        "openai-api-key, anthropic-api-key, anthropic-admin-api-key; OpenRouter's documentation",
    ),
    SecretFormat(
        ("xox", "xapp-"),
        Pattern(r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{16,}"),
        "slack-bot-token, slack-user-token, slack-app-token, slack-legacy-token",
    ),
    SecretFormat(
        ("hooks.slack.com/",),
        Pattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9+/]{20,})"),
        "slack-webhook-url",
    ),
    SecretFormat(
        ("/webhookb2/",),
        Pattern(r"\.webhook\.office\.com/webhookb2/(?P<value>[A-Za-z0-9@/-]{30,})"),
        "microsoft-teams-webhook",
    ),
    SecretFormat(
        ("eyJ",),
        Pattern(r"\beyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]{1,})?"),
        "jwt",
    ),
    SecretFormat(
        ("_live_", "_test_", "_prod_"),
        Pattern(r"\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),
        "stripe-access-token",
    ),
    _token("npm_", r"[A-Za-z0-9]{30,}", "npm-access-token"),
    _token("pypi-AgE", r"[A-Za-z0-9_-]{40,}", "pypi-upload-token"),
    SecretFormat(("dapi",), Pattern(r"\bdapi[a-f0-9]{32}"), "databricks-api-token"),
    SecretFormat(("hvs.", "hvb."), Pattern(r"\bhv[sb]\.[A-Za-z0-9_-]{20,}"), "vault-service-token, vault-batch-token"),
    SecretFormat(("SG.",), Pattern(r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}"), "sendgrid-api-token"),
    _token("AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}", "age-secret-key"),
    _token("dckr_pat_", r"[A-Za-z0-9_-]{20,}", "Docker Hub's documentation, personal access tokens"),
    _token("nvapi-", r"[A-Za-z0-9_-]{40,}", "NVIDIA NGC's documentation, API keys"),
    SecretFormat(
        ("ignature=", "sig=", "-Security-Token="),
        Pattern(
            r"[?&](?:X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|Signature|sig)="
            r"(?P<value>[A-Za-z0-9%+/=_.~-]{16,})"
        ),
        "signed addresses of Amazon S3, Google Cloud Storage and Azure Storage",
    ),
)
"""Every format, with where its form comes from."""


_MARKS = tuple([mark for secret_format in FORMATS for mark in secret_format.marks])
_MIN_LENGTH = 18
"""Number of characters that a secret of any format has at least; most names and values in manifests are shorter."""


def format_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the intervals of secrets with a known format, by format; they may overlap."""
    if len(text) < _MIN_LENGTH or not any(map(text.__contains__, _MARKS)):
        return
    for secret_format in FORMATS:
        for mark in secret_format.marks:
            if mark in text:
                for match in secret_format.pattern.finditer(text):
                    yield match.span("value" if secret_format.pattern.compiled.groups else 0)
                break


@bounded_cache(16384)
def has_secret_format(text: str) -> bool:
    """Return whether a text contains a secret with a known format. Cached: manifests share most of their texts."""
    return next(format_intervals(text), None) is not None


def mask_formats(text: str) -> str:
    """Return a text with every secret that has a known format replaced by `MASK`."""
    if not has_secret_format(text):
        return text
    pieces = []
    done = 0
    for start, end in sorted(format_intervals(text)):
        if end > done:
            pieces += [text[done:start], MASK]
            done = end
    return "".join([*pieces, text[done:]])
