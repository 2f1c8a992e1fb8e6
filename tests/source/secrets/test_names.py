"""Names that indicate a secret, and the masking of its value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptcompile.source.secrets.names import (
    FIELDS,
    MASK,
    is_searched,
    is_secret,
    mask_value,
    normalize_name,
)
from ptcompile.source.secrets.scanner import secrets_of, without_secrets

NAMES: list[tuple[str, bool]] = [
    ("HF_TOKEN", True),
    ("hf_token", True),
    ("TOKEN", True),
    ("WANDB_API_KEY", True),
    ("AWS_SECRET_ACCESS_KEY", True),
    ("AWS_SECRET", True),
    ("DB_PASSWORD", True),
    ("PGPASSWORD", True),
    ("SECRET_FILE", True),
    ("TOKENIZERS_PARALLELISM", False),
    ("MONKEY", False),
    ("KEYS", False),
    ("NCCL_DEBUG", False),
    ("SECRETARIAT", False),
    ("HF_TOKEN_2", True),
    ("KAGGLE_KEY_V2", True),
    ("HF.TOKEN", True),
    ("hf-token ", True),
    ("acme.io/api-token", True),
    ("apiKey", True),
    ("ACCESSTOKEN", True),
    ("GITHUB_PAT", True),
    ("DB_PASS", True),
    ("MYSQL_PWD", True),
    ("PASSPHRASE", True),
    ("CREDENTIALS", True),
    ("MAX_TOKENS", False),
    ("NCCL_AUTH", False),
]


@pytest.mark.parametrize(("name", "secret"), NAMES)
def test_a_name_may_mark_a_secret(name: str, secret: bool) -> None:
    assert mask_value(name, "x") == (MASK if secret else "x")


@pytest.mark.parametrize("value", [None, {"secretKeyRef": {"name": "s", "key": "k"}}, []])
def test_references_are_not_masked(value: Any) -> None:
    assert mask_value("HF_TOKEN", value) is value


def test_only_the_end_of_a_long_name_counts() -> None:
    assert normalize_name("a" * 200) == "A" * 120
    assert is_secret("a" * 200 + "_TOKEN")


def test_a_name_that_is_not_a_string_is_not_a_secret() -> None:
    assert mask_value(None, "x") == "x"


def test_secrets_of_plain_data_have_their_paths() -> None:
    data: dict[str, Any] = {
        "env": {"HF_TOKEN": "a", "X": "b", "A_KEY": {"secretKeyRef": {"name": "s", "key": "k"}}},
        "containers": [
            {"name": "c", "env": [{"name": "B_KEY", "value": "c"}, {"name": "Y", "value": "d"}]}
        ],
        "labels": {"level": "5"},
        "tolerations": [{"key": "gpu", "value": "yes"}],
        "volumes": [{"name": "hf-token", "secret": {"secretName": "hub"}}],
    }
    hidden: Any = without_secrets(data)
    assert hidden["env"] == {**data["env"], "HF_TOKEN": MASK}
    assert hidden["containers"][0]["env"] == [
        {"name": "B_KEY", "value": MASK},
        {"name": "Y", "value": "d"},
    ]
    assert [hidden[key] for key in ("labels", "tolerations", "volumes")] == [
        data[key] for key in ("labels", "tolerations", "volumes")
    ]
    assert [secret.path for secret in secrets_of(data)] == [
        ("env", "HF_TOKEN"),
        ("containers", 0, "env", 0, "value"),
    ]


def test_data_without_secrets_is_returned_unchanged() -> None:
    data = {"env": {"LEVEL": "5"}, "args": ["--sort-key", "name", "--max-tokens=4096"]}
    assert without_secrets(data) is data


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for inner in schema.values():
            yield from _properties(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _properties(inner)


def test_kubernetes_fields_are_not_mistaken_for_secrets() -> None:
    """`redisPassword` and TokenRequest's `token` do hold a secret."""
    names = {
        name
        for file in Path("schemas").rglob("*.json")
        for name in _properties(json.loads(file.read_text()))
    }
    assert {name for name in names if is_secret(name, "a1B2c3D4e5") and name not in FIELDS} <= {
        "token",
        "redisPassword",
    }


@pytest.mark.parametrize(
    ("name", "value", "searched"),
    [
        ("SORT_KEY", "train", False),
        ("CACHE_KEY", "llama-7", False),
        ("PARTITION_KEY", "gpt2", False),
        ("MAX_TOKEN", "4096", False),
        ("EOS_TOKEN", "</s>", False),
        ("PAD_TOKEN", "[PAD]", False),
        ("USE_SECRETS", "false", False),
        ("HF_TOKEN", "true", False),
        ("SORT_KEY", "a1b2c3d4e5f6", True),
        ("SORT_KEY", "hf_AAAABBBBCCCC", True),
        ("SORT_KEY", "987654321012", True),
        ("SORT_KEY", "x" * 17, True),
        ("HF_TOKEN", "train", True),
        ("DB_PASSWORD", "summer", True),
        ("WANDB_API_KEY", "1234", True),
    ],
)
def test_only_values_of_secret_names_are_searched_everywhere(
    name: str, value: str, searched: bool
) -> None:
    assert is_searched(name, value) is searched
    assert mask_value(name, value) == (MASK if searched or name == "HF_TOKEN" else value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PAD_TOKEN", "<pad>"),
        ("EOS_TOKEN", "<|endoftext|>"),
        ("MAX_TOKEN", "4096"),
        ("SORT_KEY", "train"),
        ("PRIMARY_KEY", "id"),
        ("USE_SECRETS", "false"),
        ("SECRETS_DIR", "/run/secrets"),
        ("SECRETS_DIR", "secrets"),
        ("PASSWORD_MIN_LENGTH", "12"),
        ("PUBLIC_KEY", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"),
        ("train.num_tokens", "1e9"),
        ("MAX_TOKENS", "4k"),
    ],
)
def test_innocent_names_and_values_are_kept(name: str, value: str) -> None:
    assert mask_value(name, value) == value
    assert without_secrets({"env": {name: value}, "args": [f"--{name}={value}"]}) == {
        "env": {name: value},
        "args": [f"--{name}={value}"],
    }


@pytest.mark.parametrize(
    "name", ["SORT_KEY", "PAD_TOKEN", "SECRETS_DIR", "USE_SECRETS", "MAX_TOKENS"]
)
def test_a_generated_value_is_masked_under_any_name(name: str) -> None:
    assert mask_value(name, "a1B2c3D4e5") == MASK


@pytest.mark.parametrize(
    "name", ["USE_API_KEY", "PAD_API_TOKEN", "MAX_PASSWORD", "SECRET_NAMES_KEY"]
)
def test_credentials_are_never_innocent(name: str) -> None:
    assert mask_value(name, "word") == MASK


def test_tables_whose_keys_users_choose_may_hold_secrets() -> None:
    driver = {"driver": "acme.io/x", "options": {"secret": "a1B2c3D4", "share": "//nas/x"}}
    pod = {"volumes": [{"name": "v", "flexVolume": driver}]}
    assert [secret.value for secret in secrets_of(pod)] == ["a1B2c3D4"]


def test_a_cookie_is_secret_and_a_switch_is_not() -> None:
    env = [{"name": "COOKIE", "value": "session=a1B2c3D4"}, {"name": "COOKIES", "value": "off"}]
    assert [secret.value for secret in secrets_of({"env": env})] == ["session=a1B2c3D4"]
