"""Secrets that are known by their form: generated ones are found wherever they are, and nothing else is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from ptcompile._internal.secret_formats import (
    FORMATS,
    SecretFormat,
    has_secret_format,
    mask_formats,
)
from ptcompile.source.secrets.masking import masked_lines
from ptcompile.source.secrets.texts import secret_parts


def texts_of(secret_format: SecretFormat) -> st.SearchStrategy[str]:
    """Generate texts of a form, with as many characters as its pattern asks for."""
    pattern = secret_format.pattern.text.replace(r"\b", "")
    return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)


def secret_of(secret_format: SecretFormat, text: str) -> str:
    match = secret_format.pattern.search(text)
    assert match is not None
    return str(match["value"] if "value" in match.groupdict() else match[0])


def leaks(secret: str, shown: str) -> bool:
    """Return whether a text shows a secret, or so much of it that the rest can be guessed."""
    return secret in shown or secret[:24] in shown or secret[-16:] in shown


@pytest.mark.parametrize("secret_format", FORMATS, ids=lambda secret_format: secret_format.source)
@given(data=st.data())
def test_each_form_is_found_by_its_mark(secret_format: SecretFormat, data: st.DataObject) -> None:
    text = data.draw(texts_of(secret_format))
    secret = secret_of(secret_format, text)
    assert has_secret_format(text)
    assert any(mark in text for mark in secret_format.marks)
    for around in ("{}", "a '{}' b", "x={}\n", "--option={}", '{{"a": "{}"}}', "é {}, {}"):
        shown = around.format(text, text)
        assert not leaks(secret, mask_formats(shown))
        assert secret_parts(shown)
        assert not leaks(secret, "\n".join(masked_lines(f"a: 1  # {shown}")))


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-training-pipeline-of-the-vision-team",
        "task-0123456789abcdef0123456789abcdef",
        "HF_HUB_ENABLE_HF_TRANSFER=1 hf_transfer hf_hub_download",
        "--world_info=eyJub2RlLTEiOiBbMCwgMSwgMl0sICJub2RlLTIiOiBbMCwgMSwgMl19",
        "ghcr.io/acme/train@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "https://hooks.slack.com/services/$SLACK_PATH",
        "https://b.s3.amazonaws.com/k?X-Amz-Signature=$SIGNATURE",
        "AKIA and ASIA, npm_config_registry, xox, dapi",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    ],
)
def test_innocent_texts_are_not_masked(text: str) -> None:
    assert not has_secret_format(text)
    assert mask_formats(text) == text


def test_the_shortest_secrets_are_recognized() -> None:
    assert has_secret_format("rk_live_0123456789")
    assert has_secret_format("https://h/k?sig=0123456789abcdef")


@pytest.mark.parametrize("secret_format", FORMATS, ids=lambda secret_format: secret_format.source)
def test_re2_reads_each_pattern(secret_format: SecretFormat) -> None:
    """RE2 matches in linear time and has no lookaround."""
    re2 = pytest.importorskip("re2")
    assert re2.compile(secret_format.pattern.text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a hf_0123456789012345678901234567890 b", "a *** b"),
        ("x_ghp_0123456789012345678901234567890123456", "x_***"),
        ("AKIAIOSFODNN7EXAMPLE, AKIAIOSFODNN7EXAMPLES", "***, AKIAIOSFODNN7EXAMPLES"),
        (
            "https://hooks.slack.com/services/T0001/B0001/XXq7ZZkP9vW3",
            "https://hooks.slack.com/services/***",
        ),
        (
            "https://h/k?a=b&X-Amz-Signature=0123456789abcdef&c=d",
            "https://h/k?a=b&X-Amz-Signature=***&c=d",
        ),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3", "***"),
        ("hf_012345678901234567890123456789,sk-0123456789abcdefghij", "***,***"),
        ("?sig=glpat-01234567890123456789&a", "?sig=***&a"),
    ],
)
def test_secrets_of_known_formats_are_masked(text: str, masked: str) -> None:
    assert mask_formats(text) == masked
