"""`ptcompile platform` and `ptcompile requires`: output and exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ptcompile import lint
from tests.cli.running import here, process, spec

Capture = pytest.CaptureFixture[str]


def profile(folder: Path, body: str = "priorities: {low: -5}") -> Path:
    path = folder / "cluster.yaml"
    path.write_text(
        f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec:\n  {body}\n", encoding="utf-8"
    )
    return path


def test_platform_prints_the_objects_before_the_jobs(tmp_path: Path, capsys: Capture) -> None:
    job = spec(tmp_path, body="nodes: 2\ntarget: pytorchjob\nqueue: gold\npriorityClassName: high")
    ran = here(capsys, "platform", profile(tmp_path), job)
    assert (ran.status, ran.err) == (0, "")
    documents = list(yaml.safe_load_all(ran.out))
    kinds = [(document["kind"], document["metadata"]["name"]) for document in documents]
    assert kinds == [("PriorityClass", "high"), ("PriorityClass", "low"), ("LocalQueue", "gold")]
    assert "#   tag: latest\n" in ran.out
    assert "# operator   training-operator 1." in ran.out
    assert lint(ran.out).ok


def test_values_and_list_exclude_each_other(tmp_path: Path, capsys: Capture) -> None:
    where = profile(tmp_path, "operator: {image: {tag: v1}}")
    values = yaml.safe_load(here(capsys, "platform", where, "--values").out)
    assert values["image"]["tag"] == "v1"
    assert values["namespace"] == {"create": True, "name": "pytorch-operator"}
    lines = here(capsys, "platform", where, "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["kubernetes", "operator", "crd", "resource"]
    assert here(capsys, "platform", where, "--list", "--values").status == 2


def test_without_an_operator_there_are_no_values(tmp_path: Path, capsys: Capture) -> None:
    ran = here(
        capsys, "platform", profile(tmp_path), spec(tmp_path, body="target: pod"), "--values"
    )
    assert (ran.status, ran.out) == (0, "")
    assert "no Helm values" in ran.err


def test_requires(tmp_path: Path, capsys: Capture) -> None:
    job = spec(tmp_path, body="nodes: 2\nresources: {gpu: 1}\nserviceAccountName: me")
    assert here(capsys, "requires", job).out.splitlines()[1:] == [
        "object     ServiceAccount/me",
        "resource   nvidia.com/gpu  (on its nodes)",
        "pods       2 with 1 nvidia.com/gpu  (Job/train, 2 at once)",
        "taint      nvidia.com/gpu:NoSchedule  (tolerated by Job/train)",
    ]
    where = profile(tmp_path, "{gpu: {resourceName: amd.com/gpu}, versions: {volcano: '1.12'}}")
    out = here(capsys, "requires", job, "--target", "volcano", "--cluster", where).out
    assert "operator   volcano 1.12\n" in out
    assert "resource   amd.com/gpu  (on its nodes)\n" in out


def test_requirements_of_several_jobs_are_listed_once(tmp_path: Path, capsys: Capture) -> None:
    for name in ("a", "b"):
        spec(tmp_path / "jobs", f"{name}.yaml", "nodes: 2\ntarget: jobset", name)
    (tmp_path / "jobs" / "other.yaml").write_text("kind: ConfigMap\n", encoding="utf-8")
    ran = here(capsys, "requires", tmp_path / "jobs")
    assert [line.split()[0] for line in ran.out.splitlines()] == [
        "kubernetes",
        "operator",
        "crd",
        "pods",
        "pods",
    ]
    assert "skipped" in ran.err


@pytest.mark.parametrize("command", ["platform", "requires"])
def test_a_bad_spec_is_a_finding_at_its_line(command: str, tmp_path: Path, capsys: Capture) -> None:
    words = [profile(tmp_path)] if command == "platform" else []
    ran = here(capsys, command, *words, spec(tmp_path, body="nods: 1"))
    assert (ran.status, ran.out) == (1, "")
    assert "spec.yaml:7:" in ran.err


def test_a_bad_profile_is_a_finding_at_its_line(tmp_path: Path, capsys: Capture) -> None:
    where = profile(tmp_path, "defaults: {podTemplate: {spec: {hostname: x}}}")
    for words in (("platform", where), ("requires", spec(tmp_path), "--cluster", where)):
        ran = here(capsys, *words)
        assert (ran.status, ran.out) == (1, "")
        assert "spec.defaults.podTemplate: spec.hostname: the target names each pod" in ran.err
        assert "cluster.yaml:4:" in ran.err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("platform",), 2, "CLUSTER"),
        (("requires",), 2, "--help"),
        (("platform", "nowhere.yaml"), 2, "nowhere.yaml"),
        (("requires", "nowhere.yaml"), 2, "nowhere.yaml"),
        (("requires", "SPEC", "--target", "slurm"), 2, "pytorchjob"),
        (("requires", "EMPTY"), 1, "no TrainingJob"),
        (("platform", "PROFILE", "EMPTY"), 1, "no TrainingJob"),
        (("platform", "PROFILE", "PROFILE"), 1, "--cluster"),
    ],
)
def test_wrong_usage_is_reported(
    words: tuple[str, ...], status: int, message: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"SPEC": spec(tmp_path), "PROFILE": profile(tmp_path), "EMPTY": tmp_path / "empty"}
    ran = here(capsys, *(places.get(word, word) for word in words))
    assert (ran.status, ran.out) == (status, "")
    assert message in ran.err


def test_a_spec_is_read_from_standard_input(tmp_path: Path) -> None:
    ran = process("platform", profile(tmp_path), "-", stdin=spec(tmp_path).read_bytes())
    assert ran.status == 0
    assert yaml.safe_load(ran.out)["metadata"]["name"] == "low"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("platform", "CRDs, operators and their versions"),
        ("requires", "a line for each requirement"),
    ],
)
def test_help_explains_the_output(command: str, words: str, capsys: Capture) -> None:
    ran = here(capsys, command, "--help")
    assert ran.status == 0
    assert words in ran.out


def test_a_kubernetes_too_old_for_the_operator_is_a_warning(
    tmp_path: Path, capsys: Capture
) -> None:
    """The operator is that of the jobs, or the PyTorch operator if there is no job."""
    job = spec(tmp_path, body="target: trainjob\nnodes: 2")
    where = profile(tmp_path, "versions: {kubernetes: '1.28'}")
    warning = "trainer 2.3 requires Kubernetes 1.31 or newer, but the profile names 1.28"
    for words in (("platform", where, job), ("requires", job, "--cluster", where)):
        ran = here(capsys, *words)
        assert ran.status == 0
        assert ran.out
        assert f"{where}:4:" in ran.err
        assert warning in ran.err
    assert "requires" not in here(capsys, "platform", where).err
    assert (
        "training-operator"
        in here(capsys, "platform", profile(tmp_path, "versions: {kubernetes: '1.16'}")).err
    )
    assert "requires Kubernetes" not in here(capsys, "requires", job).err


def test_requires_prints_what_manifests_and_specs_need(tmp_path: Path, capsys: Capture) -> None:
    job = spec(tmp_path, body="nodes: 2\nserviceAccountName: me")
    pod = tmp_path / "pod.yaml"
    pod.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {serviceAccountName: you, containers: [{name: c, image: 'i:1'}]}\n"
    )
    lines = here(capsys, "requires", job, pod).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("object")] == [
        "ServiceAccount/me",
        "ServiceAccount/you",
    ]
    assert "ServiceAccount/you" in here(capsys, "requires", pod).out
    ran = here(capsys, "requires", pod, "--name", "x")
    assert (ran.status, ran.out) == (2, "")


def test_no_job_and_no_operator_have_no_values(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "platform", profile(tmp_path), spec(tmp_path, body="target: pod"))
    assert (ran.status, ran.err) == (0, "")
    assert yaml.safe_load(ran.out)["kind"] == "PriorityClass"


def test_a_dump_becomes_a_profile_that_compile_accepts(tmp_path: Path, capsys: Capture) -> None:
    dump = tmp_path / "dump.yaml"
    queue = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: gold}, spec: {clusterQueue: all}}"
    dump.write_text(f"apiVersion: v1\nkind: List\nitems: [{queue}]\n", encoding="utf-8")
    ran = here(capsys, "platform", "--from-dump", dump)
    assert (ran.status, ran.err) == (0, "")
    assert yaml.safe_load(ran.out)["spec"]["defaults"] == {"queue": "gold"}
    where = tmp_path / "cluster.yaml"
    where.write_text(ran.out, encoding="utf-8")
    compiled = here(capsys, "compile", spec(tmp_path, body="target: pod"), "--cluster", where)
    assert "kueue.x-k8s.io/queue-name: gold" in compiled.out


@pytest.mark.parametrize(
    "words", [(), ("cluster.yaml", "--from-dump", "dump.yaml"), ("--from-dump", "gone.yaml")]
)
def test_what_platform_cannot_read_is_a_mistake_of_usage(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = here(capsys, "platform", *words)
    assert (ran.status, ran.out) == (2, "")


def test_a_dump_with_a_mistake_has_no_profile(tmp_path: Path, capsys: Capture) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text("items: [", encoding="utf-8")
    ran = here(capsys, "platform", "--from-dump", dump)
    assert (ran.status, ran.out) == (1, "")
    assert "dump.yaml:1:9" in ran.err
