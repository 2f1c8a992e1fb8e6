"""`ptcompile [compile]`: which files are read, what is written where, and that all of it is written or nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from tests.cli.running import ROOT, here, process, spec
from tests.making import smallest

Capture = pytest.CaptureFixture[str]
EXAMPLE = ROOT / "examples" / "mnist" / "spec.yaml"


def kinds(out: str) -> list[str]:
    return [document["kind"] for document in yaml.safe_load_all(out)]


@pytest.mark.parametrize("words", [(), ("compile",)])
def test_compile_is_the_default(words: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, *words, spec(tmp_path))
    assert (ran.status, kinds(ran.out), ran.err) == (0, ["Pod"], "")
    assert ran.out == ptcompile.compile(smallest()).yaml()


def test_options_may_come_first(tmp_path: Path, capsys: Capture) -> None:
    assert kinds(here(capsys, "--target", "pytorchjob", spec(tmp_path)).out) == ["PyTorchJob"]


def test_several_files_compile_in_the_order_given(tmp_path: Path, capsys: Capture) -> None:
    b, a = spec(tmp_path, "b.yaml", job="b"), spec(tmp_path, "a.yaml", job="a")
    ran = here(capsys, b, a)
    assert [document["metadata"]["name"] for document in yaml.safe_load_all(ran.out)] == ["b", "a"]


def test_a_directory_yields_its_manifests_in_order_at_any_depth(
    tmp_path: Path, capsys: Capture
) -> None:
    for name in ("b.yaml", "a.yml", "in/c.yaml", ".git/d.yaml"):
        spec(tmp_path, name, job=Path(name).stem)
    (tmp_path / "readme.md").write_text("no", encoding="utf-8")
    ran = here(capsys, tmp_path)
    assert sorted(document["metadata"]["name"] for document in yaml.safe_load_all(ran.out)) == [
        "a",
        "b",
        "c",
    ]
    assert here(capsys, tmp_path).out == ran.out


def test_unknown_documents_of_a_directory_are_counted(tmp_path: Path, capsys: Capture) -> None:
    spec(tmp_path)
    (tmp_path / "cluster.yaml").write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\n", encoding="utf-8"
    )
    ran = here(capsys, tmp_path)
    assert (ran.status, kinds(ran.out)) == (0, ["Pod"])
    assert "cluster.yaml" in ran.err


def test_every_document_of_a_stream_is_compiled(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "---\n" + smallest(name="a") + "---\n---\n" + smallest("nodes: 2", name="b"),
        encoding="utf-8",
    )
    assert kinds(here(capsys, path).out) == ["Pod", "Service", "Job"]


def test_json_is_yaml_too(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(yaml.safe_load(smallest()), indent=1), encoding="utf-8")
    assert kinds(here(capsys, path).out) == ["Pod"]


def test_several_manifests_are_one_list_in_json(tmp_path: Path, capsys: Capture) -> None:
    manifest = json.loads(here(capsys, "--format", "json", spec(tmp_path)).out)
    assert manifest["kind"] == "Pod"
    many = json.loads(here(capsys, "--format", "json", spec(tmp_path, body="nodes: 2")).out)
    assert (many["kind"], [item["kind"] for item in many["items"]]) == ("List", ["Service", "Job"])


SETS = [
    (["spec.nodes=4"], lambda job: job["spec"]["completions"] == 4),
    (["spec.elastic.nnodes=2:4"], lambda job: job["spec"]["completions"] == 4),
    (["spec.nodes=2", "spec.nodes=3"], lambda job: job["spec"]["completions"] == 3),
    (["metadata.name=other", "spec.nodes=2"], lambda job: job["metadata"]["name"] == "other"),
    (
        ["spec.nodes=2", "spec.runPolicy.backoffLimit=0"],
        lambda job: job["spec"]["backoffLimit"] == 0,
    ),
    (
        ["spec.nodes=2", "spec.env.A=x=y"],
        lambda job: {"name": "A", "value": "x=y"} in main(job)["env"],
    ),
    (
        ["spec.nodes=2", 'spec.env.A="1"'],
        lambda job: {"name": "A", "value": "1"} in main(job)["env"],
    ),
    (["spec.nodes=2", "spec.args.0=--lr"], lambda job: main(job)["args"] == ["--lr", "b"]),
    (["spec.nodes=2", "spec.args[1]=--lr"], lambda job: main(job)["args"] == ["a", "--lr"]),
    (["spec.nodes=2", "spec.args[2]=c"], lambda job: main(job)["args"] == ["a", "b", "c"]),
    (
        ["spec.volumes=[{name: d, emptyDir: {}}]", "spec.volumes[d].emptyDir.medium=Memory"],
        lambda job: {"name": "d", "emptyDir": {"medium": "Memory"}} in pod(job)["volumes"],
    ),
    (
        ['metadata.annotations."a.b/c"=x=y'],
        lambda job: job["metadata"]["annotations"] == {"a.b/c": "x=y"},
    ),
    (
        ["metadata.annotations[a.b/c]=x"],
        lambda job: job["metadata"]["annotations"] == {"a.b/c": "x"},
    ),
    (
        ['spec.resources.devices."vpc.amazonaws.com/efa"=4'],
        lambda job: main(job)["resources"]["limits"] == {"vpc.amazonaws.com/efa": "4"},
    ),
    (
        ["spec.nodes=2", "spec.elastic.monitorInterval=null"],
        lambda job: "interval" not in str(main(job)["command"]),
    ),
]


def main(job: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = pod(job)["containers"][0]
    return container


def pod(job: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = (
        job["spec"]["template"]["spec"] if "template" in job["spec"] else job["spec"]
    )
    return spec


@pytest.mark.parametrize(("words", "wanted"), SETS, ids=[" ".join(words) for words, _ in SETS])
def test_set_changes_the_value_at_a_path(
    words: list[str], wanted: object, tmp_path: Path, capsys: Capture
) -> None:
    options = [part for word in words for part in ("--set", word)]
    ran = here(capsys, *options, spec(tmp_path, body="args: [a, b]"))
    assert ran.status == 0, ran.err
    assert wanted(list(yaml.safe_load_all(ran.out))[-1])  # type: ignore[operator]


@pytest.mark.parametrize("value", ["1", "true", "null", "[", "2026-01-01", "a: b", ""])
def test_set_string_is_always_a_string(value: str, tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--set-string", f"spec.env.A={value}", spec(tmp_path))
    assert ran.status == 0, ran.err
    assert {"name": "A", "value": value} in main(list(yaml.safe_load_all(ran.out))[-1])["env"]


def test_the_last_of_both_options_wins(tmp_path: Path, capsys: Capture) -> None:
    words = [
        "--set-string",
        "spec.env.A=1",
        "--set",
        'spec.env.A="2"',
        "--set-string",
        "spec.env.A=3",
    ]
    ran = here(capsys, *words, spec(tmp_path))
    assert {"name": "A", "value": "3"} in main(list(yaml.safe_load_all(ran.out))[-1])["env"]


BAD_SETS = [
    # (option, the column of the caret below it, message)
    ("spec.nodes", 10, "PATH=VALUE"),
    ("=4", 0, "PATH=VALUE"),
    ("", 0, "PATH=VALUE"),
    ("spec..x=1", 5, "a key is missing"),
    ('spec."a=1', 5, "not closed"),
    ("spec.args[0=1", 9, "not closed"),
    ("spec.args[0]x=1", 12, "write a dot between"),
    ("spec.nodes=[1", 11, "not a YAML value"),
    (".".join("a" * 65) + "=1", 129, "at most 64 parts"),
]


@pytest.mark.parametrize(
    ("word", "column", "message"), BAD_SETS, ids=[word[:20] for word, _, _ in BAD_SETS]
)
def test_a_set_that_cannot_be_read_is_shown_with_a_caret(
    word: str, column: int, message: str, tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, "--set", word, spec(tmp_path))
    assert (ran.status, ran.out) == (2, "")
    shown, caret, *rest = ran.err.split("\n")
    path, equals, value = word.partition("=")
    if message != "not a YAML value":  # the path is unknown, so the value may be a secret
        value = value and "***"
    assert (shown, rest) == (f"ptcompile: --set {path}{equals}{value}", [""])
    assert caret.index("^") == len("ptcompile: --set ") + column
    assert message in caret


WRONG_SETS = [
    # (option, what the carets are under)
    ("spec.nods=4", "spec.nods"),
    ("spec.nodes=four", "four"),
    ("spec.args.7=x", "spec.args.7"),
    ("spec.nodes.x=1", "spec.nodes.x"),
    ("spec.²=1", "spec.²"),
    ("kind=Pod", "Pod"),
    ("spec.elastic={nnodes: 2, nprocPerNode: many}", "many"),
    ('metadata.labels."a b"=x', "x"),
    ("spec.volumes[data].emptyDir={}", "spec.volumes[data].emptyDir"),
]


@pytest.mark.parametrize(("word", "under"), WRONG_SETS, ids=[word for word, _ in WRONG_SETS])
def test_a_wrong_set_is_a_finding_at_the_option(
    word: str, under: str, tmp_path: Path, capsys: Capture
) -> None:
    body = "args: [a]\nvolumes: [{name: d, emptyDir: {}}]"
    ran = here(capsys, "--set", "spec.workingDir=/app", "--set", word, spec(tmp_path, body=body))
    assert (ran.status, ran.out) == (1, "")
    lines = ran.err.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("  --> --set:2:"))
    assert lines[at + 3] == f"2 | {word}"
    caret = lines[at + 4]
    start, end = caret.index("^"), caret.rindex("^") + 1
    assert lines[at + 3][start:end] == under


def test_a_mistake_of_the_file_is_reported_in_the_file(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--set", "spec.workingDir=/app", spec(tmp_path, body="nods: 4"))
    assert "--> --set" not in ran.err
    assert "spec.yaml:" in ran.err


def test_a_set_that_is_wrong_because_of_the_file_is_at_the_option(
    tmp_path: Path, capsys: Capture
) -> None:
    """Only the option sets `worker`, and it contradicts the file's number of nodes."""
    ran = here(capsys, "--set", "spec.worker.replicas=2", spec(tmp_path, body="nodes: 2"))
    assert ran.status == 1
    assert "--> --set:1:1" in ran.err


