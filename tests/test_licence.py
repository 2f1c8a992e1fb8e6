"""The license and the notice. `.ci/run` checks that the wheel contains both files."""

from __future__ import annotations

import hashlib
import tomllib

import pytest

from tests import recorded
from tests.conftest import ROOT

NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the text at https://www.apache.org/licenses/LICENSE-2.0.txt."""
SCHEMAS = {
    "kubernetes": "Kubernetes",
    "kubeflow.org": "Kubeflow Training Operator",
    "trainer.kubeflow.org": "Kubeflow Trainer",
    "batch.volcano.sh": "Volcano",
    "scheduling.volcano.sh": "Volcano",
    "jobset.x-k8s.io": "JobSet",
    "scheduling.x-k8s.io": "scheduler-plugins",
    "resource.nvidia.com": "NVIDIA DRA Driver for GPUs",
    "crds/kueue.x-k8s.io.json": "Kueue",
    "crds/leaderworkerset.x-k8s.io.json": "LeaderWorkerSet",
    "crds/ray.io.json": "KubeRay",
}


def test_the_license_is_complete_and_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE", "NOTICE"])


def test_every_folder_of_schemas_has_its_project_in_the_notice() -> None:
    folders = {
        path.name for path in (ROOT / "schemas").iterdir() if path.is_dir() and path.name[0] != "_"
    }
    crds = {f"crds/{path.name}" for path in (ROOT / "schemas" / "crds").iterdir()}
    assert (folders - {"crds", "descriptions"}) | crds == set(SCHEMAS)
    assert {path.name for path in (ROOT / "schemas" / "descriptions").iterdir()} <= folders
    for project in SCHEMAS.values():
        assert f"\n{project} (https://" in NOTICE


@pytest.mark.parametrize("name", ["apiserver/real", "apiserver/surface/real"])
def test_every_project_whose_manifests_are_recorded_is_in_the_notice(name: str) -> None:
    sources = {row["source"].split()[0] for row in recorded.rows(name)} - {"bases"}
    assert [source for source in sources if f"https://github.com/{source}" not in NOTICE] == []
