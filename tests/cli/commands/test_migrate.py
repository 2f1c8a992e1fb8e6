"""`ptcompile import` and `ptcompile convert` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.cli import main, processes
from ptcompile.cli.commands import migrate
from ptcompile.cli.files import UsageError
from ptcompile.importer import attempt
from ptcompile.kubernetes.unstructured import Json, object_name
from tests.cli.running import here, process
from tests.making import smallest


def manifests(name: str, body: str = "", target: str = "pytorchjob") -> str:
    return ptcompile.compile(smallest(body, name), target=target).yaml()


def test_a_file_is_imported_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(manifests("a"))
    assert main(["import", str(tmp_path / "job.yaml")]) == 0
    out, err = capsys.readouterr()
    assert yaml.safe_load(out)["metadata"] == {"name": "a"}
    assert "1 imported: 1 with the same world, 1 of them with the same manifest" in err


def test_a_folder_is_imported_to_a_folder_with_kept_objects(tmp_path: Path) -> None:
    config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    (tmp_path / "a.yaml").write_text(manifests("a") + config)
    (tmp_path / "b.yaml").write_text(manifests("b"))
    (tmp_path / "c.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
    out = tmp_path / "specs"
    assert main(["import", str(tmp_path), "-o", f"{out}/"]) == 0
    written = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.yaml"))
    assert written == ["a.yaml", "b.yaml", "kept/kept.yaml"]
    assert yaml.safe_load((out / "kept" / "kept.yaml").read_text())["kind"] == "ConfigMap"


@pytest.mark.parametrize(
    "words", [("import",), ("convert", "--target", "jobset")], ids=lambda words: words[0]
)
def test_jobs_of_several_files_that_differ_only_in_their_names_are_searched_for_once(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, nodes in (("a", 2), ("b", 2), ("c", 3)):
        (tmp_path / f"{name}.yaml").write_text(manifests(name, f"nodes: {nodes}"))
    searched: list[str] = []
    search = attempt._search

    def record(manifest: Json, *args: Any, **options: Any) -> attempt.ImportOutcome:
        searched.append(object_name(manifest))
        return search(manifest, *args, **options)

    monkeypatch.setattr(attempt, "_search", record)
    out = tmp_path / "out"
    assert main([*words, str(tmp_path), "-o", f"{out}/"]) == 0
    assert searched == ["a", "c"]
    written = [yaml.safe_load((out / f"{name}.yaml").read_text()) for name in "abc"]
    assert [document["metadata"]["name"] for document in written] == ["a", "b", "c"]


def test_common_settings_go_into_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = "serviceAccountName: trainer\nnodeSelector: {pool: a}\nresources: {gpu: 1}\n"
    for name, env in (("a", "{TEAM: x, A: '1'}"), ("b", "{TEAM: x, A: '1'}"), ("c", "{TEAM: x}")):
        (tmp_path / f"{name}.yaml").write_text(manifests(name, f"{common}env: {env}"))
    profile = tmp_path / "cluster.yaml"
    out = tmp_path / "specs"
    files = [str(tmp_path / f"{one}.yaml") for one in "abc"]
    assert main(["import", *files, "-o", f"{out}/", "--profile", str(profile)]) == 0
    defaults = yaml.safe_load(profile.read_text())["spec"]["defaults"]
    assert defaults == {
        "serviceAccountName": "trainer",
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "env": {"TEAM": "x"},
        "nodeSelector": {"pool": "a"},
    }
    assert "not moved to the profile, because some jobs differ: env A" in capsys.readouterr().err
    for name in "abc":
        spec = (out / f"{name}.yaml").read_text()
        assert "trainer" not in spec
        difference = ptcompile.diff(
            (tmp_path / f"{name}.yaml").read_text(), spec, to_cluster=profile.read_text()
        )
        assert not difference.differs, difference.text()


def test_an_envsubst_template_gets_its_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = manifests("a", "nodes: 3").replace("replicas: 2", "replicas: $WORKERS")
    (tmp_path / "job.yaml").write_text(text)
    assert main(["import", str(tmp_path / "job.yaml")]) == 1
    assert "WORKERS" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "job.yaml"), "--set", "WORKERS=4"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["spec"]["nodes"] == 5
    with pytest.raises(Exception, match="NAME=VALUE"):
        main(["import", str(tmp_path / "job.yaml"), "--set", "WORKERS"])


def test_inexpressible_fields_are_an_error_and_no_spec_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    assert main(["import", str(tmp_path / "job.yaml"), "-o", str(tmp_path / "spec.yaml")]) == 1
    assert "PTC605" in capsys.readouterr().err
    assert not (tmp_path / "spec.yaml").exists()


def test_json_has_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(manifests("a"))
    assert main(["import", str(tmp_path / "job.yaml"), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (spec,) = report["specs"]
    assert spec["from"] == "PyTorchJob/a"
    assert spec["sameWorld"] is True
    assert spec["sameManifest"] is True
    assert (report["profile"], report["kept"], report["diagnostics"]) == (None, [], [])


def test_convert_writes_manifests_of_the_other_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(manifests("a", "nodes: 2"))
    assert main(["convert", str(tmp_path / "job.yaml"), "--target", "jobset"]) == 0
    out, err = capsys.readouterr()
    assert yaml.safe_load(out)["kind"] == "JobSet"
    assert "PTC604" in err
    assert main(["convert", str(tmp_path / "job.yaml"), "--target", "pod"]) == 1
    assert capsys.readouterr().out == ""


def gpu_manifests(
    folder: Path, *names: str, tolerations: Sequence[dict[str, str]] = ()
) -> list[str]:
    """Write jobs with GPUs and these tolerations, but without the one that the built-in profile adds."""
    for name in names:
        (document,) = yaml.safe_load_all(manifests(name, "resources: {gpu: 1}"))
        for role in document["spec"]["pytorchReplicaSpecs"].values():
            del role["template"]["spec"]["tolerations"]
            role["template"]["spec"] |= {"tolerations": list(tolerations)} if tolerations else {}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(document))
    return [str(folder / f"{name}.yaml") for name in names]


def test_several_specs_are_written_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(manifests(name))
    words = ["import", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]
    assert main(words) == 0
    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [document["metadata"]["name"] for document in documents] == ["a", "b"]
    assert main([*words, "-o", str(tmp_path / "specs.yaml")]) == 0
    assert list(yaml.safe_load_all((tmp_path / "specs.yaml").read_text())) == documents
    assert main([*words, "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert "---" not in out
    assert out.count('{\n  "specs": [') == 2


def test_other_objects_go_to_a_file_next_to_the_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    (tmp_path / "a.yaml").write_text(manifests("a") + config)
    out = tmp_path / "specs"
    out.mkdir()
    assert main(["import", str(tmp_path / "a.yaml"), "-o", str(out / "x.yaml")]) == 0
    assert sorted(path.name for path in out.rglob("*")) == ["x.kept.yaml", "x.yaml"]
    assert yaml.safe_load((out / "x.kept.yaml").read_text())["kind"] == "ConfigMap"
    assert f"1 objects are kept unchanged, in {out / 'x.kept.yaml'}" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "a.yaml")]) == 0
    assert "1 objects are kept unchanged, and written if -o says where" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "a.yaml"), "-o", str(out), "--format", "json"]) == 0
    assert sorted(path.name for path in out.rglob("*.*")) == [
        "a.json",
        "kept.yaml",
        "x.kept.yaml",
        "x.yaml",
    ]


def test_two_specs_of_one_name_are_not_overwritten(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text(manifests("a"))
    with pytest.raises(
        UsageError, match=r"two specs would be written to .*a\.yaml: rename one of the files"
    ):
        main(["import", str(tmp_path / "x"), str(tmp_path / "y"), "-o", f"{tmp_path / 'specs'}/"])
    assert not (tmp_path / "specs").exists()


def test_a_spec_with_a_profile_needs_no_pod_template(tmp_path: Path) -> None:
    (path,) = gpu_manifests(tmp_path, "a")
    spec, profile = tmp_path / "spec.yaml", tmp_path / "cluster.yaml"
    assert main(["import", path, "-o", str(spec)]) == 0
    assert not ptcompile.diff(Path(path).read_text(), spec.read_text()).differs
    assert "podTemplate" in spec.read_text()
    assert main(["import", path, "-o", str(spec), "--profile", str(profile)]) == 0
    assert not ptcompile.diff(
        Path(path).read_text(), spec.read_text(), to_cluster=profile.read_text()
    ).differs
    assert "podTemplate" not in spec.read_text()


def test_a_job_without_the_tolerations_of_the_profile_needs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = gpu_manifests(tmp_path, "a", "b", tolerations=[{"key": "team", "operator": "Exists"}])
    note = "the built-in profile adds tolerations to pods with GPUs that the manifests do not have"
    assert main(["import", *paths]) == 0
    assert note in capsys.readouterr().err
    profile = tmp_path / "cluster.yaml"
    assert main(["import", *paths, "--profile", str(profile), "-o", f"{tmp_path / 'specs'}/"]) == 0
    assert note not in capsys.readouterr().err
    spec = (tmp_path / "specs" / "a.yaml").read_text()
    assert not ptcompile.diff(
        Path(paths[0]).read_text(), spec, to_cluster=profile.read_text()
    ).differs
    assert main(["import", *paths, "--cluster", str(profile)]) == 0
    assert note not in capsys.readouterr().err
    with pytest.raises(UsageError, match="give only one of them"):
        main(["import", *paths, "--profile", str(profile), "--cluster", str(profile)])


def test_a_profile_without_anything_in_common_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(manifests("a"))
    profile = tmp_path / "cluster.yaml"
    assert main(["import", str(tmp_path / "a.yaml"), "--profile", str(profile)]) == 0
    assert yaml.safe_load(profile.read_text()) == {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "imported"},
        "spec": {},
    }


@pytest.mark.parametrize("command", ["import", "convert"])
def test_a_wrong_profile_ends_a_command(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(manifests("a"))
    (tmp_path / "cluster.yaml").write_text(
        "kind: ClusterProfile\napiVersion: ptcompile/v1\nspec: {defaults: 1}\n"
    )
    words = [command, str(tmp_path / "a.yaml"), "--cluster", str(tmp_path / "cluster.yaml")]
    assert main([*words, *(("--target", "jobset") if command == "convert" else ())]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "cluster.yaml:" in err


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}-$A-$B-${B}-$AB", "4-4-$B-${B}-$AB"),
        ("$$A ${A", "$4 ${A"),
        ("\udcff$A", "\udcff4"),
        ("$_x1 ${_x1}", "5 5"),
    ],
)
def test_variables_are_filled_in_as_envsubst_does(text: str, filled: str) -> None:
    content = text.encode(errors="surrogateescape")
    values = {"A": "4", "_x1": "5"}
    assert migrate._substitute(content, values).decode(errors="surrogateescape") == filled
    assert migrate._substitute(content, {}) == content


@pytest.mark.parametrize("option", ["A", "1A=2", "=2", "A-B=2"])
def test_a_wrong_variable_is_an_error(option: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be NAME=VALUE, such as REPLICAS=4"):
        main(["import", str(tmp_path), "--set", option])


def test_convert_writes_a_file_or_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(manifests("a", "nodes: 2"))
    (tmp_path / "bad.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    out = tmp_path / "out.yaml"
    words = ["--target", "jobset", "-o", str(out)]
    assert main(["convert", str(tmp_path / "job.yaml"), str(tmp_path / "bad.yaml"), *words]) == 1
    assert not out.exists()
    assert main(["convert", str(tmp_path / "job.yaml"), *words]) == 0
    assert yaml.safe_load(out.read_text())["kind"] == "JobSet"
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        main(["convert", str(tmp_path / "job.yaml")])
    assert "--target" in capsys.readouterr().err


NETWORK_POLICY = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: peers}
spec: {podSelector: {matchLabels: {training.kubeflow.org/job-name: p}}, policyTypes: [Egress], egress: [{}]}
"""
PYTORCHJOB = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: "img:1", command: [python, train.py]}]}}
"""
QUEUED = PYTORCHJOB.replace("{name: p}", "{name: q, labels: {kueue.x-k8s.io/queue-name: research}}")


def test_a_folder_is_converted_with_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, moved, report = tmp_path / "jobs", tmp_path / "moved", tmp_path / "report.md"
    (source / "below").mkdir(parents=True)
    (source / "below" / "job.yaml").write_text(PYTORCHJOB, encoding="utf-8")
    (source / "queued.yaml").write_text(QUEUED, encoding="utf-8")
    (source / "policy.yaml").write_text(NETWORK_POLICY, encoding="utf-8")
    command = [
        "convert",
        str(source),
        "--target",
        "volcano",
        "-o",
        f"{moved}/",
        "--report",
        str(report),
    ]
    assert main(command) == 1, "a job stayed"
    assert [path.relative_to(moved).as_posix() for path in moved.rglob("*.yaml")] == [
        "below/job.yaml"
    ]
    text = report.read_text(encoding="utf-8")
    assert "1 of 2 jobs moved" in text
    assert "| PyTorchJob/p | moved |" in text
    assert "| PyTorchJob/q | stayed | Kueue admits no jobs of Volcano" in text
    assert "| NetworkPolicy/peers | unchanged |" in text
    errors = capsys.readouterr().err
    assert "in another file: NetworkPolicy/peers: spec.podSelector: the selector" in errors
    assert "volcano.sh/job-name=p" in errors


def test_one_output_file_is_not_written_if_a_job_stays(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(QUEUED, encoding="utf-8")
    output, report = tmp_path / "out.yaml", tmp_path / "report.md"
    command = [
        "convert",
        str(tmp_path / "q.yaml"),
        "--target",
        "volcano",
        "-o",
        str(output),
        "--report",
        str(report),
    ]
    assert main(command) == 1
    assert not output.exists()
    assert "0 of 1 jobs moved" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("output", "written"), [("v", "v/job.yaml"), ("v/", "v/job.yaml"), ("v.yaml", None)]
)
def test_a_folder_of_inputs_makes_a_folder(
    output: str, written: str | None, tmp_path: Path
) -> None:
    """A file for all of them is written only if all moved."""
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(PYTORCHJOB, encoding="utf-8")
    (tmp_path / "jobs" / "q.yaml").write_text(QUEUED, encoding="utf-8")
    command = [
        "convert",
        str(tmp_path / "jobs"),
        "--target",
        "volcano",
        "-o",
        str(tmp_path) + "/" + output,
    ]
    assert main(command) == 1
    found = [
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*.yaml")
        if path.parent.name != "jobs"
    ]
    assert found == ([] if written is None else [written])


def test_only_jobs_of_a_kind_and_a_label_are_migrated(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(PYTORCHJOB, encoding="utf-8")
    (tmp_path / "q.yaml").write_text(QUEUED, encoding="utf-8")
    command = [
        "convert",
        str(tmp_path / "job.yaml"),
        str(tmp_path / "q.yaml"),
        "--target",
        "volcano",
        "-o",
    ]
    assert main([*command, str(tmp_path / "a"), "--select", "kueue.x-k8s.io/queue-name=none"]) == 0
    assert not (tmp_path / "a").exists()
    assert main([*command, str(tmp_path / "b"), "--kind", "PyTorchJob", "--kind", "Job"]) == 1
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["job.yaml"]
    with pytest.raises(UsageError, match="must be KEY=VALUE"):
        main([*command, str(tmp_path / "c"), "--select", "team"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files that are imported, that are not, and without a job."""
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for number in range(6):
        target = ("pytorchjob", "volcano", "jobset")[number % 3]
        (jobs / f"{number}.yaml").write_text(
            manifests(f"job-{number}", f"nodes: {number + 1}", target)
        )
    (jobs / "bad.yaml").write_text(manifests("bad").replace("replicas: 1", "replicas: many"))
    (jobs / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    (tmp_path / "cluster.yaml").write_text(
        "kind: ClusterProfile\napiVersion: ptcompile/v1\nspec: {defaults: {env: {A: b}}}\n"
    )
    return jobs


WAYS = [
    ("import", "jobs"),
    ("import", "jobs", "--format", "json", "--output-format", "json", "--exact", "--set", "A=b"),
    ("import", "jobs", "--cluster", "cluster.yaml"),
    ("convert", "jobs", "--target", "trainjob"),
    (
        "convert",
        "jobs",
        "--target",
        "job",
        "--lossy",
        "--output-format",
        "json",
        "--cluster",
        "cluster.yaml",
    ),
]


@pytest.mark.parametrize("words", WAYS)
def test_several_processes_print_the_same_bytes(
    folder: Path,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder.parent)
    alone = here(capsys, *words, "--jobs", "1")
    assert process(*words, "--jobs", "3", cwd=folder.parent) == alone
    assert alone.status == 1
    assert "bad.yaml" in alone.out + alone.err


@pytest.mark.parametrize("words", WAYS)
def test_a_spawned_process_migrates_the_same(
    folder: Path,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    monkeypatch.chdir(folder.parent)
    ran = [here(capsys, *words, "--jobs", jobs) for jobs in "12"]
    assert ran[0] == ran[1]


@pytest.mark.parametrize(
    "words",
    [
        ("import", "jobs", "--profile", "profile.yaml"),
        ("convert", "jobs", "--target", "trainjob", "--report", "R.md"),
    ],
)
def test_the_same_files_are_written(folder: Path, words: tuple[str, ...]) -> None:
    written: list[dict[str, bytes]] = []
    for jobs in "13":
        out = folder.parent / jobs
        process(
            *words[:-1], f"{out}/{words[-1]}", "-o", f"{out}/", "--jobs", jobs, cwd=folder.parent
        )
        written.append(
            {
                str(path.relative_to(out)): path.read_bytes()
                for path in out.rglob("*")
                if path.is_file()
            }
        )
    assert written[0] == written[1]
    assert len(written[0]) > 6


@pytest.mark.parametrize(
    ("command", "files", "used"), [("import", 59, 1), ("import", 60, 2), ("convert", 60, 2)]
)
def test_the_number_of_files_limits_the_processes(
    command: str, files: int, used: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []

    def map_here(
        work: Callable[[str], object], items: Sequence[str], jobs: int
    ) -> Iterator[object]:
        counts.append(jobs)
        yield from map(work, items)

    monkeypatch.setattr(processes, "core_count", lambda: 8)
    monkeypatch.setattr(processes, "map_in_processes", map_here)
    for number in range(files):
        (tmp_path / f"{number}.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
        )
    main(
        [command, str(tmp_path), *(["--target", "job"] if command == "convert" else [])],
        own_process=True,
    )
    assert counts == [used]
