"""Unusable configurations: one sentence and exit status 2, without a delay and without much memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ptcompile.cli import config
from ptcompile.cli.files import UsageError
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'b:1'}]}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a" + ".a" * 30000 + " = 1", "line 1 has a key with more than 100 dots"),
        ("ignore = []\n[a" + " . 'b'" * 101 + "]", "line 2 has a key with more than 100 dots"),
        ('x = {a."b"' + ".c" * 100 + " = 1}", "line 1 has a key with more than 100 dots"),
        ("a = " + "[" * 30000, "arrays or inline tables are nested too deeply"),
        ("a = " + "{a=" * 30000, "arrays or inline tables are nested too deeply"),
        ("a = " + "9" * 60000, "a number has more than 4300 digits"),
        ("#" * (1 << 18) + "\n", "larger than 262144 bytes, which is the limit"),
        ("a = ", "Invalid value (at line 1, column 5)"),
        ("a = '\udcff'", "can't decode byte 0xff"),
    ],
    ids=lambda told: told[:12],
)
def test_a_configuration_that_cannot_be_read(text: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    for name in ("ptcompile.toml", "pyproject.toml"):
        path = tmp_path / name
        path.write_bytes((text + "\n[tool.ptcompile]\n").encode(errors="surrogateescape"))
        ran = here(capsys, "lint", "--untrusted", "--config", path, tmp_path / "a.yaml")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(f"ptcompile: {path}: ")
        assert said in ran.err
        assert len(ran.err) < 500
        assert "this is a bug" not in ran.err


def test_dots_outside_keys_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "# " + "a.b c.d, " * 200 + "\nexclude = [" + "'a.b.c.yaml', " * 200 + "]\n" + f"ignore = []\n[{'a.' * 99}a]"
    )
    with pytest.raises(UsageError, match="a: unknown key"):
        config.load(str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_configuration_that_leads_out_is_not_followed(tmp_path: Path, capsys: Capture) -> None:
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    (repository / "a.yaml").write_text(POD)
    (tmp_path / "outside.toml").write_text("secret-of-the-machine")
    (repository / "pyproject.toml").symlink_to("../outside.toml")
    assert config.load(None, start=str(repository)) == config.Config()
    (repository / "ptcompile.toml").symlink_to("../outside.toml")
    with pytest.raises(UsageError, match=r"a link that leads out of .*; name it with --config to use it"):
        config.load(None, start=str(repository))
    (repository / "ptcompile.toml").unlink()
    (repository / "ptcompile.toml").symlink_to("/dev/zero")
    assert config.load(None, start=str(repository)) == config.Config()


def test_an_unknown_key_is_told_from_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text("gate = 'b.json'\n[[rule]]\nmatch = 'x'\n")
    with pytest.raises(UsageError) as raised:
        config.load(str(path))
    assert "gate: unknown key; the keys are select, extend-select" in str(raised.value)
    assert "rule[0]: unknown key 'match'; the keys are code, name" in str(raised.value)


@pytest.mark.parametrize("key", ["cluster", "baseline"])
def test_a_name_with_a_null_character_is_a_mistake(key: str, tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(f'{key} = "\\u0000"\nschemas = ["\\u0000"]\n')
    with pytest.raises(UsageError) as raised:
        config.load(str(path))
    assert raised.value.args[1:] == (
        f"  {key}: must not contain null characters",
        "  schemas: must not contain null characters",
    )


def test_each_mistake_of_a_rule_is_a_line_that_names_its_code(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "[[rule]]\ncode = 'ORG001'\nname = 'a-b'\n"
        "[[rule]]\ncode = 'ORG002'\nname = 'c-d'\npath = 'spec..x'\nexpression = 'true'\nmessage = 'm'\n"
    )
    with pytest.raises(UsageError) as raised:
        config.load(str(path))
    assert raised.value.args[1:] == (
        "  rule[0] (ORG001): missing path, expression, message",
        "  rule[1] (ORG002): path 'spec..x': a key is missing: write a path such as spec.nodes",
    )
