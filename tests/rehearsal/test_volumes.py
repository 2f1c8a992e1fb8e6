"""Volumes, shared memory, memory limits and grace periods of rehearsed pods."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.rehearsal import RehearsalError, RehearsalSettings, fault, rehearse, text, to_dict
from ptcompile.rehearsal.cast import cast
from ptcompile.rehearsal.cgroups import MemoryLimits
from ptcompile.rehearsal.volumes import SHM_BYTES, PodSurroundings, PodVolume
from tests.rehearsal.jobs import RANGE, job
from tests.rehearsal.playing import Scripted, fake_python
from tests.rehearsal.test_restarts import Crashing

CLAIM = RANGE + (
    "\nvolumes: [{name: ckpt, persistentVolumeClaim: {claimName: shared}}]"
    "\nvolumeMounts: [{name: ckpt, mountPath: /ckpt, subPath: runs/1}]"
)
SCRATCH = (
    RANGE
    + "\nvolumes: [{name: scratch, emptyDir: {}}]\nvolumeMounts: [{name: scratch, mountPath: /scratch}]"
)


def surroundings(body: str, *claims: str) -> PodSurroundings:
    company = cast(job(body), max_processes=1, mounts=dict.fromkeys(claims, "/x"))
    return company.actors[0].surroundings


def sentences(body: str, **mounts: str) -> str:
    return "\n".join(cast(job(body), max_processes=1, mounts=mounts).stand_ins)


def test_shared_memory_has_the_volume_s_size_or_that_of_a_pod_without_one() -> None:
    assert surroundings(RANGE + "\nsharedMemory: false").shm == SHM_BYTES == 64 << 20
    assert surroundings(RANGE + "\nsharedMemory: 2Gi").shm == 2 << 30
    limited = "\nsharedMemory: true\nresources: {memory: 3Gi}"
    assert surroundings(RANGE + limited).shm == 3 << 30, (
        "a memory volume without a size ends at the pod's limit"
    )


def test_memory_and_grace_come_from_the_pod() -> None:
    pod_surroundings = surroundings(
        RANGE + "\nresources: {memory: 3Gi}\nterminationGracePeriodSeconds: 10"
    )
    assert (pod_surroundings.memory, pod_surroundings.grace) == (3 << 30, 10.0)
    pod_surroundings = surroundings(RANGE)
    assert (pod_surroundings.memory, pod_surroundings.grace) == (None, 30.0)
    assert surroundings(RANGE + "\nterminationGracePeriodSeconds: 0").grace == 1.0


def test_only_claims_with_a_folder_and_empty_folders_are_mounted() -> None:
    assert surroundings(CLAIM).volumes == ()
    assert surroundings(CLAIM).absent == ("ckpt",)
    assert surroundings(CLAIM, "shared").volumes == (
        PodVolume("/ckpt", "ckpt", "shared", "runs/1", False),
    )
    assert surroundings(SCRATCH).volumes == (PodVolume("/scratch", "scratch", None, ".", False),)
    secret = (
        RANGE
        + "\nvolumes: [{name: s, secret: {secretName: a}}]\nvolumeMounts: [{name: s, mountPath: /s}]"
    )
    assert surroundings(secret).absent == ("s",)


def test_the_report_names_what_replaces_volumes() -> None:
    assert "volumes are absent: ckpt (--mount shared=DIR gives a claim a folder)" in sentences(
        CLAIM
    )
    assert "the folder /x replaces the claim shared, for all pods" in sentences(CLAIM, shared="/x")
    assert "empty folders without a size limit replace volumes: scratch" in sentences(SCRATCH)


def test_a_claim_that_no_pod_mounts_is_rejected() -> None:
    with pytest.raises(
        RehearsalError, match="no training pod mounts a claim other: the claims are shared"
    ):
        sentences(CLAIM, other="/x")
    with pytest.raises(RehearsalError, match="no training pod mounts one"):
        sentences(RANGE, other="/x")


class Writing(Crashing):
    """A back end whose pods write to their folders and volumes when they start, and note what they find there."""

    def __init__(self, crashes: dict[int, int]) -> None:
        super().__init__(crashes)
        self.files: dict[int, list[list[str]]] = {}

    def start(self, pod: int, config: dict[str, Any]) -> None:
        volumes = [str(Path(mount["top"], mount["below"])) for mount in config["mounts"]]
        places = [config["env"]["HOME"], config["env"]["TMPDIR"], *volumes]
        self.files.setdefault(pod, []).append(
            [str(Path(place, "mark").exists()) for place in places]
        )
        for place in places:
            Path(place, "mark").touch()
        super().start(pod, config)


def play(
    tmp_path: Path, stage: Scripted, body: str, *faults: str, target: str = "job", **settings: Any
) -> Any:
    given = RehearsalSettings(fake_python(tmp_path), limit=200.0, **settings)
    injected = [fault("kill", one) for one in faults]
    return rehearse(
        job(body, target), injected, settings=given, max_processes=1, opening=stage.opening()
    )


def test_a_recreated_pod_has_nothing_of_its_earlier_life_except_claims(tmp_path: Path) -> None:
    stage = Writing({})
    play(tmp_path, stage, SCRATCH, "1@0.2s,back=0.2s")
    assert stage.files[1] == [["False"] * 3] * 2
    (tmp_path / "shared").mkdir()
    stage = Writing({})
    rehearsal = play(
        tmp_path, stage, CLAIM, "1@0.2s,back=0.2s", mounts={"shared": str(tmp_path / "shared")}
    )
    assert stage.files[0] == [["False", "False", "False"]]
    assert stage.files[1] == [["False", "False", "True"]] * 2, "all pods share the folder"
    assert (tmp_path / "shared" / "runs" / "1" / "mark").exists()
    assert to_dict(rehearsal)["mounts"] == {"shared": str(tmp_path / "shared")}
    assert "replaces the claim shared" in text(rehearsal)
    assert [len(pod.rounds) > 1 for pod in rehearsal.seen] == [True] * 3, (
        "rounds of earlier lives are kept"
    )


def test_a_sub_path_that_leads_out_of_its_volume_ends_the_rehearsal(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "shared" / "runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(
        RehearsalError, match=r"subPath runs/1 leads out of .*/shared: the kubelet refuses"
    ):
        play(tmp_path, Scripted(), CLAIM, mounts={"shared": str(tmp_path / "shared")})
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["/srv/demo", "../../..", "a/b", "..", "with space", ""])
def test_a_volume_whose_name_the_server_refuses_ends_the_rehearsal(name: str) -> None:
    volume = {"name": name, "emptyDir": {}}
    mount = {"name": name, "mountPath": "/scratch"}
    container = {
        "name": "train",
        "image": "a/b:1",
        "command": ["torchrun", "a.py"],
        "volumeMounts": [mount],
    }
    spec = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": spec}
    world = ptcompile.simulate(manifest)
    with pytest.raises(RehearsalError, match=r"the API server refuses its pods: spec\."):
        cast(world.jobs[0], max_processes=1)


def test_a_container_that_starts_again_keeps_the_volumes_of_its_pod(tmp_path: Path) -> None:
    stage = Writing({1: 1})
    play(tmp_path, stage, SCRATCH + "\nrestartPolicy: OnFailure", target="pytorchjob")
    assert stage.files[1] == [["False"] * 3, ["False", "False", "True"]]


def test_a_pod_without_memory_is_named(tmp_path: Path) -> None:
    stage = Crashing({1: 1})
    stage.out_of_memory = {1}
    rehearsal = play(tmp_path, stage, RANGE)
    assert rehearsal.events[0][1].startswith(
        "pod 1 failed with status 1, out of memory (OOMKilled): "
    )


def test_the_pod_s_grace_period_ends_with_sigkill(tmp_path: Path) -> None:
    class Stubborn(Scripted):
        def signal(self, pod: int, number: int) -> None:
            if number == 15:
                self.events.append(("asked", pod, number, self.clock.now))
                return
            self.events.append(("killed", pod, number, self.clock.now))
            super().signal(pod, number)

    stage = Stubborn()
    given = RehearsalSettings(fake_python(tmp_path), limit=100.0)
    body = RANGE + "\nterminationGracePeriodSeconds: 7"
    rehearse(
        job(body),
        [fault("drain", "1@1s,back=1s")],
        settings=given,
        max_processes=1,
        opening=stage.opening(),
    )
    times = {event[0]: event[3] for event in stage.events if event[0] in ("asked", "killed")}
    assert 6.9 < times["killed"] - times["asked"] < 7.5


def test_the_cgroups_of_killed_rehearsals_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp" / "ptcompile-rehearsal-alive").mkdir(parents=True)
    groups = tmp_path / "groups"
    for name in ("ptcompile-rehearsal-alive-pod0", "ptcompile-rehearsal-dead-pod0", "other-pod0"):
        (groups / name).mkdir(parents=True)
    monkeypatch.setattr("ptcompile.rehearsal.cgroups._parents", lambda root: iter([str(groups)]))
    monkeypatch.setattr(MemoryLimits, "_works_below", lambda self, parent: True)
    MemoryLimits("a", str(tmp_path))
    assert sorted(path.name for path in groups.iterdir()) == [
        "other-pod0",
        "ptcompile-rehearsal-alive-pod0",
    ]


def test_memory_limits_use_the_nearest_cgroup_that_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.controllers").write_text("memory")
    own = tmp_path / "user" / "session"
    own.mkdir(parents=True)
    (tmp_path / "user" / "cgroup.subtree_control").write_text("cpu memory")
    (own / "cgroup.subtree_control").write_text("")
    monkeypatch.setattr(
        "ptcompile.rehearsal.cgroups._parents",
        lambda root: iter([str(own / "no"), str(own.parent)]),
    )
    limits = MemoryLimits("a", str(tmp_path))
    assert limits.works
    group = limits.group(3, 5 << 20)
    assert group == str(tmp_path / "user" / "a-pod3")
    assert {path.name: path.read_text() for path in Path(group).iterdir()} == {
        "memory.max": str(5 << 20), "memory.swap.max": "0", "memory.oom.group": "1",
    }  # fmt: skip
    assert not limits.ran_out(3)
    Path(group, "memory.events").write_text("oom 2\noom_kill 1\n")
    assert limits.ran_out(3)
    assert limits.group(4, None) is None
    monkeypatch.setattr("ptcompile.rehearsal.cgroups._parents", lambda root: iter(()))
    nothing = MemoryLimits("a", str(tmp_path))
    assert not nothing.works
    assert nothing.group(0, 5) is None
