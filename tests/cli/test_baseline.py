"""The baseline: known findings do not fail a run, and everything that is new does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptcompile._internal import dates
from ptcompile.cli import baseline
from ptcompile.report import FORMATS
from tests.cli.running import Ran, here

Capture = pytest.CaptureFixture[str]

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ml}}
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: "img:1"
      resourcess: {{}}
    - name: side
      image: "img:1"
      volumeMounts: [{{name: none, mountPath: /a}}]
"""
KNOWN = [
    {"code": "PTC501", "file": "m/a.yaml", "path": "spec.containers[main].resourcess"},
    {"code": "PTC513", "file": "m/a.yaml", "path": "spec.containers[side].volumeMounts[none].name"},
]


class Team:
    """A folder with manifests, and lint with its baseline."""

    def __init__(self, folder: Path, capsys: Capture) -> None:
        self.folder, self._capsys = folder, capsys
        (folder / "m").mkdir()
        self.write("m/a.yaml", POD.format(name="a"))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def edit(self, name: str, old: str, new: str) -> None:
        assert old in self.read(name)
        self.write(name, self.read(name).replace(old, new, 1))

    def run(self, *words: str) -> Ran:
        return here(self._capsys, "lint", *words)

    def new(self, *words: str) -> list[tuple[str, str]]:
        """Return the codes and paths that lint reports beside the baseline."""
        ran = self.run(*(words or ("m",)), "--baseline", "known.toml", "--format", "json")
        return [
            (d["code"], ".".join(map(str, d["path"]))) for d in json.loads(ran.out)["diagnostics"]
        ]


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Team:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    team = Team(tmp_path, capsys)
    ran = team.run("m", "--write-baseline", "known.toml")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "ptcompile: 2 findings in known.toml: 2 new, 0 removed\n"
    return team


def test_an_entry_names_code_object_and_path(team: Team) -> None:
    entries = baseline.read("known.toml", {"a": "PTC501", "b": "PTC513"}).entries
    assert [(e.code, e.file, e.kind, e.namespace, e.name, e.path) for e in entries] == [
        (known["code"], known["file"], "Pod", "ml", "a", known["path"]) for known in KNOWN
    ]
    assert [team.read("known.toml").split("\n")[e.line - 1] for e in entries] == ["[[finding]]"] * 2


def test_known_findings_do_not_fail_the_run(team: Team) -> None:
    assert team.run("m").status == 1
    ran = team.run("m", "--baseline", "known.toml")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "ptcompile: 1 file, 1 document, 0 errors, 0 warnings, 2 in the baseline\n"


def moved_lines(team: Team) -> None:
    team.edit("m/a.yaml", "kind: Pod", "# moved\n\nkind: Pod")


def moved_items(team: Team) -> None:
    team.edit("m/a.yaml", "  containers:\n", '  containers:\n    - {name: first, image: "img:1"}\n')


def another_document(team: Team) -> None:
    team.write(
        "m/a.yaml",
        POD.format(name="b").replace("resourcess: {}", "env: []").replace("volumeM", "#")
        + "---\n"
        + team.read("m/a.yaml"),
    )


def renamed_file(team: Team) -> None:
    (team.folder / "m" / "a.yaml").rename(team.folder / "m" / "z.yaml")


def as_json(team: Team) -> None:
    from ruamel.yaml import YAML

    team.write("m/a.json", json.dumps(YAML(typ="safe").load(team.read("m/a.yaml"))))
    (team.folder / "m" / "a.yaml").unlink()


@pytest.mark.parametrize(
    "change", [moved_lines, moved_items, another_document, renamed_file, as_json]
)
def test_what_moves_stays_known(change: object, team: Team) -> None:
    assert callable(change)
    change(team)
    assert team.new() == []


def test_a_rendered_stream_has_the_findings_of_its_files(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    text = "# Source: chart/templates/a.yaml\n" + team.read("m/a.yaml")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert team.new("-") == []


ARGUMENTS = """\
apiVersion: v1
kind: Pod
metadata: {name: t}
spec:
  restartPolicy: Never
  containers: [{name: main, image: "img:1"}]
  tolerations:
    - {key: a, operator: Exist}
"""


def test_items_without_names_may_move(team: Team) -> None:
    team.write("m/t.yaml", ARGUMENTS)
    team.run("m", "--write-baseline", "known.toml")
    team.edit("m/t.yaml", "  tolerations:\n", "  tolerations:\n    - {key: b, operator: Exists}\n")
    assert team.new() == []
    (team.folder / "m" / "t.yaml").rename(team.folder / "m" / "u.yaml")
    assert team.new() == [], "another file too"
    team.edit("m/u.yaml", "operator: Exists", "operator: Exist")
    assert [path for _, path in team.new()] == ["spec.tolerations.1.operator"]


def test_a_finding_without_an_object_belongs_to_its_file(team: Team) -> None:
    team.write("m/broken.yaml", "a: [\n")
    team.run("m", "--write-baseline", "known.toml")
    assert team.new() == []
    (team.folder / "m" / "broken.yaml").rename(team.folder / "m" / "other.yaml")
    assert [code for code, _ in team.new()] == ["PTC001", "PTC905"]


def test_a_baseline_of_a_stream_covers_the_file(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(team.read("m/a.yaml").encode())))
    team.run("-", "--write-baseline", "known.toml")
    assert team.read("known.toml").count('file = "<stdin>"') == 2
    assert team.new() == []


