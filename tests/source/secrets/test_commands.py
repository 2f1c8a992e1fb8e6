"""Passwords and tokens that scripts hand to programs."""

from __future__ import annotations

import pytest

from ptcompile.source.secrets.commands import command_intervals, is_program
from ptcompile.source.secrets.names import MASK
from ptcompile.source.secrets.texts import secret_parts, without_parts
from tests.counting import steps

SHOWN: list[tuple[str, str]] = [
    ("curl -u admin:summer https://x", "curl -u admin:*** https://x"),
    ("--rdzv-conf=timeout=900,note=curl -u admin:summer h", "--rdzv-conf=timeout=900,note=curl -u admin:*** h"),
    ("curl -sSu 'admin:summer' https://x", "curl -sSu 'admin:***' https://x"),
    ("x; /bin/curl https://x?a=1\\\n --user=admin:summer", "x; /bin/curl https://x?a=1\\\n --user=admin:***"),
    ("mysql -uroot -psummer db", "mysql -uroot -p*** db"),
    ("mysqldump -h db -p'a1B2' x", "mysqldump -h db -p'***' x"),
    ("sshpass -p summer ssh x", "sshpass -p *** ssh x"),
    ("redis-cli -h x -a summer ping", "redis-cli -h x -a *** ping"),
    ("aws configure set aws_secret_access_key summer", "aws configure set aws_secret_access_key ***"),
    ("aws configure set profile.a.aws_session_token 'summer'", "aws configure set profile.a.aws_session_token '***'"),
    ("wandb login --relogin --host=https://x a1B2c3D4", "wandb login --relogin --host=https://x ***"),
    ("vault login a1B2c3", "vault login ***"),
    ("docker login -u me -p summer ghcr.io", "docker login -u me -p *** ghcr.io"),
    ("echo summer | docker login --password-stdin", "echo *** | docker login --password-stdin"),
    ("echo -n 'a b' | gh auth login --with-token", "echo -n '***' | gh auth login --with-token"),
    ("docker login --password-stdin <<< summer", "docker login --password-stdin <<< ***"),
    ("machine h login u password summer", "machine h login u password ***"),
    ("machine h\n  login u\n  password summer\n", "machine h\n  login u\n  password ***\n"),
    (r"printf 'machine h\nlogin u\npassword summer\n'", r"printf 'machine h\nlogin u\npassword ***\n'"),
    ('{"auths": {"ghcr.io": {"auth": "bWU6cHc="}}}', '{"auths": {"ghcr.io": {"auth": "***"}}}'),
    ("auths:\n  ghcr.io:\n    auth: bWU6cHc=\n", "auths:\n  ghcr.io:\n    auth: ***\n"),
]  # fmt: skip

KEPT = [
    "curl -u $USER:$PASSWORD https://x; docker run -u 1000:1000 -p 80:80 x",
    "curl --url=https://x:443/y -o a:b",
    "wandb login $WANDB; wandb login --relogin; docker login ghcr.io",
    'echo "$TOKEN" | docker login --password-stdin; echo done',
    "mysql -p db; mysql -P3306",
    "aws configure set region eu-west-1; aws configure set default.s3.max_concurrent_requests 20",
    "machine learning, login and password",
    "auth: basic",
    "api.wandb.ai login me",
    "vault kv get login",
    "echo summer | grep me",
    "curl a && docker run -u 1000:1000 x",
    "curl -X GET -o file:name",
    "redis-cli ping; sshpass -e ssh",
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_passwords_are_masked(text: str, shown: str) -> None:
    assert without_parts(text, secret_parts(text), lambda _: MASK) == shown


@pytest.mark.parametrize("text", KEPT)
def test_other_commands_are_kept(text: str) -> None:
    assert secret_parts(text) == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("curl", True),
        ("/usr/bin/curl", True),
        ("mysqldump", True),
        ("curly", False),
        ("curl -u a:b", False),
        ("", False),
    ],
)
def test_only_programs_with_passwords_are_recognized(word: str, expected: bool) -> None:
    assert is_program(word) is expected


HOSTILE = [
    "curl ",
    "curl -u ",
    'curl "',
    "docker login ",
    "echo a",
    "echo a|",
    "login <<<",
    "machine a ",
    "auths auth:",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear(unit: str) -> None:
    few, many = (steps(lambda n=n: secret_parts("token@" + unit * n)) for n in (500, 2000))  # type: ignore[misc]
    assert many < 6 * few + 100


@pytest.mark.parametrize(
    ("command", "secrets"),
    [
        ("wandb login key1 key2", ["key1"]),
        ("wandb login --relogin key1", ["key1"]),
        ("vault login s.abc", ["s.abc"]),
        ("docker login -p x y", ["x"]),
        ("docker logout -p x", []),
        ("login abc", []),
    ],
)
def test_only_the_key_of_a_login_is_a_secret(command: str, secrets: list[str]) -> None:
    assert [command[start:end] for start, end in command_intervals(command)] == secrets