def test_a_secret_in_a_set_is_masked(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--set", "spec.env.HF_TOKEN=[hf_secretsecretsecret]", spec(tmp_path))
    assert ran.status == 1
    assert "--set:1:" in ran.err
    assert "hf_secret" not in ran.err


def test_manifests_are_written_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, spec(tmp_path), "-o", tmp_path / "new" / "out.yaml")
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    head, _, text = (tmp_path / "new" / "out.yaml").read_text("utf-8").partition("\n")
    assert (head, text) == (
        "# generated by ptcompile from ../spec.yaml; do not edit",
        ptcompile.compile(smallest()).yaml(),
    )


@pytest.mark.parametrize("slash", ["", "/"])
def test_manifests_are_written_to_a_directory(slash: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "out").mkdir()
    ran = here(
        capsys,
        spec(tmp_path, "a.yaml"),
        spec(tmp_path, "b.yaml", job="b"),
        "-o",
        f"{tmp_path / 'out'}{slash}",
    )
    assert ran.status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.yaml", "b.yaml"]


def test_out_in_json_has_its_suffix(tmp_path: Path, capsys: Capture) -> None:
    here(capsys, spec(tmp_path), "--format", "json", "-o", f"{tmp_path}/out/")
    assert json.loads((tmp_path / "out" / "spec.json").read_text("utf-8"))["kind"] == "Pod"