def test_files_are_relative_to_the_baseline(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    (team.folder / "sub").mkdir()
    team.run("m", "--write-baseline", "sub/known.toml")
    assert 'file = "../m/a.yaml"' in team.read("sub/known.toml")
    monkeypatch.chdir(team.folder / "m")
    assert team.run(".", "--baseline", "../sub/known.toml").status == 0


@pytest.mark.parametrize("form", FORMATS)
def test_a_new_fault_beside_an_old_one_is_reported_in_every_format(form: str, team: Team) -> None:
    """It has the same code and the same object, and the old one has moved to another line."""
    team.edit("m/a.yaml", "    - name: side\n", "    - name: side\n      resourcess: {}\n")
    team.edit("m/a.yaml", "kind: Pod", "# moved\nkind: Pod")
    ran = team.run("m", "--baseline", "known.toml", "--format", form)
    assert ran.status == 1
    assert (
        ran.out.count("containers[1].resourcess")
        + ran.out.count("containers&#91;1&#93;.resourcess")
        >= 1
    )
    assert "containers[0]" not in ran.out
    assert "volumeMounts" not in ran.out
    assert "1 error, 0 warnings, 1 fixable with --unsafe-fixes, 2 in the baseline" in ran.err


def test_one_entry_covers_one_of_two_equal_findings(team: Team) -> None:
    team.edit(
        "m/a.yaml",
        "volumeMounts: [{name: none, mountPath: /a}]",
        "volumeMounts: [{name: none, mountPath: /a}, {name: none, mountPath: /b}]",
    )
    assert team.new() == [("PTC513", "spec.containers.1.volumeMounts.1.name")]


def test_the_same_object_in_another_file_is_not_covered(team: Team) -> None:
    """An overlay of production may have a fault that is known of another one."""
    (team.folder / "prod").mkdir()
    team.write("prod/a.yaml", team.read("m/a.yaml"))
    assert sorted(code for code, _ in team.new("m", "prod")) == ["PTC501", "PTC513"]


def test_a_fixed_finding_leaves_a_stale_entry(team: Team) -> None:
    team.edit("m/a.yaml", "resourcess", "resources")
    ran = team.run("m", "--baseline", "known.toml")
    assert ran.status == 0
    assert ran.out.startswith(
        "warning[PTC905 stale-baseline]: no finding for this entry: PTC501 of Pod/a at spec.containers[main].resourcess"
        "\n  --> known.toml:4:1\n"
    )
    assert "4 | [[finding]]\n  | ^^^^^^^^^^^\n" in ran.out
    assert team.run("m", "--baseline", "known.toml", "--fail-on", "warning").status == 0, (
        "it is of the stage style"
    )


def test_stale_entries_have_the_limit_of_findings(team: Team) -> None:
    team.write(
        "known.toml",
        "".join(f'[[finding]]\ncode = "PTC302"\nfile = "a{i}"\n' for i in range(2_100)),
    )
    ran = team.run("m", "--baseline", "known.toml", "--untrusted")
    assert ran.out.count("warning[PTC905") == 2_000
    assert "known.toml" in ran.out
    assert "the file has more than 2000 findings" in ran.out


def test_entries_of_files_that_were_not_read_are_not_stale(team: Team) -> None:
    team.write(
        "other.yaml",
        POD.format(name="b").replace("resourcess", "resources").replace("volumeM", "#"),
    )
    assert team.new("other.yaml") == []
    (team.folder / "m" / "a.yaml").unlink()
    assert team.new("other.yaml") == [("PTC905", ""), ("PTC905", "")], (
        "no run can read this file any more"
    )


@pytest.mark.parametrize("words", [("--select", "PTC3"), ("--ignore", "PTC501")])
def test_entries_of_rules_that_are_off_are_not_stale(words: tuple[str, str], team: Team) -> None:
    team.edit("m/a.yaml", "resourcess", "resources")
    assert team.new("m", *words) == []


def test_an_expired_entry_reports_its_finding_again(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.edit(
        "known.toml",
        'path = "spec.containers[main].resourcess"\n',
        'path = "spec.containers[main].resourcess"\nreason = "legacy"\nowner = "ml"\nexpires = 2027-03-31\n',
    )
    monkeypatch.setattr(baseline, "today", lambda: "2027-03-31")
    assert team.new() == []
    monkeypatch.setattr(baseline, "today", lambda: "2027-04-01")
    assert [code for code, _ in team.new()] == ["PTC501", "PTC906"]


def test_writing_again_keeps_what_people_wrote(team: Team) -> None:
    team.edit(
        "known.toml",
        '[side].volumeMounts[none].name"\n',
        '[side].volumeMounts[none].name"\nreason = "why \\\\ \\"so\\""\nowner = "ml"\nexpires = 2099-03-31\n',
    )
    team.edit("m/a.yaml", "resourcess", "resources")
    moved_items(team)
    before = team.read("known.toml")
    ran = team.run("m", "--write-baseline", "known.toml")
    assert ran.err == "ptcompile: 1 findings in known.toml: 0 new, 1 removed\n".replace(
        "1 findings", "1 finding"
    )
    head, _, rest = before.partition("[[finding]]\n")
    assert team.read("known.toml") == head + "[[finding]]\n" + rest.partition("[[finding]]\n")[2]


def test_writing_for_some_files_keeps_the_entries_of_others(team: Team) -> None:
    team.write("b.yaml", POD.format(name="b"))
    team.run("b.yaml", "--write-baseline", "known.toml")
    assert team.new("m", "b.yaml") == []


def test_the_configuration_names_the_baseline(team: Team) -> None:
    team.write("ptcompile.toml", 'baseline = "known.toml"\n')
    assert team.run("m").status == 0
    (team.folder / "sub").mkdir()
    team.write("sub/ptcompile.toml", 'baseline = "../../known.toml"\n')
    ran = team.run("m", "--config", "sub/ptcompile.toml")
    assert ran.status == 2
    assert "baseline: ../../known.toml leads out of" in ran.err


def test_add_ignore_leaves_known_findings_alone(team: Team) -> None:
    team.edit("m/a.yaml", "    - name: side\n", "    - name: side\n      resourcess: {}\n")
    team.run("m", "--baseline", "known.toml", "--add-ignore")
    assert team.read("m/a.yaml").count("ptcompile: ignore") == 1
    assert team.new() == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("a = ", ["Invalid value"]),
        ("version = 1", ["version: unknown key; entries begin with [[finding]]"]),
        (
            'finding = [{code = "PTC501", file = "a"}]',
            ["write each entry as a table that begins with a line [[finding]]"],
        ),
        ('[[finding]]\nfile = "a"', ["line 1: code is missing"]),
        ('\n[[finding]]\ncode = "PTC501"', ["line 2: file is missing"]),
        (
            '[[finding]]\ncode = "PTC000"\nfile = "a"',
            ["line 1: code: no rule has the code 'PTC000'"],
        ),
        ('[[finding]]\nfile = "\\u0000"', ["line 1: file: must not contain null characters"]),
        ('[[finding]]\ncode = 1\nfile = "a"', ["line 1: code: must be a string"]),
        (
            '[[finding]]\ncode = "PTC501"\nfile = "a"\nexpire = 1\n'
            '[[finding]]\ncode = "PTC501"\nfile = "a"\nexpires = "soon"',
            [
                "line 1: expire: unknown key; did you mean expires?",
                "line 5: expires: must be a date, such as 2027-03-31",
            ],
        ),
    ],
)
def test_a_baseline_that_cannot_be_read(text: str, sentences: list[str], team: Team) -> None:
    team.write("bad.toml", text)
    for option in ("--baseline", "--write-baseline"):
        ran = team.run("m", option, "bad.toml")
        assert (ran.status, ran.out) == (2, "")
        assert all(sentence in ran.err for sentence in sentences), ran.err
    assert team.read("bad.toml") == text


