"""Secrets that are known by their form: generated ones are masked wherever they are, and nothing else is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ptcompile._internal.secret_formats import FORMATS, SecretFormat, has_secret_format, mask_formats
from ptcompile.source.secrets.masking import masked_lines
from ptcompile.source.secrets.texts import secret_parts
from tests.attacks.places import PLACES, REPORTS, WRITERS, folder, run, spec


def texts_of(secret_format: SecretFormat) -> st.SearchStrategy[str]:
    """Generate texts of a form, with as many characters as its pattern asks for."""
    pattern = secret_format.pattern.text.replace(r"\b", "")
    return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)


def secret_of(secret_format: SecretFormat, text: str) -> str:
    match = secret_format.pattern.search(text)
    assert match is not None
    return str(match["value"] if "value" in match.groupdict() else match[0])


secrets = st.sampled_from(FORMATS).flatmap(
    lambda secret_format: st.tuples(st.just(secret_format), texts_of(secret_format))
)


def leaks(secret: str, shown: str) -> bool:
    """Return whether a text shows a secret, or so much of it that the rest can be guessed."""
    return secret in shown or secret[:24] in shown or secret[-16:] in shown


@pytest.mark.parametrize("secret_format", FORMATS, ids=lambda secret_format: secret_format.source)
@given(data=st.data())
def test_each_form_is_found_by_its_mark(secret_format: SecretFormat, data: st.DataObject) -> None:
    text = data.draw(texts_of(secret_format))
    secret = secret_of(secret_format, text)
    assert any(mark in text for mark in secret_format.marks)
    for around in ("{}", "a '{}' b", "x={}\n", "--option={}", '{{"a": "{}"}}', "é {}, {}"):
        shown = around.format(text, text)
        assert not leaks(secret, mask_formats(shown))
        assert secret_parts(shown)
        assert not leaks(secret, "\n".join(masked_lines(f"a: 1  # {shown}")))


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=3)
@given(drawn=secrets)
def test_no_report_shows_one(place: str, drawn: tuple[SecretFormat, str]) -> None:
    text, secret = drawn[1], secret_of(*drawn)
    with folder():
        Path("a.yaml").write_text(json.dumps(PLACES[place](text), indent=1))
        for words in (*REPORTS, *WRITERS):
            out, err = run(*words, "a.yaml")
            assert words in WRITERS or not leaks(secret, out), words
            assert not leaks(secret, err), words


@settings(max_examples=4)
@given(drawn=secrets)
def test_names_of_files_comments_and_options(drawn: tuple[SecretFormat, str]) -> None:
    text, secret = drawn[1], secret_of(*drawn)
    comment = json.dumps({**spec("a"), "nods": 1}, indent=1).replace("\n", f"  # {text}\n")
    with folder():
        name = f"{text.replace('/', '')}.yaml"
        for path, content in (("a.yaml", comment), (name, comment)):
            Path(path).write_text(content)
            for words in (*REPORTS, *WRITERS):
                out, err = run(*words, path)
                assert words in WRITERS or not leaks(secret, out), words
                assert not leaks(secret, err), words
        for words in (
            ["compile", "--set", f"spec..a={text}", "other.yaml"],
            ["compile", "--set", f"spec.nods={text}", "other.yaml"],
            ["compile", "--set", f"{text}=1", "other.yaml"],
            ["compile", "--name", text, "other.yaml"],
            ["import", "--set", f"a b={text}", "other.yaml"],
            ["lint", f"--{text}"],
            ["explain", text],
            ["simulate", "other.yaml", "--pod", text],
        ):
            out, err = run(*words)
            assert not leaks(secret, out + err), words


def test_the_law_can_fail() -> None:
    with folder():
        Path("a.yaml").write_text(json.dumps(spec("zQ7xK2mV9wzQ7xK2mV9wzQ7xK2mV9w")))
        assert leaks("zQ7xK2mV9wzQ7xK2mV9wzQ7xK2mV9w", run("simulate", "a.yaml")[0]), "no form, no name: not a secret"


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
def test_innocent_texts(text: str) -> None:
    assert not has_secret_format(text)
    assert mask_formats(text) == text


@pytest.mark.parametrize("secret_format", FORMATS, ids=lambda secret_format: secret_format.source)
def test_re2_reads_each_pattern(secret_format: SecretFormat) -> None:
    """RE2 matches in linear time and has no lookaround."""
    re2 = pytest.importorskip("re2")
    assert re2.compile(secret_format.pattern.text)
