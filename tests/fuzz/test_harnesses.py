"""Harnesses of `python -m fuzz`: past findings, a short run of each, and that they can fail."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from itertools import count, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import ptcompile
from fuzz import engine, guard, harness, schemas, verbs
from fuzz.harnesses import HARNESSES, SHARES
from fuzz.mutate import MAX_SIZE, _anchors, _chain, _stream, mutate
from fuzz.seeds import seeds
from ptcompile import cli
from ptcompile._internal import limits
from ptcompile.api import fix as fixing
from ptcompile.cli import files
from tests.conftest import thinned
from tests.making import smallest, training_runtime

PROFILE = "---\napiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {accelerators: !x {}}\n"
MOUNT = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  volumes: [{name: v, emptyDir: {}}]
  containers: [{name: c, image: i, volumeMounts: [{name: [v], mountPath: /v}, {name: {v: 1}}]}]
"""

CONDITION = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec:\n  podFailurePolicy:\n"
    "    rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: []}]}]\n"
)

TRAINJOB = """\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: r}
spec: {runtimeRef: {name: r, kind: TrainingRuntime}, trainer: {numNodes: 2, numProcPerNode: 8}}
"""


def _of_runtime(job: str) -> tuple[str, str]:
    """Return a harness's name and its input: a TrainJob and its runtime, whose Job has this spec."""
    return "verbs", training_runtime("r", job) + TRAINJOB


def _of_containers(containers: str) -> tuple[str, str]:
    pods = f"{{spec: {{restartPolicy: Never, containers: {containers}}}}}"
    return _of_runtime(f"{{completionMode: Indexed, backoffLimit: 0, template: {pods}}}")


def _of_node(fields: str) -> tuple[str, str]:
    words = "torchrun, --rdzv-conf=timeout=9, t.py"
    return _of_containers(f"[{{name: node, image: i, command: [{words}], {fields}}}]")


SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: {}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: x}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""
COLON = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: "::v"}]}], volumes: [{name: v}]}
"""

QUEUE = 'apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: a, namespace: d}\nspec: "\\u202e"\n'

FOUND: dict[str, tuple[str, str]] = {
    # harness, input; each once made it raise or break a guarantee
    "a warning about a profile's text was taken for a refusal, without a word": (
        "compile",
        smallest() + PROFILE,
    ),
    "a Job whose pod condition has a list for its status": ("lint", CONDITION),
    "a picture of a Pod whose mounts have lists for names": ("lint", MOUNT),
    "import: a runtime whose variable has a mapping for its name": _of_node("env: [{name: {}}]"),
    "import: a runtime with a number for a variable": _of_node("env: [1.5, {name: A, value: x}]"),
    "import: a runtime with a mapping for its variables": _of_node("env: {value: x}"),
    "import: a runtime with a number for a mountPath": _of_node(
        "volumeMounts: [{name: v, mountPath: 1.5}]"
    ),
    "import: a runtime with a text for its containers": _of_containers('"x"'),
    "import: a runtime with a number for the spec of its pods": _of_runtime("1.5"),
    "import: a runtime whose pods have no spec": _of_runtime("null"),
    "import: a Service with a mapping for its name": ("verbs", SERVICE),
    "import: a path in a list on one line that begins with a colon": ("verbs", COLON),
    "platform: a queue whose spec turns the direction of the text": ("dumps", QUEUE),
    "admit: a file that is only a comment": ("verbs", "# nothing\n"),
    "requires: a document with a list for its kind": ("verbs", f"kind: []\n---\n{SERVICE}"),
}


@pytest.mark.parametrize("name", FOUND)
def test_past_findings_stay_fixed(name: str) -> None:
    which, text = FOUND[name]
    if which == "lint":
        harness.world(ptcompile.simulate(text))
    for tail in thinned(range(64), 4):  # the bytes of an input choose its options
        HARNESSES[which](f"{text}# {tail}\n".encode())


def test_a_warning_about_a_profile_does_not_stop_the_job() -> None:
    result = ptcompile.compile(smallest(), cluster=PROFILE)
    assert result.ok
    assert len(result.manifests) > 0
    assert [diagnostic.name for diagnostic in result.diagnostics] == ["unsupported-yaml"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from jsonschema, for an unknown $schema
@pytest.mark.parametrize("name", HARNESSES)
def test_a_short_run_finds_no_crash(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        guard, "MAX_SECONDS", 5.0
    )  # garbage collection is slow late in a full test run
    start = seeds(name, [])[::40]
    lines: list[str] = []
    run = guard.Guard(HARNESSES[name])
    crashes = engine.blind(run, start, runs=30, seed=4, crashes=tmp_path, tell=lines.append)
    assert (crashes, lines) == (0, [])
    assert run.executions == 30 + len(start)


def test_an_untrusted_input_leaves_the_process_trusted() -> None:
    with patch.object(
        files, "enter_untrusted_mode", side_effect=files.enter_untrusted_mode
    ) as asked:
        for tail in range(64):
            HARNESSES["files"](f"kind: Pod  # {tail}\n".encode())
    assert asked.called
    assert not files.is_untrusted()
    assert limits.limits() == limits.TRUSTED


def test_a_crash_of_a_command_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_words: list[str]) -> int:
        raise ZeroDivisionError

    def reported(_words: list[str]) -> int:
        return files.report_error(ZeroDivisionError("on purpose"))

    monkeypatch.setattr(cli, "main", crash)
    with pytest.raises(ZeroDivisionError):
        HARNESSES["files"](b"kind: Pod\n")
    monkeypatch.setattr(cli, "main", reported)
    with pytest.raises(AssertionError, match="on purpose"):
        HARNESSES["files"](b"kind: Pod\n")


def test_a_fix_that_a_second_run_changes_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    start = b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n"

    def fix(content: bytes, **options: Any) -> fixing.Fixed:
        report = ptcompile.lint(content, filename=options["filename"])
        return fixing.Fixed(content + b"# x\n", report.diagnostics[:1], (), report)

    monkeypatch.setattr(fixing, "fix", fix)
    with pytest.raises(AssertionError, match="a second run changes more"):
        verbs._fix(start)


def test_every_harness_has_a_share() -> None:
    assert SHARES.keys() == HARNESSES.keys()
    assert sum(SHARES.values()) == 12


def test_an_input_that_ends_the_process_is_kept() -> None:
    current = guard.shared()
    guard.Guard(lambda _: None, current)(b"the last")
    assert guard.last_of(current) == b"the last"


def test_memory_is_limited(tmp_path: Path) -> None:
    """In a separate process, a harness that exhausts memory counts as a crash, and its input is kept."""
    code = (
        "from fuzz import engine, guard; from pathlib import Path; guard.limit_memory();"
        "run = guard.Guard(lambda data: bytearray(1 << 31));"
        f"print(engine.blind(run, [b'x'], runs=0, seed=1, crashes=Path({str(tmp_path)!r}), tell=print))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "MemoryError" in done.stdout
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"x"]


@pytest.mark.parametrize("step", [_chain, _stream, _anchors], ids=lambda step: step.__name__)
def test_grammar_steps_make_readable_documents(step: Callable[[str, random.Random], str]) -> None:
    start = [data.decode() for data in thinned(seeds("lint", [])[:40], 2)]
    made = [step(text, random.Random(i)) for i, text in enumerate(start)]  # noqa: S311
    assert made != start
    assert sum(bool(ptcompile.lint(one).documents) for one in made) > len(made) / 2


def test_a_crash_is_kept_once_per_location(tmp_path: Path) -> None:
    def broken(data: bytes) -> None:
        assert b":" not in data, "a colon"

    lines: list[str] = []
    crashes = engine.blind(
        guard.Guard(broken), [b"a: b"], runs=50, seed=1, crashes=tmp_path, tell=lines.append
    )
    assert crashes == len(lines) == len(list(tmp_path.iterdir())) == 1
    assert b":" in next(tmp_path.iterdir()).read_bytes()
    assert "a colon" in lines[0]


def test_a_hang_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_data: bytes) -> None:
        try:
            while True:
                pass
        except Exception:  # noqa: S110 - what the code under test may do
            pass

    monkeypatch.setattr(guard, "MAX_SECONDS", 0.05)
    lines: list[str] = []
    assert (
        engine.blind(guard.Guard(slow), [b"x"], runs=0, seed=1, crashes=tmp_path, tell=lines.append)
        == 1
    )
    assert lines[0].startswith("HangError")


def test_a_hang_in_native_code_is_killed_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_WALL", 0.5)
    current = guard.shared()
    child = os.fork()
    if child == 0:
        guard.Guard(lambda _: deque(repeat(None), 0).clear(), current)(
            b"hangs"
        )  # native code delays the signal
        os._exit(0)
    assert guard.watch(child, current) is None
    assert (guard.last_of(current), guard.count_of(current)) == (b"hangs", 1)


def test_a_run_resumes_after_the_input_that_ended_its_process(tmp_path: Path) -> None:
    def inputs(begin: int) -> list[bytes]:
        out: list[bytes] = []
        run = guard.Guard(out.append, None, begin)
        engine.blind(
            run,
            [b"a: 1", b"b: 2"],
            runs=10,
            seed=3,
            crashes=tmp_path,
            tell=print,
            make=schemas.stream,
        )
        return out

    assert len(inputs(0)) == 12
    assert inputs(0)[5:] == inputs(5)


def test_a_memory_hog_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    run = guard.Guard(lambda _: None)
    sizes = iter([guard.MAX_MEMORY, guard.MAX_MEMORY + 1])
    monkeypatch.setattr(guard.Guard, "grown", lambda _: next(sizes))
    monkeypatch.setattr(guard, "peak", count().__next__)
    run(b"")
    with pytest.raises(guard.MemoryHogError):
        run(b"")


def test_mutations_are_varied_small_and_reproducible() -> None:
    start = seeds("lint", [])

    def mutations() -> list[bytes]:
        return [mutate(start[i % 40], random.Random(i), start) for i in range(300)]  # noqa: S311

    one = mutations()
    other = mutations()
    assert one == other
    assert len(set(one)) > 280
    assert max(map(len, one)) <= MAX_SIZE
    read = sum(bool(ptcompile.lint(data).documents) for data in one)
    assert read > 100, "most of them get past the reader"
