"""CONTRIBUTING.md#laws 10 for secrets with a known form: no command shows one, wherever it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ptcompile._internal.secret_formats import FORMATS, SecretFormat
from tests._internal.test_secret_formats import leaks, secret_of, texts_of
from tests.attacks.places import PLACES, REPORTS, WRITERS, folder, run, spec

secrets = st.sampled_from(FORMATS).flatmap(
    lambda secret_format: st.tuples(st.just(secret_format), texts_of(secret_format))
)


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
def test_names_of_files_comments_and_options_are_masked(drawn: tuple[SecretFormat, str]) -> None:
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
        assert leaks("zQ7xK2mV9wzQ7xK2mV9wzQ7xK2mV9w", run("simulate", "a.yaml")[0]), (
            "no form, no name: not a secret"
        )
