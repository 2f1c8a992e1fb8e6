"""`ptcompile simulate` in process: options, streams, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import ptcompile
from ptcompile.cli import build_parser
from ptcompile.cli.commands import simulate as simulate_command
from ptcompile.cli.files import UsageError
from ptcompile.operators.targets import TARGETS
from tests.simulator.worlds import SPEC, jobset, pytorchjob


def simulate(*words: str) -> int:
    """Run the command with its own parser."""
    return simulate_command.run(build_parser("simulate").parse_args(words))


@pytest.fixture
def job(tmp_path: Path) -> str:
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(pytorchjob()), encoding="utf-8")
    return str(path)


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


def test_the_overview_begins_with_the_job(
    job: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(job) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"PyTorchJob/llama  (kubeflow.org/v1, namespace research)\n")
    assert err == b""


def test_json_has_all_pods(job: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert simulate(job, "--format", "json") == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert (data["podsTotal"], [p["name"] for p in data["pods"]][:2]) == (
        4,
        ["llama-master-0", "llama-worker-0"],
    )


def test_one_pod_is_printed_alone(job: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert simulate(job, "--pod", "llama-worker-2") == 0
    assert capfdbinary.readouterr().out.startswith(b"Pod/llama-worker-2  ")


def test_json_of_one_pod_has_its_variables(
    job: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(job, "--pod", "llama-worker-2", "--format", "json") == 0
    assert json.loads(capfdbinary.readouterr().out)["env"]["RANK"] == "3"


def test_an_env_file_has_the_variables_of_a_pod(
    job: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(job, "--env-file", "llama-worker-2") == 0
    assert b"\nRANK=3\n" in capfdbinary.readouterr().out


@pytest.mark.parametrize(
    ("form", "start"), [("mermaid", b"flowchart LR\n"), ("svg", b"<svg xmlns=")]
)
def test_a_graph_is_printed_in_each_form(
    form: str, start: bytes, job: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(job, "--graph", form) == 0
    assert capfdbinary.readouterr().out.startswith(start)


def test_a_spec_is_simulated_for_every_target_or_one(
    spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(spec, "--target", "all") == 0
    assert capfdbinary.readouterr().out.count(b", target ") == len(TARGETS) - 1  # a Pod is one node
    for words in ((), ("--target", "volcano")):
        assert simulate(spec, *words) == 0
        assert capfdbinary.readouterr().out.count(b", target ") == 1


def test_the_default_is_the_target_that_compile_chooses(
    spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(spec) == 0
    simulated = capfdbinary.readouterr().out.decode()
    kind = ptcompile.compile(Path(spec)).manifests[-1]["kind"]
    assert simulated.startswith(f"{kind}/")


def test_overrides_change_the_simulated_job(
    spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(spec, "--target", "job", "--set", "spec.nodes=7", "--name", "other") == 0
    out = capfdbinary.readouterr().out.decode()
    assert out.startswith("Job/other  ")
    assert "\n  pods         7\n" in out


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("spec.nodess=7", "spec.nodess: unknown field in spec"),
        ("spec.args[9]=x", "spec.args: no item 9 to set"),
        ("spec.nodes=many", "spec.nodes: 'many' is not"),
    ],
)
def test_a_mistake_in_an_option_is_shown_in_the_option(
    option: str, message: str, spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(spec, "--set", option) == 1
    err = capfdbinary.readouterr().err.decode()
    assert message in err
    assert "--> --set:1:" in err


def test_a_name_is_of_one_job(
    tmp_path: Path, spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    two = tmp_path / "two.yaml"
    two.write_text(f"{SPEC}---\n{SPEC.replace('name: train', 'name: other')}", encoding="utf-8")
    assert simulate(str(two), "--name", "x") == 1
    assert "'x' names one job, and this is a second one" in capfdbinary.readouterr().err.decode()


def test_files_are_one_stream(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"completionMode": "Indexed", "completions": 1, "template": {"spec": {
            "subdomain": "s", "containers": [{"name": "c", "image": "i"}]}}},
    }  # fmt: skip
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "selector": {"job-name": "j"}},
    }  # fmt: skip
    for name, data in (("job", job), ("service", service)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    assert simulate(str(tmp_path)) == 0
    assert b"j-0.s.default.svc.cluster.local" in capfdbinary.readouterr().out
    assert simulate(str(tmp_path / "job.yaml")) == 0
    assert b"j-0.s.default.svc.cluster.local" not in capfdbinary.readouterr().out
    assert simulate(str(tmp_path / "job.yaml"), "--with", str(tmp_path / "service.yaml")) == 0
    assert b"j-0.s.default.svc.cluster.local" in capfdbinary.readouterr().out


def test_a_spec_with_mistakes_prints_only_findings(
    spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path(spec).write_text(SPEC.replace("script", "scripd"), encoding="utf-8")
    assert simulate(spec) == 1
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert b"scripd" in err


def test_jobs_that_compile_are_shown_despite_errors(
    job: str, spec: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path(spec).write_text("kind: [", encoding="utf-8")
    assert simulate(job, spec) == 1
    out, err = capfdbinary.readouterr()
    assert b"PyTorchJob/llama" in out
    assert b"spec.yaml" in err


def test_an_unreadable_file_is_named_besides_the_others(
    job: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert simulate(job, job + ".not") == 2
    out, err = capfdbinary.readouterr()
    assert b"PyTorchJob/llama" in out
    assert b"no such file" in err


def test_objects_that_create_no_pods_are_named(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    assert simulate(str(path)) == 0
    assert capfdbinary.readouterr().out == b"no object here creates pods\n"


def test_a_bad_profile_prints_no_world(
    job: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("kind: ClusterProfile\nspec: {what: 1}\n", encoding="utf-8")
    assert simulate(job, "--cluster", str(path)) == 1
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no file given"),
        (["{job}", "--target", "nothing"], "no target 'nothing'"),
        (
            ["{job}", "--pod", "llama-worker-9"],
            "no pod 'llama-worker-9'; did you mean llama-worker-",
        ),
        (["{job}", "--env-file", "x"], "no pod 'x'; the pods are llama-master-0, llama-worker-0"),
        (["{job}", "--graph", "svg", "--format", "json"], "--format json does not apply to"),
        (["{job}", "--with", "gone.yaml"], "gone.yaml: no such file"),
    ],
)
def test_wrong_usage_is_reported(words: list[str], message: str, job: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate(*(word.format(job=job) for word in words))


def test_random_parts_are_marked(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "js.yaml"
    path.write_text(yaml.safe_dump(jobset(["torchrun", "t.py"])), encoding="utf-8")
    assert simulate(str(path), "--pod", "js-workers-1-0-*****") == 0
    assert b"Pod/js-workers-1-0-*****  (workers 2 of JobSet/js" in capfdbinary.readouterr().out


@pytest.mark.parametrize(("count", "more"), [(6, ""), (7, " ...")])
def test_six_pods_are_named(count: int, more: str, tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{0}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
    path = tmp_path / "pods.yaml"
    path.write_text("---\n".join(pod.format(number) for number in range(count)), encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        simulate(str(path), "--pod", "zzzzzz")
    assert str(raised.value) == f"no pod 'zzzzzz'; the pods are p0, p1, p2, p3, p4, p5{more}"


def test_nothing_that_makes_pods_has_no_pod(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no pod 'x': no object here creates pods"):
        simulate(str(path), "--pod", "x")


def test_stored_shows_each_file_with_the_objects_of_the_others(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A LimitRange beside a Pod sets the resources that the server stores; it changes nothing in its own file."""
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'i:1'}]}\n"
    limits = (
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\n"
        "spec: {limits: [{type: Container, defaultRequest: {cpu: 250m}}]}\n"
    )
    paths = tmp_path / "pod.yaml", tmp_path / "limits.yaml"
    for path, text in zip(paths, (pod, limits), strict=True):
        path.write_text(text, encoding="utf-8")
    assert simulate("--stored", *map(str, paths)) == 0
    stored = list(yaml.safe_load_all(capfdbinary.readouterr().out))
    assert [item["kind"] for item in stored] == ["Pod", "LimitRange"]
    assert stored[0]["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "250m"}}
    assert simulate("--stored", str(paths[0])) == 0
    (alone,) = yaml.safe_load_all(capfdbinary.readouterr().out)
    assert not alone["spec"]["containers"][0].get("resources")
