"""`ptcompile import` and `ptcompile convert` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import ptcompile
from ptcompile.cli import main
from tests.making import smallest


def manifests(name: str, body: str = "", target: str = "pytorchjob") -> str:
    return ptcompile.compile(smallest(body, name), target=target).yaml()


def test_a_file_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    written = sorted(one.relative_to(out).as_posix() for one in out.rglob("*.yaml"))
    assert written == ["a.yaml", "b.yaml", "kept/kept.yaml"]
    assert yaml.safe_load((out / "kept" / "kept.yaml").read_text())["kind"] == "ConfigMap"


def test_common_settings_go_into_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        difference = ptcompile.diff((tmp_path / f"{name}.yaml").read_text(), spec, to_cluster=profile.read_text())
        assert not difference.differs, difference.text()


def test_an_envsubst_template_gets_its_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    told = json.loads(capsys.readouterr().out)
    (one,) = told["specs"]
    assert (one["from"], one["sameWorld"], one["sameManifest"]) == ("PyTorchJob/a", True, True)
    assert (told["profile"], told["kept"], told["diagnostics"]) == (None, [], [])


def test_convert_writes_manifests_of_the_other_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(manifests("a", "nodes: 2"))
    assert main(["convert", str(tmp_path / "job.yaml"), "--target", "jobset"]) == 0
    out, err = capsys.readouterr()
    assert yaml.safe_load(out)["kind"] == "JobSet"
    assert "PTC604" in err
    assert main(["convert", str(tmp_path / "job.yaml"), "--target", "pod"]) == 1
    assert capsys.readouterr().out == ""
