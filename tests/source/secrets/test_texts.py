"""Secrets within text."""

from __future__ import annotations

import pytest

from ptcompile.source.secrets.names import MASK
from ptcompile.source.secrets.scanner import without_secrets
from ptcompile.source.secrets.texts import (
    merge_intervals,
    occurrences,
    option_name,
    quoted_forms,
    secret_parts,
    without_parts,
)
from tests.counting import steps

SHOWN: list[tuple[str, str]] = [
    ("--password=summer", "--password=***"),
    ("--password=two words of it", "--password=***"),
    ("train.py --hf-token a1B2c3D4 --epochs 3", "train.py --hf-token *** --epochs 3"),
    ("export HF_TOKEN=a1B2c3D4; torchrun t.py", "export HF_TOKEN=***; torchrun t.py"),
    ("HF_TOKEN='a1 B2' python t.py", "HF_TOKEN='***' python t.py"),
    ('{"stringData":{"password":"a1B2"}}', '{"stringData":{"password":"***"}}'),
    ("password=a1B2c3\ntoken: d4E5f6", "password=***\ntoken: ***"),
    ("curl -H 'Authorization: Bearer a1B2c3D4'", "curl -H 'Authorization: Bearer ***'"),
    ("Authorization=Basic dXNlcjpwYXNz", "Authorization=Basic ***"),
    ("postgres://user:a1B2@db:5432/x", "postgres://user:***@db:5432/x"),
    ("https://a1B2c3@pypi.acme.io/simple", "https://***@pypi.acme.io/simple"),
    ("registry:5000/user:a1B2c3@host", "registry:5000/user:***@host"),
    ("https://api/?token=a1B2c3D4&page=2", "https://api/?token=***&page=2"),
    ("AccountName=x;AccountKey=a1B2c3D4;Suffix=y", "AccountName=x;AccountKey=***;Suffix=y"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEabc\n-----END", "-----BEGIN PRIVATE KEY-----***-----END"),
    ("admin:hunter2@db.svc", "admin:***@db.svc"),
    ("os.environ['HF_TOKEN'] = 'a1B2c3D4'", "os.environ['HF_TOKEN'] = '***'"),
    ('os.environ.setdefault("HF_TOKEN", "a1B2c3D4")', 'os.environ.setdefault("HF_TOKEN", "***")'),
    ('wandb.login(host="h", key="a1B2c3D4")', 'wandb.login(host="h", key="***")'),
]  # fmt: skip

SHOWN += [
    ("Authorization: Bearer preprocessing", "Authorization: Bearer ***"),
    ("curl with bearer a1B2c3D4e5", "curl with bearer ***"),
]

KEPT = [
    "--sort-key name --max-tokens 4096 --tokenizer llama",
    "--token=$HF_TOKEN --key=$(KEY)",
    'token = os.environ["HF_TOKEN"]',
    "ghcr.io/acme/llama:2.1@sha256:0123456789abcdef",
    "ssh://git@github.com/acme/x",
    "https://host:8443/a@b",
    "master-0.train:29500",
    "secretName: hub-secret",
    "for key in keys: pass",
    "run:best@epoch3",
    "node:29500@eth0",
    "model=meta:llama@main",
    "basic preprocessing",
    "train.num_tokens=1e9 --num_tokens 1e9",
    "",
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_secrets_in_text_are_masked(text: str, shown: str) -> None:
    assert without_parts(text, secret_parts(text), lambda _: MASK) == shown
    assert not [part for part in secret_parts(shown) if MASK not in shown[slice(*part)]], (
        "what is masked stays so"
    )


@pytest.mark.parametrize("text", KEPT)
def test_other_text_is_kept(text: str) -> None:
    assert secret_parts(text) == []


@pytest.mark.parametrize(
    ("word", "name"),
    [("--hf-token", "hf-token"), ("-p", "p"), ("x", None), ("--a=b", None), (1, None)],
)
def test_an_option_gives_the_name_of_its_secret(word: object, name: str | None) -> None:
    assert option_name(word) == name


HOSTILE = [
    "A_KEY=",
    "://a:",
    "a:bbb@",
    "--token ",
    "A_KEY='",
    '"A_KEY":"',
    "Bearer ",
    "x-a-a-",
    "-----BEGIN KEY-----",
    "@",
    "eyJa",
    "-eyJ",
    "hf_",
    "sk-",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear(unit: str) -> None:
    """Measured in matches: the repetition limits of a regular expression bound the cost of a single match."""
    few, many = (steps(lambda n=n: secret_parts("token@" + unit * n)) for n in (500, 2000))  # type: ignore[misc]
    assert many < 6 * few + 100


@pytest.mark.parametrize(
    ("secrets", "text", "places"),
    [
        (["a1B2"], "x a1B2 a1B", [(2, 6)]),
        (["x" * 30], "x" * 24 + "...", [(0, 24)]),
        (["x" * 30], "x" * 23 + "...", []),
        (["ab'c"], "\"ab'c\" and 'ab\\'c'", [(1, 5)]),
        (["a1B2", "a1B2c3"], "a1B2c3 a1B2", [(0, 6), (7, 11)]),
        (["y" * 24, "y" * 24 + "z"], "y" * 24 + "z" + "y" * 24, [(0, 25), (25, 49)]),
    ],
)
def test_every_occurrence_of_a_secret_is_found(
    secrets: list[str], text: str, places: list[tuple[int, int]]
) -> None:
    locate = occurrences(secrets)
    assert locate is not None
    assert locate(text) == places


def test_a_secret_has_its_quoted_forms() -> None:
    assert set(quoted_forms("a'\"\n\u00e4")) == {
        "a'\"\n\u00e4",
        "a\\'\"\\n\u00e4",
        "a'\\\"\\n\\u00e4",
    }


def test_overlapping_intervals_are_merged() -> None:
    assert merge_intervals([(5, 7), (1, 2), (2, 3), (4, 4), (6, 9), (6, 7)]) == [(1, 3), (5, 9)]


def test_short_secrets_do_not_occur_anywhere() -> None:
    assert occurrences(["a1B", ""]) is None


@pytest.mark.parametrize(("length", "is_option"), [(79, True), (80, True), (81, False)])
def test_options_are_short(length: int, is_option: bool) -> None:
    option = "--" + "a" * (length - 2)
    assert option_name(option) == (option[2:] if is_option else None)


@pytest.mark.parametrize(
    ("kind", "masked"), [("Secret", True), (" secret", True), ("ConfigMap", False)]
)
def test_the_last_applied_text_of_a_secret_is_masked(kind: str, masked: bool) -> None:
    """kubectl apply keeps the whole object in an annotation."""
    key = "kubectl.kubernetes.io/last-applied-configuration"
    metadata = {
        "name": "s",
        "labels": {"team": "ml"},
        "annotations": {key: '{"data": {"a": "aHVudGVy"}}', "b": "c"},
    }
    data = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    hidden = without_secrets(data)["metadata"]
    assert (hidden["annotations"][key] == "***") is masked
    assert (hidden["labels"], hidden["annotations"]["b"], hidden["name"]) == (
        {"team": "ml"},
        "c",
        "s",
    )


def test_a_reference_to_a_secret_is_no_secret() -> None:
    owner = {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "1"}
    data = {
        "metadata": {"ownerReferences": [owner]},
        "spec": {"ref": {"kind": "Secret", "name": "s"}},
    }
    assert without_secrets(data) == data
    whole = {
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "data": {"a": "aGk="},
        "stringData": {"b": "hi"},
    }
    assert without_secrets(whole) == {**whole, "data": {"a": "***"}, "stringData": {"b": "***"}}
