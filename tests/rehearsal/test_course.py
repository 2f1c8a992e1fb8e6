"""The course of a rehearsal on a recorded back end, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import jsonschema
import pytest

import ptcompile
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.rehearsal import (
    Rehearsal,
    RehearsalError,
    RehearsalSettings,
    fault,
    rehearse,
    text,
    to_dict,
)
from ptcompile.rehearsal.backends import find_interpreter, find_torch
from ptcompile.rehearsal.course import Joined
from tests.making import smallest
from tests.rehearsal.jobs import RANGE, job
from tests.rehearsal.playing import Scripted, fake_python

if TYPE_CHECKING:
    from ptcompile.simulator.faults import FaultKind

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "rehearsal.schema.json").read_text(encoding="utf-8")
)


def play(
    tmp_path: Path,
    stage: Scripted,
    *faults: tuple[FaultKind, str],
    body: str = RANGE,
    target: str = "job",
    **settings: Any,
) -> Rehearsal:
    given = RehearsalSettings(fake_python(tmp_path), **{"limit": 15.0, **settings})
    rehearsal = rehearse(
        job(body, target),
        [fault(*one) for one in faults],
        settings=given,
        max_processes=1,
        opening=stage.opening(),
    )
    jsonschema.validate(to_dict(rehearsal), SCHEMA)
    return rehearsal


def test_all_pods_join_and_exit(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted())
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert [pod.exit for pod in rehearsal.seen] == [0, 0, 0]
    assert rehearsal.torch == "2.13.0+fake"
    assert "verdict      passed" in text(rehearsal)
    assert "0 train-0-*****" in text(rehearsal)


def test_a_recreated_pod_gets_another_address(tmp_path: Path) -> None:
    stage = Scripted()
    rehearsal = play(tmp_path, stage, ("kill", "1@0.2s,back=0.3s"))
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert [pod.starts for pod in rehearsal.seen] == [1, 2, 1]
    assert ("signal", 1, 9) in stage.events
    addresses = [event[3] for event in stage.events if event[:2] == ("start", 1)]
    assert len(set(addresses)) == 2


WHOLE = RANGE + "\nrunPolicy: {onPodFailure: RestartJob, backoffLimit: 3}"


@pytest.mark.parametrize("target", ["jobset", "trainjob", "volcano"])
@pytest.mark.parametrize("killed", [0, 1])
def test_an_operator_that_restarts_the_job_recreates_all_pods(
    tmp_path: Path, target: str, killed: int
) -> None:
    stage = Scripted()
    rehearsal = play(tmp_path, stage, ("kill", f"{killed}@0.2s,back=5s"), body=WHOLE, target=target)
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert "the operator recreates all pods" in rehearsal.verdict.claimed.why
    assert [pod.starts for pod in rehearsal.seen] == [2, 2, 2]
    signals = [event[1:] for event in stage.events if event[0] == "signal"]
    assert sorted(signals) == sorted((pod, 9 if pod == killed else 15) for pod in range(3))


def test_pods_are_recreated_without_the_one_that_stays_away(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted(), ("kill", "1@0.2s"), body=WHOLE, target="jobset")
    assert rehearsal.verdict.seen == "fewer", rehearsal.verdict
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert [(pod.starts, pod.lost) for pod in rehearsal.seen] == [(2, False), (1, True), (2, False)]


def test_a_role_that_restarts_together_is_recreated_together(tmp_path: Path) -> None:
    """A task's policy RestartTask recreates the workers, not the master. A lost pod has failed before it is evicted."""
    manifest = ptcompile.compile(smallest(WHOLE, "train"), target="volcano").manifests[0]
    worker = next(task for task in manifest["spec"]["tasks"] if task["name"] == "worker")
    worker["policies"] = [{"event": "PodFailed", "action": "RestartTask"}]
    stage = Scripted()
    settings = RehearsalSettings(fake_python(tmp_path), limit=15.0)
    simulated = ptcompile.simulate(manifest).jobs[0]
    rehearsal = rehearse(
        simulated,
        [fault("kill", "1@0.2s,back=5s")],
        settings=settings,
        max_processes=1,
        opening=stage.opening(),
    )
    assert [pod.starts for pod in rehearsal.seen] == [1, 2, 2]
    assert rehearsal.verdict.passed, rehearsal.verdict


def test_a_pod_that_the_operator_does_not_recreate_is_named(tmp_path: Path) -> None:
    rehearsal = play(
        tmp_path,
        Scripted(),
        ("kill", "1@0.2s,back=0.3s"),
        body=RANGE + "\nrunPolicy: {onDisruption: FailJob}",
    )
    assert "the faults recreate a lost pod, which the operator does not" in rehearsal.stand_ins


