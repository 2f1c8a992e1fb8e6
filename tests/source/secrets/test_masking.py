"""Secrets are masked everywhere except in the manifest itself and in the variables for running the job."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import ptcompile
from ptcompile.diagnostics import Problem
from ptcompile.explainer.explanation import Explanation
from ptcompile.explainer.page import html
from ptcompile.report import FORMATS, renderer
from ptcompile.simulator.as_text import env_file, overview, pod_text
from ptcompile.simulator.equivalence import world_differences
from ptcompile.source.documents import from_data, read
from ptcompile.source.secrets import masking
from ptcompile.source.secrets.masking import masked_lines, masked_problem, masker
from ptcompile.source.secrets.scanner import secrets_of, without_secrets
from tests.cli.running import here, spec
from tests.making import gather, smallest

SECRET = (
    "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-and-much-longer-than-what-a-message-shows-of-a-value"  # noqa: S105
)
POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  containers:
  - name: c
    image: i
    args: ["--token=$(HF_TOKEN)", --plain={SECRET}]
    env:
    - name: HF_TOKEN
      value: {SECRET}
    - {{name: API_KEY, value: {SECRET}, valueFrom: {{secretKeyRef: {{name: a, key: b}}}}}}
    - name: URL
      value: https://$(HF_TOKEN)@host
"""

