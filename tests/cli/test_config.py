"""Unusable configurations: one sentence and exit status 2, without a delay and without much memory."""

from __future__ import annotations

import sys
import tomllib
from argparse import Namespace
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

import ptcompile
from ptcompile.cli import config
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics.terms import Severity, Stage
from ptcompile.extending import declared
from tests.cli.running import here
from tests.making import smallest

Capture = pytest.CaptureFixture[str]
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'b:1'}]}\n"


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_a_configuration_that_cannot_be_read(
    text: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    for name in ("ptcompile.toml", "pyproject.toml"):
        path = tmp_path / name
        path.write_bytes((text + "\n[tool.ptcompile]\n").encode(errors="surrogateescape"))
        ran = here(capsys, "lint", "--untrusted", "--config", path, tmp_path / "a.yaml")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(f"ptcompile: {path}: ")
        assert message in ran.err
        assert len(ran.err) < 500
        assert "this is a bug" not in ran.err


def test_dots_outside_keys_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "# "
        + "a.b c.d, " * 200
        + "\nexclude = ["
        + "'a.b.c.yaml', " * 200
        + "]\n"
        + f"ignore = []\n[{'a.' * 99}a]"
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
    with pytest.raises(
        UsageError, match=r"a link that leads out of .*; name it with --config to use it"
    ):
        config.load(None, start=str(repository))
    (repository / "ptcompile.toml").unlink()
    (repository / "ptcompile.toml").symlink_to("/dev/zero")
    assert config.load(None, start=str(repository)) == config.Config()


def test_an_unknown_key_lists_the_known_ones(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("plugins = 'acme'", "plugins: must be a list of installed packages"),
        ("plugins = [1]", "plugins: must be a list of installed packages"),
        ("plugins = ['']", "plugins: must be a list of installed packages"),
        ("rule = 'a'", "rule: must be tables"),
        ("rule = [1]", "rule: must be tables"),
        ("select = 'PTC3'", "select: must be a list of codes or names"),
        ("extend-select = [3]", "extend-select: must be a list of codes or names"),
        ("ignore = ['PTC9999']", "ignore: "),
        ("per-file-ignores = ['a']", "per-file-ignores: must be a table"),
        ("per-file-ignores = {a = 'PTC3'}", "per-file-ignores: must be a list of codes or names"),
        ("severity = 'note'", "severity: must be a table"),
        ("severity = {PTC9999 = 'note'}", "severity: "),
        ("per-file-severity = 'note'", "per-file-severity: must be a table"),
        ("per-file-severity = {a = 'note'}", "per-file-severity: must be a table"),
        ("cluster = 1", "cluster: must be a string"),
        ("schemas = 'crds'", "schemas: must be a list of files and folders"),
        ("schemas = [1]", "schemas: must be a list of files and folders"),
        (f"exclude = {['x*'] * 501}", "exclude: has 501 entries; at most 500 are read"),
        ("exclude = 'charts/'", "exclude: must be a list of patterns"),
        ("extend-exclude = [1]", "extend-exclude: must be a list of patterns"),
        ("fail-on = 'note'", 'fail-on: must be "error", "warning" or "unchecked"'),
        (
            "kubernetes-versions = '1.34'",
            "kubernetes-versions: unknown key; did you mean kubernetes-version?",
        ),
        ("baseline = '../b.json'", "baseline: ../b.json leads out of "),
    ],
)
def test_a_wrong_value_is_a_mistake_that_names_its_key(
    line: str, mistake: str, tmp_path: Path
) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(line + "\n")
    if (
        "PTC9999" not in line and "../" not in line
    ):  # what codes there are, and files outside, no schema knows
        assert not _is_valid(line)
    with pytest.raises(UsageError) as raised:
        config.load(str(path))
    assert raised.value.args[0] == f"{path}: invalid ptcompile configuration"
    assert raised.value.args[1].startswith(f"  {mistake}"), raised.value.args


def _is_valid(text: str) -> bool:
    return Draft202012Validator(ptcompile.schema("config")).is_valid(tomllib.loads(text))


