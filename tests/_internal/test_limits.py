"""References that double: a finding at the place, and never more memory than the budget."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile._internal.limits import EXPANDED, Budget
from ptcompile.kinds.pods import ContainerView, PodView
from ptcompile.simulator.kubelet import command_line, environment, expand_vars
from ptcompile.simulator.launchers.command import container_invocation
from tests.conftest import ROOT
from tests.making import smallest

POD = PodView("p", "r", 0, {}, annotations={"long": "x" * (EXPANDED // 4)})
CHAIN = [("A0", "x" * 10), *((f"A{i}", f"$(A{i - 1})$(A{i - 1})") for i in range(1, 40))]
SCRIPT = "\n".join(["A0=xxxxxxxxxx", *(f"A{i}=$A{i - 1}$A{i - 1}" for i in range(1, 40))])
LAUNCH = "torchrun --nnodes=2 --rdzv-endpoint=$A39 t.py"


def pod(**container: Any) -> str:
    limits = {"nvidia.com/gpu": 1, "cpu": 1, "memory": "1Gi"}
    spec = {
        "containers": [
            {"name": "pytorch", "image": "a:1", "resources": {"limits": limits}, **container}
        ]
    }
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec})


def env_of(pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in pairs]


BOMBS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "variables": (pod(env=env_of(CHAIN)), ("spec", "containers", 0, "env", 13, "value")),
    "variables of a spec": (
        smallest("env: {" + ", ".join(f'{name}: "{value}"' for name, value in CHAIN) + "}"),
        ("spec", "env", "A13"),
    ),
    "script": (
        pod(command=["bash", "-c", f"{SCRIPT}\nexport A1 A39\n{LAUNCH}"]),
        ("spec", "containers", 0, "command", 2),
    ),
    "script, as args": (
        pod(command=["bash"], args=["-c", SCRIPT]),
        ("spec", "containers", 0, "args", 1),
    ),
    "words": (
        pod(env=env_of([("A", "x" * 200_000)]), command=["torchrun"], args=["t.py", "$(A)" * 1000]),
        ("spec", "containers", 0, "args", 1),
    ),
    "script within scripts": (
        pod(env=env_of([("A", "x" * 60_000)]), command=["bash", "-c", "bash -c '$A;$A'; " * 3000]),
        ("spec", "containers", 0, "command", 2),
    ),
    "field references": (
        json.dumps(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "a"},
                "spec": {
                    "template": {
                        "metadata": {"annotations": {"long": "x" * 100_000}},
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [
                                {
                                    "name": "a",
                                    "image": "a:1",
                                    "env": [
                                        {
                                            "name": f"A{i}",
                                            "valueFrom": {
                                                "fieldRef": {
                                                    "fieldPath": "metadata.annotations['long']"
                                                }
                                            },
                                        }
                                        for i in range(3000)
                                    ],
                                }
                            ],
                        },
                    }
                },
            }
        ),
        (
            "spec",
            "template",
            "spec",
            "containers",
            0,
            "env",
            0,
            "valueFrom",
            "fieldRef",
            "fieldPath",
        ),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_finding_at_its_place(name: str) -> None:
    text, place = BOMBS[name]
    for diagnostics in (ptcompile.lint(text).diagnostics, ptcompile.simulate(text).diagnostics):
        (too_large,) = [d for d in diagnostics if d.name == "too-large"]
        assert (too_large.path, too_large.severity, too_large.stage) == (place, "warning", "run")
        assert too_large.span is not None


_VERBS = """
    import json, resource, sys
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    import ptcompile
    from ptcompile.explainer.page import html
    from tests.making import gather
    from ptcompile.simulator.as_text import overview
    from ptcompile.simulator.as_text import pod_text
    text = sys.stdin.read()
    ptcompile.lint(text)
    world = ptcompile.simulate(text)
    overview(world)
    pod_text(world.pods[0])
    json.dumps(world.to_dict())
    ptcompile.diff(text, text.replace("x", "y")).text()
    repr(ptcompile.explain(text))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_no_verb_needs_more_than_half_a_gigabyte(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_VERBS)],
        input=BOMBS[name][0],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_exceeds_the_budget_stays_as_it_is_written() -> None:
    budget = Budget()
    env = {"A": "x" * (EXPANDED // 2)}
    assert len(expand_vars("$(A)", env, budget)) == len(env["A"])
    assert len(expand_vars("$(A)", env, budget)) == len(env["A"])
    assert budget.refused is None
    assert expand_vars("-$(A)", env, budget) == "-$(A)"
    assert expand_vars("$(B)$$", env, budget) == "$(B)$"
    assert budget.refused == "-$(A)"


def test_a_text_that_fills_the_budget_fits() -> None:
    budget = Budget()
    assert budget.allows(EXPANDED, "a")
    assert budget.allows(0, "b")
    assert not budget.allows(1, "c")
    assert not budget.allows(0, "d"), "so is every later one"
    assert budget.refused == "c"


def test_untrusted_input_lowers_the_limits_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    assert limits.limits() == limits.TRUSTED
    limits.lower()
    assert limits.limits() == limits.UNTRUSTED


def test_limits_are_those_of_the_documentation() -> None:
    """The table of SECURITY.md; `tests/test_project_files.py` compares the text."""
    table = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("<!-- limits -->")[2]
    rows = [
        [cell.strip().replace(",", "") for cell in line.split("|")[2:4]]
        for line in table.splitlines()[3:11]
    ]
    scale = [1 << 20, *[1] * 7]
    for column, values in enumerate((limits.TRUSTED, limits.UNTRUSTED)):
        file, lines, documents, findings, comments, roles, variants, page = (
            int(row[column].split()[0]) * unit for row, unit in zip(rows, scale, strict=True)
        )
        assert values == limits.Limits(
            file, lines, documents, findings, roles, variants, comments, page
        )
    assert "| 128 KiB each |" in table
    assert EXPANDED == 128 << 10


def test_the_whole_container_shares_one_budget() -> None:
    container = ContainerView("c", False, {"env": env_of(CHAIN), "args": ["$(A12)"] * 20})
    env = environment(container, POD)
    assert len(env["A12"]) == 10 << 12
    assert env["A39"] == "$(A38)$(A38)"
    _, args = command_line(container, env)
    assert [len(word) for word in args or ()] == [10 << 12] * 3 + [6] * 17


def test_a_script_reads_its_launcher_behind_what_is_too_long() -> None:
    invocation = container_invocation(["bash", "-c", f"{SCRIPT}\nexport A1 A39\n{LAUNCH}"], [], {})
    assert invocation.launcher == "torchrun"
    assert invocation.options["nnodes"] == "2"
    assert 0 < max(map(len, invocation.env.values())) < EXPANDED


def test_a_wide_world_of_long_values_is_folded() -> None:
    def shown(length: int) -> tuple[int, bool]:
        manifest = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "a"},
            "spec": {
                "completionMode": "Indexed",
                "completions": 3000,
                "parallelism": 3000,
                "template": {
                    "spec": {"containers": [{"name": "c", "env": env_of([("A", "x" * length)])}]}
                },
            },
        }
        data = ptcompile.simulate(manifest).to_dict()
        return len(data["pods"]), data["folded"]

    pods, is_folded = shown(100)
    assert pods == 3000
    assert not is_folded

    pods, is_folded = shown(60_000)
    assert pods == 10
    assert is_folded