# each text has a finding at or next to a secret; the second string must still be in the report
TEXTS: dict[str, tuple[str, str]] = {
    "of a Pod": (POD, "may not be specified when"),
    "the line before": (POD.replace("    - {name", f"      valu: {SECRET}\n    - {{name"), "valu"),
    "flow": (POD.replace("value: hf", "value: &a hf").replace("https://", "*a , x: https://"), ""),
    "an alias": (POD.replace("metadata:", f"x: &t {SECRET}\nmetadata:").replace(f"value: {SECRET}", "value: *t"), "x"),
    "a block": (POD.replace(f"value: {SECRET}", f"value: |\n        -----BEGIN\n        {SECRET}\n      x: 1"), "x"),
    "a spec": (smallest(f"env: {{HF_TOKEN: {SECRET}}}\nnods: 4"), "unknown field"),
    "a spec's wrong type": (smallest("env:\n  HF_TOKEN: [1]\n  DB_PASSWORD: 987654321012"), "is not"),
    "a profile": (
        f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{defaults: {{env: {{A_KEY: {SECRET}, B: []}}}}}}\n",
        "B",
    ),
    "a Secret": (f"apiVersion: v1\nkind: Secret\ndata: {{a: 1, b: {SECRET}}}\nmetadata: {{}}\n", ""),
    "JSON": (
        json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "env": {"A_KEY": SECRET}, "spec": {}}
        ),
        "env",
    ),
    "JSON on lines": (json.dumps({"kind": "Pod", "x": [{"name": "A_KEY", "value": SECRET}]}, indent=1), ""),
    "no YAML": (f"kind: Pod\nenv:\n- name: HF_TOKEN\n  value: {SECRET}\n bad\n", "yaml-syntax"),
    "no YAML, its quote": (f'env:\n  A_TOKEN: "{SECRET}\n  b: 1\n', "yaml-syntax"),
    "no YAML, a block": (f"env:\n  A_TOKEN: |\n    -----\n    {SECRET}\n   bad\n", "yaml-syntax"),
    "a comment": (smallest(f"# HF_TOKEN={SECRET}\nnods: 4"), "unknown field"),
    "unquoted number": (smallest("env: {HF_TOKEN: 987654321012}"), 'is not'),
    "two documents": (f"a: [\n---\n{POD}", "yaml-syntax"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", TEXTS)
def test_no_report_holds_a_secret(name: str, form: str) -> None:
    text, message = TEXTS[name]
    report = ptcompile.lint(text, filename="f.yaml", unknown_kinds="error")
    assert report.diagnostics
    shown = renderer(form)(report.diagnostics, {"f.yaml": text})
    for part in (SECRET[:24], SECRET[-24:], "987654321012"):
        assert part not in shown
    assert message in shown


def test_other_values_are_shown() -> None:
    text = smallest("env: {LEVEL: 5, MODE: fast}\nnods: 4")
    report = ptcompile.lint(text, filename="f")
    shown = renderer("full")(report.diagnostics, {"f": text})
    assert "env: {LEVEL: 5, MODE: fast}" in shown
    assert "***" not in shown


def test_a_key_at_the_root_is_masked() -> None:
    (finding,) = ptcompile.lint(f"{smallest()}{SECRET[:39]}: 1\n").diagnostics
    assert finding.message == "***: unknown field"
    assert finding.path == ("***",)


def test_carets_stay_aligned_after_masking() -> None:
    text = smallest(f"env: {{HF_TOKEN: {SECRET}, B: 5}}")
    report = ptcompile.lint(text, filename="f")
    frame = renderer("full")(report.diagnostics, {"f": text}).splitlines()
    (marks,) = (line for line in frame if line.endswith("^"))
    source = frame[frame.index(marks) - 1]
    assert source[marks.index("^") : marks.rindex("^") + 1] == "5"


@pytest.mark.parametrize(
    ("secret", "text", "expected"),
    [
        ("secret1", "is 'secret1' here", "is '***' here"),
        ("a1B2", "is a1B2", "is ***"),
        ("abc", "abc", "abc"),  # too short to mask within text
        ("a'b\nc", '"a\'b\\nc"', '"***"'),
        ('say "x"', '{"a": "say \\"x\\""}', '{"a": "***"}'),
        (SECRET, f"'{SECRET[:50]}... is not", "'***... is not"),
        ("aaaa", "aaaaaaaaa", "******a"),
    ],
)
def test_a_secret_is_hidden_in_any_text(secret: str, text: str, expected: str) -> None:
    hide = masker([secret])
    assert (hide(text) if hide else text) == expected


def test_secrets_of_finds_every_form() -> None:
    data = {
        "kind": "List",
        "items": [
            {"kind": "Secret", "data": {"a": "1"}, "stringData": {"b": "2"}},
            {"kind": "ConfigMap", "data": {"a": "no", "B_KEY": "3"}},
            {
                "env": [
                    {"name": "password", "value": "4"},
                    {"name": "A", "value": "no"},
                    {"name": "B_KEY"},
                ]
            },
            {
                "env": {
                    "MY_SECRET": 5,
                    "OTHER": "no",
                    "C_TOKEN": {"secretKeyRef": {}},
                    "D_KEY": True,
                }
            },
            {"secretName": "no", "volumes": [{"name": "secrets", "secret": {"secretName": "no"}}]},
        ],
    }
    assert sorted(str(secret.value) for secret in secrets_of(data)) == ["1", "2", "3", "4", "5"]


def _json(world: ptcompile.World | ptcompile.Difference | Explanation) -> str:
    return json.dumps(world.to_dict())


def _in_full(world: ptcompile.World) -> str:
    return "".join(map(pod_text, world.pods))


@pytest.mark.parametrize("form", [overview, _json, _in_full])
def test_no_world_shows_a_secret(form: Callable[[ptcompile.World], str]) -> None:
    shown = form(ptcompile.simulate(POD))
    assert SECRET[:24] not in shown
    assert "https://***" in shown
    assert "HF_TOKEN" in shown
    assert ("--token=***" in shown) == (form is not overview), (
        "which shows no command line of such a Pod"
    )


def test_references_to_secrets_are_shown() -> None:
    world = ptcompile.simulate(
        smallest("env: {HF_TOKEN: {secretKeyRef: {name: hub, key: token}}}"), target="job"
    )
    assert "<secret:hub/token>" in overview(world)
    assert "secret:hub/token" in _json(world)


def test_the_difference_of_worlds_contains_no_secret() -> None:
    spec = smallest(f"nodes: 2\nargs: [--token=$(HF_TOKEN)]\nenv: {{HF_TOKEN: {SECRET}}}")
    one, other = (
        ptcompile.simulate(text, target="job")
        for text in (spec, spec.replace(SECRET, SECRET + "2"))
    )
    differences = world_differences(one, other)
    assert any("env HF_TOKEN" in line for line in differences)
    assert not any(SECRET[:24] in line for line in differences)


def test_a_secret_repeated_in_a_command_is_hidden_in_diff_and_explain() -> None:
    text = smallest(
        f"# {SECRET}\nargs: [--token={SECRET}]\nenv: {{HF_TOKEN: {SECRET}, MODE: fast}}"
    )
    difference = ptcompile.diff(
        text, text.replace(SECRET, f"{SECRET[::-1]}").replace("fast", "slow")
    )
    why = ptcompile.explain(text, filename="s.yaml")
    pages = html(gather(text))
    for shown in (
        difference.text(),
        difference.markdown(),
        _json(difference),
        why.text(),
        why.text("args"),
        _json(why),
        pages,
    ):
        assert SECRET not in shown
        assert SECRET[::-1] not in shown
    assert "--token=***" in difference.text()
    assert "fast -> slow" in difference.text()
    assert "--token=***" in why.text("args")
    assert "--token=***" in pages
    assert SECRET in str(why.manifests)


def test_manifests_and_env_files_hold_the_value() -> None:
    """They are used to run the job."""
    assert SECRET in ptcompile.compile(smallest(f"env: {{HF_TOKEN: {SECRET}}}")).yaml()
    assert f"HF_TOKEN={SECRET}\n" in env_file(ptcompile.simulate(POD).pods[0])
    assert ptcompile.simulate(POD).pods[0].env["HF_TOKEN"] == SECRET


def test_the_command_line_echoes_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = here(capsys, spec(tmp_path), "--set", f"spec.env.HF_TOKEN=[{SECRET}")
    assert ran.status == 2
    assert "spec.env.HF_TOKEN=***" in ran.err
    assert SECRET not in ran.err


@pytest.mark.parametrize(
    "line", ["HF_TOKEN: " + "x" * 50_000, "value" * 20_000, "_KEY" * 20_000, "a" * 100_000]
)
def test_long_lines_are_masked(line: str) -> None:
    assert len(masked_lines(f"# A_KEY\n{line}\n: [")) == 3


FALSE = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: ghcr.io/acme/train:2.1
  script: train.py
  nodes: 2
  resources: {cpu: 32, memory: 256Gi, gpu: 8}
  env: {SORT_KEY: train, USE_SECRETS: "false", MY_TOKEN: train}
"""


@pytest.mark.parametrize(
    "wrong", ["    hunter2", "[   hunter2", "  : hunter2", "'  hunter2", "hunter2"]
)
def test_a_line_of_a_secret_with_a_wrong_indentation_is_masked(wrong: str) -> None:
    text = f"env:\n    PASSWORD: |\n{wrong}\n    hunter3\n    NAME: shown\nbroken: [\n"
    *masked, name, last, _ = masked_lines(text)
    assert "hunter" not in "".join(masked)
    assert (name, last) == ("    NAME: shown", "broken: [")


def test_a_common_word_as_a_value_does_not_hide_names() -> None:
    world = ptcompile.simulate(FALSE)
    data = world.to_dict()
    assert {job["name"] for job in data["jobs"]} == {"train"}
    assert all(pod["name"].startswith("train") for pod in data["pods"])
    assert {pod["env"]["MY_TOKEN"] for pod in data["pods"]} == {"***"}
    assert {pod["env"]["SORT_KEY"] for pod in data["pods"]} == {"train"}
    shown = [line for line in overview(world).splitlines() if "***" in line.replace("*****", "")]
    assert shown
    assert all(line.split()[0].lstrip("+") == "MY_TOKEN" for line in shown)
    explained = json.dumps(ptcompile.explain(FALSE).to_dict())
    assert "train.py" in explained
    assert "***.py" not in explained
    assert "***-0" not in explained


def test_a_finding_at_a_possible_secret_hides_its_value() -> None:
    text = FALSE.replace("MY_TOKEN: train", "MY_TOKEN: 4096")
    shown = renderer("full")(ptcompile.lint(text, filename="f").diagnostics, {"f": text})
    assert "MY_TOKEN" in shown
    assert "4096" not in shown


def test_only_the_secret_part_of_a_line_is_masked() -> None:
    lines = masked_lines(
        "args: [train --hf-token a1B2c3D4 --lr 3, 'HF_TOKEN=a1B2 x']\nHF_TOKEN: a1B2c3D4 # x\n",
        fill="",
    )
    assert lines[:2] == [
        "args: [train --hf-token *** --lr 3, 'HF_TOKEN=*** x']",
        "HF_TOKEN: *** # x",
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("foo: 1  # HF_TOKEN=a1B2c3D4", "foo: 1  # HF_TOKEN= ***"),
        ("foo: 1 # password: a1B2c3D4", "foo: 1 # password: ***"),
        ('foo: "1" # curl -u a:summer x', 'foo: "1" # curl -u a: ***'),
        ("foo: 1  # a step", "foo: 1  # a step"),
        ("foo: a#b", "foo: a#b"),
        ("foo: 1  # SORT_KEY=train", "foo: 1  # SORT_KEY=train"),
    ],
)
def test_comments_after_secrets_are_masked_with_them(line: str, shown: str) -> None:
    assert masked_lines(f"a: 1\n{line}\nb: key\n")[1] == shown


@pytest.mark.parametrize(
    ("data", "masked"),
    [
        (
            {"args": ["curl", "-u", "me:summer", "https://x"]},
            {"args": ["curl", "-u", "me:***", "https://x"]},
        ),
        (
            {"args": ["/usr/bin/wandb", "login", "summer"]},
            {"args": ["/usr/bin/wandb", "login", "***"]},
        ),
        ({"args": ["echo", "-u", "me:summer"]}, {"args": ["echo", "-u", "me:summer"]}),
        (
            {"auths": {"x": {"auth": "bWU6cHc=", "email": "a"}}},
            {"auths": {"x": {"auth": "***", "email": "a"}}},
        ),
        ({"auth": "basic"}, {"auth": "basic"}),
        (
            {
                "env": {
                    "HF_TOKEN": {
                        "valueFrom": {"secretKeyRef": {"name": "a", "key": "b", "value": "summer"}}
                    }
                }
            },
            {
                "env": {
                    "HF_TOKEN": {
                        "valueFrom": {"secretKeyRef": {"name": "a", "key": "b", "value": "***"}}
                    }
                }
            },
        ),
        (
            {
                "env": {"A_TOKEN": "prefix-zQ7xK2mV9w", "B_TOKEN": "zQ7xK2mV9w"},
                "x": "--token a1B2 --plain zQ7xK2mV9w",
            },
            {"env": {"A_TOKEN": "***", "B_TOKEN": "***"}, "x": "--token *** --plain ***"},
        ),
        ({"labels": {SECRET[:40]: "x", "b": "c"}}, {"labels": {"***": "x", "b": "c"}}),
    ],
)
def test_a_neighbor_may_mark_a_secret(data: object, masked: object) -> None:
    assert without_secrets(data) == masked


@pytest.mark.parametrize(
    "text",
    [
        "a_PAT: x",
        "url: s3://key:s@b",
        "PA\u017fS: x",
        "to\u212aen: x",
        "credent\u0131als: x",
        "API-Key",
        "WebHook",
        "é DSN",
    ],
)
def test_a_file_that_may_contain_a_secret_is_searched(text: str) -> None:
    assert masking._may_contain_secrets(text)


@pytest.mark.parametrize(
    "text", ["image: i:1\nargs: [--data_path=/a]", "url: https://host/a/@b", "é: ü"]
)
def test_a_file_without_secrets_is_shown_unchanged(text: str) -> None:
    assert not masking._may_contain_secrets(text)
    assert masked_lines(text) == text.split("\n")


def test_all_short_secrets_at_a_place_are_masked() -> None:
    """Values that are too short to be searched everywhere are hidden in messages about their place."""
    data = {"kind": "Secret", "stringData": {"a": "k1", "b": "k2", "c": "k3", "d": "k4"}}
    (document,) = from_data(data).documents
    for path in (("stringData",), ("stringData", "e")):
        problem = Problem("wrong-type", path, "not k1, k2, k3 and k4", help="quote k2")
        masked, _ = masked_problem(problem, document, path)
        hidden = len(path) == 2
        assert masked.message == ("not ***, ***, *** and ***" if hidden else problem.message)
        assert masked.help == ("quote ***" if hidden else problem.help)


@pytest.mark.parametrize(
    ("path", "masked"),
    [
        (("spec", "env", "DB_PASSWORD"), True),
        (("spec", "env"), True),
        (("spec", "env", "OTHER"), True),  # next to it
        (("spec", "other"), True),  # two levels below the parent
        (("metadata", "name"), False),
        (("spec", "far", "other"), False),
    ],
)
def test_a_short_secret_is_masked_near_its_place(path: tuple[str, ...], masked: bool) -> None:
    """A text of three characters is searched for only where a message is likely to quote it."""
    data = {
        "metadata": {"name": "a"},
        "spec": {"env": {"DB_PASSWORD": "abc", "OTHER": "x"}, "far": {"other": {}}},
    }
    document = from_data([data]).documents[0]
    problem, _ = masked_problem(Problem("x", path, "it is abc now"), document, path)
    assert problem.message == ("it is *** now" if masked else "it is abc now")


def test_secrets_three_levels_below_are_not_near() -> None:
    data = {"spec": {"pod": {"env": {"DB_PASSWORD": "abc"}}, "x": 1}}
    document = from_data([data]).documents[0]
    for path, message in ((("spec", "x"), "it is abc"), (("spec", "pod", "x"), "it is ***")):
        assert masked_problem(Problem("x", path, "it is abc"), document, path)[0].message == message


_DOCUMENTS = (
    FALSE,
    "kind: Secret\ndata:\n  password: |\n    hunter2\n    hunter3\n",
    "# token: abcdefgh12345\nkind: Pod\nmetadata: {name: hunter2}\n# password:\n#   hunter2\n",
    "kind: Pod\nenv: {PASSWORD: hunter2, BROKEN: [}\n  more: hunter3\n",
    "\n\n# password:\n",
    "env: [{name: API_KEY, value: sk-0123456789abcdef0123}]\n",
)


def test_quoted_lines_are_masked_as_in_the_whole_text() -> None:
    draw = random.Random(7)  # noqa: S311 - a fixed seed
    for _ in range(200):
        separators = draw.choice(["---\n", "# password: x\n---\n", "--- # token: abcdefgh12345\n"])
        text = separators.join(draw.choices(_DOCUMENTS, k=4))
        lines = masked_lines(text)
        numbers = set(draw.sample(range(1, len(lines) + 1), 2))
        quoted = masked_lines(text, quoted=numbers)
        assert [quoted[number - 1] for number in numbers] == [
            lines[number - 1] for number in numbers
        ]


def test_a_text_that_has_been_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: 1\n---\npassword: hunter2\n"
    parsed, expected = read(text), masked_lines(text)
    unreadable = read(text.encode() + b"\xff")
    assert masked_lines(text, parsed=unreadable) == expected
    monkeypatch.setattr(masking, "read", None)
    assert masked_lines(text, parsed=parsed) == expected


def test_documents_without_a_quoted_line_are_left_empty() -> None:
    assert masked_lines("a: 1\n---\npassword: hunter2\n---\nb: 1\n", quoted={5}) == [
        "",
        "",
        "",
        "",
        "b: 1",
        "",
    ]
