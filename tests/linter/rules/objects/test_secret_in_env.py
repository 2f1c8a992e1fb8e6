"""Secrets in variables: how they are recognized, and that no message contains one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.linter.asking import container, problems_of

TOKEN = "hf_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5"
PROBE = ("spec", "containers", 0, "livenessProbe", "httpGet")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("WANDB_API_KEY", "0c5a7f3e9b1d48f2a6c4", True),
        ("HF_TOKEN", TOKEN, True),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI", True),
        ("DB_PASSWORD", "hunter2x", True),
        ("api_key", "abcdef", True),
        ("NOTES", f"use {TOKEN}", True),
        ("EXTRA", "AKIAIOSFODNN7EXAMPLE", True),
        ("WANDB_API_KEY", "", False),
        ("WANDB_API_KEY", "$(OTHER)", False),
        ("WANDB_API_KEY", "<your key>", False),
        ("HF_TOKEN", "true", False),
        ("GOOGLE_PRIVATE_KEY", "/var/run/key.json", False),
        ("PAD_TOKEN", "[PAD]", False),
        ("MAX_TOKENS", "4096", False),
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("SORT_KEY", "length", False),
        ("AWS_ACCESS_KEY_ID", "someone", False),
    ],
)
def test_names_and_values_decide_what_is_a_secret(name: str, value: str, expected: bool) -> None:
    problems = problems_of("secret-in-env", container(env=[{"name": name, "value": value}]))
    assert bool(problems) is expected
    assert not any(value in problem.message for problem in problems)


def test_a_variable_from_a_secret_has_no_finding() -> None:
    entry = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
    assert not problems_of("secret-in-env", container(env=[entry]))


def test_a_token_on_the_command_line_is_reported() -> None:
    (problem,) = problems_of(
        "secret-in-env", container(command=["python", "train.py", f"--token={TOKEN}"])
    )
    assert TOKEN not in problem.message
    assert problem.path[-2:] == ("command", 2)


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        ({**CONFIG_MAP, "data": {"a.ini": f"x=1\ny={TOKEN}\n"}}, ("data", "a.ini")),
        (
            {**CONFIG_MAP, "metadata": {"name": "a", "annotations": {"note": TOKEN}}},
            ("metadata", "annotations", "note"),
        ),
        (
            {**CONFIG_MAP, "metadata": {"name": "a", "labels": {TOKEN: "x"}}},
            ("metadata", "labels", TOKEN),
        ),
        (
            container(livenessProbe={"httpGet": {"port": 1, "path": f"/?sig={TOKEN}"}}),
            (*PROBE, "path"),
        ),
    ],
)
def test_a_token_anywhere_is_reported_and_not_quoted(
    manifest: Mapping[str, Any], path: tuple[str | int, ...]
) -> None:
    (problem,) = problems_of("secret-in-env", manifest)
    assert problem.path == path
    assert problem.on_key is (path[-1] == TOKEN)
    assert TOKEN not in problem.message


def test_secrets_are_the_place_for_tokens() -> None:
    assert not problems_of(
        "secret-in-env", {**CONFIG_MAP, "kind": "Secret", "stringData": {"a": TOKEN}}
    )