def test_two_specs_for_one_file_are_a_usage_error(tmp_path: Path, capsys: Capture) -> None:
    ran = here(
        capsys,
        spec(tmp_path, "a/s.yaml"),
        spec(tmp_path, "b/s.yaml", job="b"),
        "-o",
        f"{tmp_path}/out/",
    )
    assert ran.status == 2
    assert not (tmp_path / "out").exists()


def test_an_error_in_one_spec_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    old = tmp_path / "out" / "a.yaml"
    old.parent.mkdir()
    old.write_text("old", encoding="utf-8")
    ran = here(
        capsys,
        spec(tmp_path, "a.yaml"),
        spec(tmp_path, "b.yaml", "nods: 1"),
        "-o",
        f"{tmp_path}/out/",
    )
    assert ran.status == 1
    assert [(path.name, path.read_text("utf-8")) for path in old.parent.iterdir()] == [
        ("a.yaml", "old")
    ]


def test_an_unwritable_path_leaves_everything_unchanged(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "out" / "b.yaml").mkdir(parents=True)
    ran = here(
        capsys,
        spec(tmp_path, "a.yaml"),
        spec(tmp_path, "b.yaml", job="b"),
        "-o",
        f"{tmp_path}/out/",
    )
    assert ran.status == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.yaml"]


