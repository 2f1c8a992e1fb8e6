"""The generated schemas match their recorded sources."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"
RECORDED = tomllib.loads((SCHEMAS / "SOURCES.toml").read_text(encoding="utf-8"))["kubernetes"][
    "core.json"
]


KUBE_FEATURES = """
const (
\tImageVolume featuregate.Feature = "ImageVolume"
\tOdd featuregate.Feature = "OddName"
)

var defaultVersionedKubernetesFeatureGates = map[featuregate.Feature]featuregate.VersionedSpecs{
\tImageVolume: {
\t\t{Version: version.MustParse("1.31"), Default: false, PreRelease: featuregate.Alpha},
\t\t{Version: version.MustParse("1.39"), Default: true, PreRelease: featuregate.GA, LockToDefault: true}, // 1.42
\t},

\tgenericfeatures.WatchList: {
\t\t// off again
\t\t{Version: version.MustParse("1.33"), Default: false, PreRelease: featuregate.Beta},
\t},

\tOdd: {
\t\t{Version: version.MustParse("1.38"), Default: true, PreRelease: featuregate.Deprecated},
\t},
}

var defaultKubernetesFeatureGateDependencies = map[featuregate.Feature][]featuregate.Feature{
\tOdd: {
\t\tImageVolume,
\t},
}
"""


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCHEMAS)
    return importlib.import_module("gates")


def test_gates_are_read_from_the_source_of_kubernetes(gates: Any) -> None:
    assert gates.read_source(KUBE_FEATURES) == {
        "ImageVolume": [[31, "alpha", False], [39, "stable", True, "locked"]],
        "WatchList": [[33, "beta", False]],
        "OddName": [[38, "deprecated", True]],
    }


def test_gates_that_the_source_dropped_stay(gates: Any) -> None:
    text = gates.text_with(KUBE_FEATURES)
    table, before = json.loads(text), json.loads(gates.FILE.read_text(encoding="utf-8"))
    assert table["jobset"] == before["jobset"]
    assert table["kubernetes"].keys() - before["kubernetes"].keys() == {"OddName"}
    assert table["kubernetes"]["ImageVolume"][-1] == [39, "stable", True, "locked"]
    assert gates.text_with("") == gates.FILE.read_text(encoding="utf-8")


def test_the_file_matches_its_record() -> None:
    text = (SCHEMAS / "kubernetes" / "core.json").read_bytes()
    assert hashlib.sha256(text).hexdigest() == RECORDED["sha256"]


def test_the_source_still_generates_it() -> None:
    assert importlib.metadata.version("kubernetes-validate") == RECORDED["version"]
    done = subprocess.run(
        [sys.executable, str(SCHEMAS / "update.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def update(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCHEMAS)
    return importlib.import_module("update")


def test_the_command_names_what_a_release_brings(
    update: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pod(**fields: str) -> dict[str, Any]:
        properties = {field: {"description": text} for field, text in fields.items()}
        return {"io.k8s.api.core.v1.PodSpec": {"properties": properties}}

    kind = {"x-kubernetes-group-version-kind": [{"kind": "New"}]}
    one, two = "Requires the OneGate feature gate.", "Requires the TwoGate feature gate."
    older = pod(old="", kept="")
    newer = {**pod(kept="", one=one, two=two, three=""), "io.k8s.api.batch.v1.New": kind}
    monkeypatch.setattr(update, "source", lambda: {38: older, 39: newer})
    stages = {
        "Off": [[38, "alpha", False]],
        "OneGate": [[39, "alpha", False]],
        "Turned": [[36, "alpha", False], [38, "beta", False], [39, "stable", True, "locked"]],
    }
    monkeypatch.setattr(update.gates, "stages_of_all", lambda: {"kubernetes": stages})
    assert list(update.to_decide()) == [
        "kind batch.v1.New",
        "field core.v1.PodSpec.one (gate OneGate)",
        "field core.v1.PodSpec.three",
        "field core.v1.PodSpec.two (gate TwoGate, which is not in gates.json)",
        "gone core.v1.PodSpec.old",
        "gate OneGate: alpha off",
        "gate Turned: beta off, then stable on",
    ]


def test_nothing_is_written_before_package_and_table_name_the_same_release(
    update: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(update, "source", lambda: {38: {}})
    monkeypatch.setattr(update, "modeled", lambda: "1.39")
    monkeypatch.setattr(update, "remake", lambda *_: pytest.fail("it wrote"))
    monkeypatch.setattr(sys, "argv", ["update.py"])
    with pytest.raises(SystemExit) as exit_:
        update.main()
    assert exit_.value.code == 2
    assert "kubernetes-validate has Kubernetes 1.38, and " in capsys.readouterr().err