def test_the_schema_has_the_keys_that_are_read() -> None:
    schema = ptcompile.schema("config")
    rule = schema["$defs"]["rule"]
    Draft202012Validator.check_schema(schema)
    assert [*schema["properties"]] == [*config._PARSERS]
    assert {*rule["properties"]} == {*declared._ALL_KEYS}
    assert rule["required"] == [*declared._REQUIRED_KEYS]
    assert rule["properties"]["stage"]["enum"] == [*get_args(Stage)]
    assert schema["$defs"]["level"]["enum"] == [*get_args(Severity)]
    assert rule["properties"]["each"]["enum"] == [*declared.SCOPES]
    assert rule["properties"]["code"]["pattern"] == f"^{declared.CODE.pattern}$"


def test_every_key_has_its_value(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "select = ['PTC3']\nextend-select = ['PTC021']\nignore = ['PTC302']\ncluster = 'c.yaml'\nbaseline = 'b.json'\n"
        "kubernetes-version = '1.34'\nfail-on = 'warning'\nschemas = ['crds']\nexclude = ['a/']\n"
        "extend-exclude = ['b/']\n"
        "[severity]\nPTC301 = 'error'\nPTC302 = 'note'\n"
        "[per-file-ignores]\n'old/' = ['PTC4']\n'old/a.yaml' = ['PTC5']\n[per-file-severity.'old/']\nPTC302 = 'error'\n"
    )
    assert _is_valid(path.read_text())
    loaded = config.load(str(path))
    assert (loaded.folder, loaded.cluster, loaded.baseline, loaded.schemas) == (
        str(tmp_path),
        str(tmp_path / "c.yaml"),
        str(tmp_path / "b.json"),
        (str(tmp_path / "crds"),),
    )
    assert (loaded.kubernetes_version, loaded.fail_on) == ("1.34", "warning")
    assert (loaded.exclude, loaded.extend_exclude, loaded.extensions) == (("a/",), ("b/",), None)
    assert loaded.selectors() == ["PTC3", "PTC021"]
    assert loaded.ignored_selectors(str(tmp_path / "old" / "a.yaml")) == ["PTC302", "PTC4", "PTC5"]
    assert loaded.ignored_selectors(str(tmp_path / "new.yaml")) == ["PTC302"]
    assert [*loaded.severities(str(tmp_path / "old" / "a.yaml")).values()] == ["error", "error"]
    assert [*loaded.severities(str(tmp_path / "new.yaml")).values()] == ["error", "note"]
    assert config.Config().selectors() is None
    assert config.Config(extend_select=("PTC3",)).selectors() is None, "which runs every rule"


def test_a_declared_rule_adds_its_code(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "select = ['ORG001']\nseverity = {no-hosts = 'note'}\n[[rule]]\ncode = 'ORG001'\nname = 'no-hosts'\n"
        "path = 'spec'\nexpression = 'true'\nmessage = 'm'\n"
    )
    loaded = config.load(str(path))
    assert loaded.codes == {"no-hosts": "ORG001"}
    assert loaded.all_codes["no-hosts"] == "ORG001"
    assert len(loaded.all_codes) > 100
    assert loaded.extensions is not None
    assert [rule.owner for rule in loaded.extensions.rules] == ["rule of ptcompile.toml"]
    assert loaded.severities("a.yaml") == {"no-hosts": "note"}


def test_the_nearest_configuration_of_the_repository_is_used(tmp_path: Path) -> None:
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "ptcompile.toml").write_text("ignore = ['PTC1']\n")
    (tmp_path / "repo" / "ptcompile.toml").write_text("ignore = ['PTC3']\n")

    def ignored() -> tuple[str, ...]:
        return config.load(None, start=str(deep)).ignore

    assert ignored() == (), "outside a repository only the folder itself is searched"
    (tmp_path / "repo" / ".git").mkdir()
    assert ignored() == ("PTC3",)
    (deep.parent / "pyproject.toml").write_text("[tool.other]\n")
    assert ignored() == ("PTC3",), "a project file that does not configure ptcompile"
    (deep.parent / "pyproject.toml").write_text("[tool.ptcompile]\nignore = ['PTC4']\n")
    assert ignored() == ("PTC4",)
    (deep.parent / "ptcompile.toml").write_text("ignore = ['PTC5']\n")
    assert ignored() == ("PTC5",), "ptcompile.toml before pyproject.toml"
    (tmp_path / "repo" / "ptcompile.toml").unlink()
    (deep.parent / "ptcompile.toml").unlink()
    (deep.parent / "pyproject.toml").unlink()
    assert ignored() == (), "never above the root of the repository"