@pytest.mark.parametrize("out", ["file/out.yaml", "/proc/none/out.yaml", ""])
def test_an_unwritable_place_is_named_as_given(out: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    place = out if not out or out.startswith("/") else str(tmp_path / out)
    ran = here(capsys, spec(tmp_path), "-o", place)
    assert (ran.status, ran.out) == (2, "")
    assert ".tmp" not in ran.err, "the name that was asked for, not ours"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "spec.yaml"]


def test_a_link_is_followed_and_a_mode_is_kept(tmp_path: Path, capsys: Capture) -> None:
    real = tmp_path / "real.yaml"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / "link.yaml").symlink_to(real)
    assert here(capsys, spec(tmp_path), "-o", tmp_path / "link.yaml").status == 0
    assert (tmp_path / "link.yaml").is_symlink()
    assert "\napiVersion: v1\n" in real.read_text("utf-8")
    assert real.stat().st_mode & 0o777 == 0o640


def test_devices_and_pipes_are_never_replaced(tmp_path: Path, capsys: Capture) -> None:
    """`-o /dev/null` as root must not put a file there."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        here(capsys, spec(tmp_path), "-o", tmp_path / "pipe")
        assert (tmp_path / "pipe").is_fifo()
    finally:
        os.close(reader)


def test_a_spec_is_read_from_standard_input() -> None:
    ran = process("-", stdin=smallest().encode())
    assert (ran.status, ran.out, ran.err) == (0, ptcompile.compile(smallest()).yaml(), "")
    bad = process("-", stdin=smallest("nods: 1").encode())
    assert (bad.status, bad.out) == (1, "")
    assert "<stdin>:7:3" in bad.err


STABLE = [
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LANG": "C", "LC_ALL": "C"},
    {
        "PYTHONHASHSEED": "2",
        "TZ": "America/Lima",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "",
        "PYTHONIOENCODING": "latin-1",
    },
]


@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano"])
def test_the_same_bytes_wherever_it_runs(target: str, tmp_path: Path) -> None:
    """CONTRIBUTING.md#laws 2: the same bytes."""
    body = "nodes: 2\nenv: {GREETING: 'żółć 🚀'}\nresources: {gpu: 1, devices: {rdma/hca: 1, a.b/c: 2}}"
    path = spec(tmp_path, body=body)
    first, second = (process("--target", target, path, env=env, cwd=cwd)
                     for env, cwd in zip(STABLE, (tmp_path, ROOT), strict=True))  # fmt: skip
    assert first.status == 0, first.err
    assert first == second
    assert first.out == ptcompile.compile(path.read_text("utf-8"), target=target).yaml()


def test_the_first_command_of_the_readme_works() -> None:
    ran = process("examples/mnist/spec.yaml")
    assert ran.status == 0, ran.err
    assert kinds(ran.out)


@pytest.mark.parametrize("verb", ["compile", "simulate", "explain", "platform", "requires"])
def test_a_fix_is_offered_only_by_lint(verb: str, tmp_path: Path, capsys: Capture) -> None:
    wrong = tmp_path / "s.yaml"
    wrong.write_text(smallest().replace("image", "Image"), encoding="utf-8")
    profile = tmp_path / "cluster.yaml"
    profile.write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {}\n"
    )
    words = (str(profile), str(wrong)) if verb == "platform" else (str(wrong),)
    ran = here(capsys, verb, *words)
    assert ran.status == 1
    assert "Image" in ran.err
    assert "= fix:" not in ran.out + ran.err
    assert "fixable" not in ran.err
    offered = here(capsys, "lint", str(wrong))
    assert "(--fix)" in offered.out
    assert "1 fixable" in offered.err