def test_a_lost_pod_leaves_fewer_nodes(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted(), ("drain", "2@0.2s"))
    assert rehearsal.verdict.seen == "fewer", rehearsal.verdict
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert [pod.lost for pod in rehearsal.seen] == [False, False, True]
    assert "lost" in text(rehearsal)


def test_the_loss_of_node_0_fails_the_job_as_predicted(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted({0: (1, 2)}), ("kill", "0@0.2s,back=0.3s"))
    assert (rehearsal.verdict.seen, rehearsal.verdict.claimed.end) == ("fail", "fail")
    assert not rehearsal.verdict.passed
    assert rehearsal.verdict.differences == ()
    assert "failed, as simulate predicts" in text(rehearsal)


def test_an_end_other_than_the_predicted_one_is_a_difference(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted({1: (0, 2)}), ("kill", "1@0.2s,back=0.3s"))
    assert rehearsal.verdict.claimed.end == "all"
    assert rehearsal.verdict.differences[0].startswith(
        "simulate predicts: all pods train to completion"
    )
    assert "failed: differs from what simulate predicts" in text(rehearsal)


def test_several_faults_list_the_predicted_steps(tmp_path: Path) -> None:
    faults: list[tuple[FaultKind, str]] = [("kill", "1@0.2s,back=1s"), ("kill", "2@0.2s,back=1s")]
    rehearsal = play(tmp_path, Scripted(), *faults)
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert "after 0 s: pod 1 lost\n" in text(rehearsal)
    assert "3 of 3 pods train\n" in text(rehearsal)


def test_pods_that_never_rejoin_end_at_the_time_limit(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Scripted(rejoin=False), ("kill", "1@0.1s,back=0.2s"), limit=2.0)
    assert rehearsal.limited
    assert rehearsal.verdict.seen == "fail"
    assert not rehearsal.verdict.passed
    assert "by the time limit" in text(rehearsal)
    assert [pod.exit for pod in rehearsal.seen] == [None, None, None]


def test_a_fail_file_makes_a_process_fail(tmp_path: Path) -> None:
    stage = Scripted()
    rehearsal = play(tmp_path, stage, ("fail-process", "1@0.1s"))
    assert ("fail", 1) in stage.events
    assert rehearsal.verdict.passed, rehearsal.verdict


def test_a_late_pod_is_held_and_times_are_scaled(tmp_path: Path) -> None:
    stage = Scripted()
    rehearsal = play(tmp_path, stage, ("late", "2=20s"), scale=10.0)
    assert [event[2] for event in stage.events if event[0] == "start"] == [0.0, 0.0, 2.0]
    assert "10 times shorter" in text(rehearsal)


def test_a_dns_lag_is_not_scaled(tmp_path: Path) -> None:
    """It races against the start of torchrun, whose time is the machine's."""

    class Watching(Scripted):
        """Collects when the other pods can resolve the endpoint."""

        resolved: ClassVar[list[float]] = []

        def exits(self) -> Iterable[tuple[int, int]]:
            if "train-0" in (self.folders[1].parent / "hosts1").read_text(encoding="utf-8"):
                self.resolved.append(self.clock.now - 1_700_000_000)
            return super().exits()

    stage = Watching()
    play(tmp_path, stage, ("dns-lag", "2s"), scale=10.0)
    assert 2 <= min(stage.resolved) < 3


def test_a_fault_after_success_is_not_injected(tmp_path: Path) -> None:
    class Quick(Scripted):
        """The pod 1 succeeds at once."""

        def exits(self) -> Iterable[tuple[int, int]]:
            if 1 in self.running and self.clock.now > 1_700_000_003:
                self.running.discard(1)
                self.ended.append((1, 0))
            return super().exits()

    stage = Quick()
    rehearsal = play(tmp_path, stage, ("kill", "1@6s,back=1s"), ("kill", "1@7s"))
    assert [why for _, why in rehearsal.skipped] == ["pod 1 had already succeeded"] * 2
    assert not [event for event in stage.events if event[0] == "signal"]
    assert rehearsal.seen[1].starts == 1
    assert "not injected pod 1 is killed 6 s after all pods train" in text(rehearsal)


def test_a_script_that_hangs_is_the_verdict(tmp_path: Path) -> None:
    class Hanging(Scripted):
        def exits(self) -> Iterable[tuple[int, int]]:
            return []

    (tmp_path / "train.py").touch()
    rehearsal = play(tmp_path, Hanging(), limit=2.0, script=str(tmp_path / "train.py"))
    assert "verdict      failed: pods 0, 1, 2 still ran at the time limit" in text(rehearsal)