def test_an_isolated_run_uses_only_a_configuration_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text("ignore = ['PTC3']\n")
    assert config.load(None, isolated=True, start=str(tmp_path)) == config.Config()
    assert config.load(str(path), isolated=True).ignore == ("PTC3",)
    assert config.load(None, start=str(tmp_path)).ignore == ("PTC3",)


@pytest.mark.parametrize(
    "words",
    [
        ["lint", "a.yaml"], ["compile", "spec.yaml"], ["simulate", "spec.yaml"], ["explain", "spec.yaml"],
        ["explain", "--log", "a.log", "a.yaml"], ["diff", "a.yaml", "spec.yaml"], ["import", "a.yaml"],
        ["convert", "a.yaml", "--target", "job"], ["requires", "spec.yaml"], ["platform", "eks", "spec.yaml"],
        ["admit", "spec.yaml"], ["upgrade", "--kubernetes", "1.30", "--to-kubernetes", "1.34", "a.yaml"],
        ["rules"], ["plugins"],
    ],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_a_run_loads_its_configuration_once(
    words: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("a.yaml", POD),
        ("spec.yaml", smallest()),
        ("a.log", "x\n"),
        ("ptcompile.toml", "ignore = []\n"),
    ):
        Path(name).write_text(text)
    loaded: list[str] = []
    usual = config._parse_config

    def parse(table: Any, path: str) -> config.Config:
        loaded.append(path)
        return usual(table, path)

    monkeypatch.setattr(config, "_parse_config", parse)
    here(capsys, *words)
    assert [Path(path).name for path in loaded] == ["ptcompile.toml"]


@pytest.mark.parametrize("text", ["[tool]\nptcompile = 1\n", "tool = 1\n", "[project]\n"])
def test_a_project_file_without_settings_configures_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    assert config.load(str(path)) == config.Config()


def test_options_override_the_configuration(tmp_path: Path, capsys: Capture) -> None:
    """`select`, the profile and the like are replaced; what is ignored is added up."""
    pod = tmp_path / "a.yaml"
    pod.write_text(POD.replace("i:1", "i"))
    path = tmp_path / "ptcompile.toml"
    path.write_text("select = ['PTC1']\nfail-on = 'warning'\nkubernetes-version = '1.34'\n")
    words = ("lint", "--config", path, pod)
    assert here(capsys, *words).status == 0
    broken = (
        (("--select", "PTC9999"), "--select: "),
        (("--extend-select", "PTC301,PTC9999"), "--extend-select: "),
        (("--ignore", "PTC9999"), "--ignore: "),
        (("--kubernetes-version", "x"), "--kubernetes-version: "),
        (("--schemas", tmp_path / "none"), f"--schemas: {tmp_path / 'none'}: "),
    )
    for options, message in broken:
        ran = here(capsys, *words, *options)
        assert (ran.status, ran.out) == (2, "")
        assert f"ptcompile: {message}" in ran.err


def test_options_of_the_command_line_join_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(
        "select = ['PTC1']\nextend-select = ['PTC2']\nignore = ['PTC3']\nfail-on = 'warning'\n"
    )
    unset: dict[str, Any] = dict.fromkeys(("cluster", "kubernetes_version", "fail_on", "baseline"))
    unset |= {
        "config": str(path),
        "isolated": False,
        "select": [],
        "extend_select": [],
        "ignore": [],
        "schemas": [],
    }
    unchanged = config.load_with_options(Namespace(**unset))
    assert unchanged == config.load(str(path))
    options = {
        "select": ["PTC4,PTC5"],
        "extend_select": ["PTC6"],
        "ignore": ["PTC7"],
        "fail_on": "error",
    }
    others = {"cluster": "c.yaml", "baseline": "b.json", "kubernetes_version": "1.33"}
    changed = config.load_with_options(Namespace(**{**unset, **options, **others}))
    assert (changed.select, changed.extend_select) == (("PTC4", "PTC5"), ("PTC2", "PTC6"))
    assert (changed.ignore, changed.fail_on) == (("PTC3", "PTC7"), "error")
    assert (changed.cluster, changed.baseline, changed.kubernetes_version) == (
        "c.yaml",
        "b.json",
        "1.33",
    )
