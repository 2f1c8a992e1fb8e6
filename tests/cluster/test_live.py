"""With --cluster: the cluster that KUBECONFIG names accepts every golden, and a handful of jobs runs as simulated.

Without the option or the variable, these tests are skipped.
"""

from __future__ import annotations

import os
from subprocess import CalledProcessError

import pytest
import yaml

from ptcompile.kubernetes.unstructured import Json
from tests.cluster.record import installed_targets, kubectl, recorded
from tests.cluster.runs import Run, compare
from tests.conftest import ABLE, Case


@pytest.fixture
def targets(request: pytest.FixtureRequest) -> list[str]:
    """Return the targets of the cluster."""
    if not (request.config.getoption("--cluster") and os.environ.get("KUBECONFIG")):
        pytest.skip("needs a cluster: --cluster and KUBECONFIG")
    return installed_targets()


def _in_default(manifest: Json) -> Json:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    return {**manifest, "metadata": metadata}


def _refusal(case: Case, target: str) -> str:
    """Return what the server answers to a dry run of a golden; "" if it accepts it."""
    manifests = [_in_default(manifest) for manifest in case.compile(target).manifests]
    # the webhook of a TrainJob reads its runtime, which a dry run does not keep
    runtimes = yaml.safe_dump_all([item for item in manifests if item["kind"] == "TrainingRuntime"])
    try:
        if runtimes:
            kubectl("apply", "-f", "-", stdin=runtimes)
        kubectl("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump_all(manifests))
    except CalledProcessError as error:
        return str(error.stderr)
    finally:
        if runtimes:
            kubectl("delete", "-f", "-", "--ignore-not-found", stdin=runtimes)
    return ""


def test_every_golden_is_accepted(targets: list[str]) -> None:
    pairs = [(case, target) for case, target in ABLE if target in targets]
    answers = {f"{case.name}-{target}": _refusal(case, target) for case, target in pairs}
    assert answers
    assert {name: answer for name, answer in answers.items() if answer} == {}


def test_jobs_run_as_simulated(targets: list[str]) -> None:
    differences = [str(item) for row in recorded() for item in compare(Run(row)) if not item.agrees]
    assert targets
    assert differences == []