def test_a_rendezvous_that_takes_the_limit_suggests_scale(tmp_path: Path) -> None:
    lines: list[str] = []
    settings = RehearsalSettings(fake_python(tmp_path), limit=2.0)
    stage = Scripted(rejoin=False)
    arguments: dict[str, Any] = {
        "max_processes": 1,
        "opening": stage.opening(),
        "progress": lines.append,
    }
    body = RANGE + "\nrunPolicy: {onPodFailure: RestartPod}"
    stuck = rehearse(job(body), [fault("dns-lag", "30s")], settings=settings, **arguments)
    hint = f"torchrun may wait {JOIN_TIMEOUT_SECONDS} s for missing pods: --scale 20 makes all waits 20 times shorter"
    assert f"hint: {hint}" in lines
    assert not stuck.hints or stuck.hints == (hint,)
    lines.clear()
    arguments["opening"] = Scripted().opening()
    rehearse(job(body), [fault("kill", "1@0.1s,back=0.1s")], settings=settings, **arguments)
    assert not any("--scale" in line for line in lines)


def test_a_missing_pod_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="no pod 3 to kill: 3 pods train"):
        play(tmp_path, Scripted(), ("kill", "3"))


def test_an_interpreter_without_torch_is_rejected(tmp_path: Path) -> None:
    none = tmp_path / "python"
    none.write_text("#!/bin/sh\nexit 1\n")
    none.chmod(0o755)
    with pytest.raises(RehearsalError, match="has no torch"):
        find_torch(str(none), None, ())
    with pytest.raises(RehearsalError, match="does not run"):
        find_torch(str(tmp_path / "nowhere"), None, ())
    with pytest.raises(RehearsalError, match="program nowhere not found"):
        find_interpreter("nowhere")


def test_the_replacement_of_the_image_is_named(tmp_path: Path) -> None:
    stage = Scripted()
    assert "torch on CPU with gloo replaces the image img:1" in play(tmp_path, stage).stand_ins
    stage = Scripted()
    stage.engine = "docker 20.10"
    own = play(tmp_path, stage).stand_ins
    assert own[0] == "gloo on CPU, in containers of docker 20.10, replaces GPUs and nodes"
    stage = Scripted()
    stage.engine = "docker 20.10"
    assert (
        "the image torch:cpu replaces img:1" in play(tmp_path, stage, image="torch:cpu").stand_ins
    )


def test_the_prediction_is_for_the_installed_torch(tmp_path: Path) -> None:
    body = RANGE + '\nenv: {TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "0"}'
    stage = Scripted()
    newest = play(tmp_path, stage, ("kill", "1@0.2s,back=0.3s"), body=body)
    assert newest.verdict.claimed.end == "fail"
    assert not newest.verdict.passed
    stage = Scripted()
    stage.torch = "2.2.2+cu121"
    old = play(tmp_path, stage, ("kill", "1@0.2s,back=0.3s"), body=body)
    assert old.verdict.claimed.end == "all"
    assert old.verdict.passed
    assert any(one.startswith("PyTorch 2.2 replaces 2.") for one in old.stand_ins)
    assert not any(one.startswith("PyTorch") for one in newest.stand_ins), (
        "2.13 does what the newest does"
    )


def test_secrets_in_errors_are_masked(tmp_path: Path) -> None:
    class Telling(Scripted):
        def start(self, pod: int, config: dict[str, Any]) -> None:
            Path(config["log"]).write_text(f"ValueError: bad token {config['env']['HF_TOKEN']}\n")
            super().start(pod, config)

    rehearsal = play(tmp_path, Telling(), body=RANGE + "\nenv: {HF_TOKEN: hf_abcdefghijkl}")
    assert "hf_abcdefghijkl" not in text(rehearsal) + json.dumps(to_dict(rehearsal))
    assert "ValueError: bad token ***" in text(rehearsal)


class Breaking(Scripted):
    """Each start of the pod 1 fails at once, with an error and a number in it."""

    def start(self, pod: int, config: dict[str, Any]) -> None:
        super().start(pod, config)
        if pod == 1:
            with Path(config["log"]).open("a", encoding="utf-8") as log:
                log.write(f"RuntimeError: no data at 10.77.0.{len(self.events)}\n")
            self.running.discard(1)
            self.ended.append((1, 1))


BROKEN = RANGE + "\nrunPolicy: {onPodFailure: RestartPod, backoffLimit: 12}"