def test_a_missing_baseline_is_an_error(team: Team) -> None:
    assert (
        team.run("m", "--baseline", "none.toml").err
        == "ptcompile: none.toml: no such file or directory\n"
    )


@pytest.mark.parametrize("other", ["--fix", "--diff", "--add-ignore", "--statistics"])
def test_writing_a_baseline_does_nothing_else(other: str, team: Team) -> None:
    ran = team.run("m", "--write-baseline", "new.toml", other)
    assert ran.status == 2
    assert "--write-baseline cannot be combined with" in ran.err


def test_odd_names_survive(team: Team) -> None:
    name = 'ü "\\ \u2028😀.yaml'
    team.write(f"m/{name}", "a: [\n")
    team.run("m", "--write-baseline", "known.toml")
    assert team.new() == []
    assert team.read("known.toml").isascii() is False


def test_a_token_in_a_name_is_masked(team: Team) -> None:
    token = "ghp_" + "a1B2" * 9
    team.edit("m/a.yaml", "name: side", f"name: {token}")
    team.run("m", "--write-baseline", "known.toml")
    assert token not in team.read("known.toml")
    assert team.new() == []


def test_only_existing_iso_dates_are_dates() -> None:
    assert [
        dates.is_date(text) for text in ("2027-03-31", "2027-02-30", "20270331", "2027-3-1", "soon")
    ] == [
        True,
        False,
        False,
        False,
        False,
    ]