def test_names_are_derived_from_the_name_of_the_run(tmp_path: Path, capsys: Capture) -> None:
    ran = here(
        capsys, "--name", "run-7", "--target", "job", spec(tmp_path, body="nodes: 2", job="sft")
    )
    assert (ran.status, ran.err) == (0, "")
    service, job = yaml.safe_load_all(ran.out)
    assert (service["metadata"]["name"], job["metadata"]["name"], pod(job)["subdomain"]) == (
        "run-7",
    ) * 3
    assert "--master-addr=run-7-0.run-7" in main(job)["command"]
    assert "sft" not in ran.out


def test_a_wrong_name_is_shown_at_the_option(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--name", "Run_7", spec(tmp_path))
    assert (ran.status, ran.out) == (1, "")
    assert "  --> --name:1:1\n  |\n1 | Run_7\n  | ^^^^^\n" in ran.err


def test_a_run_names_one_job(tmp_path: Path, capsys: Capture) -> None:
    two = tmp_path / "two.yaml"
    two.write_text(smallest(name="a") + "---\n" + smallest(name="b"), encoding="utf-8")
    ran = here(capsys, "--name", "run-7", two)
    assert (ran.status, ran.out) == (1, "")
    assert "names one job" in ran.err
    ran = here(capsys, "--name", "run-7", spec(tmp_path, "c.yaml"), spec(tmp_path, "d.yaml"))
    assert (ran.status, ran.out) == (2, "")
    assert "2 files" in ran.err


@pytest.mark.parametrize("targets", [("job", "jobset"), ("all",), ("all", "job")])
def test_several_targets_get_a_folder_each(
    targets: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    words = [word for target in targets for word in ("--target", target)]
    path = spec(tmp_path, body="nodes: 2")
    ran = here(capsys, *words, path, "-o", f"{tmp_path / 'out'}/")
    assert (ran.status, ran.out) == (0, "")
    specs = {one.parent.name: one for one in (tmp_path / "out").rglob("spec.yaml")}
    able = (
        {"job", "jobset", "pytorchjob", "volcano", "trainjob"} if "all" in targets else set(targets)
    )
    assert specs.keys() == able
    for target, one in specs.items():
        assert (
            one.read_text("utf-8").partition("\n")[2]
            == ptcompile.compile(smallest("nodes: 2"), target=target).yaml()
        )
    assert ("not for pod: spec.nodes" in ran.err) == ("all" in targets)
    assert here(capsys, *words, path, "-o", f"{tmp_path / 'out'}/", "--check").status == 0


def test_several_targets_in_json_are_by_target(tmp_path: Path, capsys: Capture) -> None:
    path = spec(tmp_path, body="nodes: 2")
    ran = here(capsys, "--target", "job", "--target", "volcano", "--format", "json", path)
    assert {target: one["kind"] for target, one in json.loads(ran.out).items()} == {
        "job": "List",
        "volcano": "Job",
    }


def test_a_named_target_that_cannot_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    ran = here(
        capsys,
        "--target",
        "job",
        "--target",
        "pod",
        "--format",
        "json",
        spec(tmp_path, body="nodes: 2"),
    )
    assert (ran.status, ran.out) == (1, "")
    assert "a Pod is one node" in ran.err


def test_a_mistake_is_reported_once_for_all_targets(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--target", "all", "--format", "json", spec(tmp_path, body="nods: 2"))
    assert (ran.status, ran.out, ran.err.count("error[")) == (1, "", 1)


@pytest.mark.parametrize("words", [(), ("-o", "out.yaml"), ("-o", "out.json", "--format", "json")])
def test_several_targets_require_a_folder_or_json(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, "--target", "job", "--target", "jobset", *words, spec(tmp_path))
    assert (ran.status, ran.out) == (2, "")
    assert "-o DIR/" in ran.err