def test_two_starts_that_end_alike_end_the_rehearsal(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Breaking(), body=BROKEN, limit=900.0)
    assert rehearsal.seen[1].starts == 2
    assert (
        "failed with status 1, twice with the same error (RuntimeError: no data"
        in rehearsal.events[-1][1]
    )
    assert "the rehearsal ends, the cluster would go on" in rehearsal.events[-1][1]
    assert not rehearsal.limited
    assert not rehearsal.verdict.passed


def test_a_pod_with_a_volume_may_get_further_with_each_start(tmp_path: Path) -> None:
    body = BROKEN + "\nvolumes: [{name: d, emptyDir: {}}]\nvolumeMounts: [{name: d, mountPath: /d}]"
    rehearsal = play(tmp_path, Breaking(), body=body, limit=900.0)
    assert rehearsal.seen[1].starts == 4
    assert "for the 4th time" in rehearsal.events[-1][1]


def progress_of(
    tmp_path: Path, stage: Scripted, body: str, *faults: Any, **settings: Any
) -> list[str]:
    lines: list[str] = []
    given = RehearsalSettings(fake_python(tmp_path), **{"limit": 15.0, **settings})
    rehearse(
        job(body),
        faults,
        settings=given,
        max_processes=1,
        opening=stage.opening(),
        progress=lines.append,
    )
    return [line.partition(" s  ")[2] for line in lines]


def test_the_progress_names_faults_and_the_first_error_with_its_meaning(tmp_path: Path) -> None:
    class Lacking(Breaking):
        def start(self, pod: int, config: dict[str, Any]) -> None:
            if pod == 1:
                with Path(config["log"]).open("a", encoding="utf-8") as log:
                    log.write("ModuleNotFoundError: No module named 'hf_abcdefghijkl'\n")
            super().start(pod, config)

    lines = progress_of(tmp_path, Scripted(), RANGE, fault("kill", "1@0.2s,back=0.3s"))
    assert "2 of 3 pods run, 2 have met, world 2; pod 1 is killed" in lines
    assert lines[-1].startswith("0 of 3 pods run")
    lines = progress_of(tmp_path, Lacking(), BROKEN + "\nenv: {HF_TOKEN: hf_abcdefghijkl}")
    assert any("; pod 1: ModuleNotFoundError: No module named '***': " in line for line in lines), (
        lines
    )


def test_the_progress_of_a_script_is_what_its_processes_have_joined(tmp_path: Path) -> None:
    class Hanging(Scripted):
        def exits(self) -> Iterable[tuple[int, int]]:
            return []

    (tmp_path / "train.py").touch()
    joined = {pod: Joined(pod, 3) for pod in range(3)}
    stage = Hanging()
    stage.training = joined
    script = str(tmp_path / "train.py")
    assert "3 of 3 pods run, 3 have met, world 3" in progress_of(
        tmp_path, stage, RANGE, script=script, limit=2.0
    )
    stage = Hanging()
    stage.training = joined
    rehearsal = play(tmp_path, stage, script=script, limit=2.0)
    assert [pod.joined for pod in rehearsal.seen] == [Joined(pod, 3) for pod in range(3)]
    stage = Hanging()
    stage.training = None
    assert progress_of(tmp_path, stage, RANGE, script=script, limit=2.0)[-1] == "3 of 3 pods run"


def test_pods_that_wait_for_one_another_for_good_end_the_rehearsal(tmp_path: Path) -> None:
    class Waiting(Scripted):
        def exits(self) -> Iterable[tuple[int, int]]:
            for folder in self.folders.values():
                (folder / "finish").unlink(missing_ok=True)
            return super().exits()

    rehearsal = play(tmp_path, Waiting(rejoin=False), ("kill", "1@0.1s,back=0.2s"), limit=900.0)
    assert not rehearsal.limited
    assert rehearsal.events[-1][1].startswith(
        "the pods still wait for one another: the rehearsal ends"
    )


def test_an_error_of_this_machine_says_nothing_about_the_prediction(tmp_path: Path) -> None:
    class Poor(Breaking):
        def start(self, pod: int, config: dict[str, Any]) -> None:
            with Path(config["log"]).open("a", encoding="utf-8") as log:
                log.write("OSError: [Errno 28] No space left on device\n")
            super().start(pod, config)

    rehearsal = play(tmp_path, Poor(), body=BROKEN, limit=900.0)
    assert rehearsal.verdict.differences == ()
    assert not rehearsal.verdict.passed
    assert "not decided: this machine ended the rehearsal: pod 0: OSError: [Errno 28]" in text(
        rehearsal
    )
