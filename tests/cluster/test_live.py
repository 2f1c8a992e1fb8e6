"""With --cluster: the cluster that KUBECONFIG names accepts every golden, and a handful of jobs runs as simulated.

Without the option or the variable, these tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cluster.record import differences, installed_targets, recorded_rows
from tests.cluster.runs import Run
from tests.conftest import ABLE, Case
from tests.recorded.recording import Made, Server, connected, owned, without_namespace


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Yield the API server of the cluster."""
    if not (request.config.getoption("--cluster") and os.environ.get("KUBECONFIG")):
        pytest.skip("needs a cluster: --cluster and KUBECONFIG")
    with connected(None) as server:
        yield server


def _refusal(made: Made, case: Case, target: str) -> str:
    """Return what the server answers to a dry run of a golden; "" if it accepts it."""
    manifests = [without_namespace(manifest) for manifest in case.compile(target).manifests]
    existing = len(made)
    try:
        # the webhook of a TrainJob reads its runtime, which a dry run does not keep
        for manifest in manifests:
            if manifest["kind"] == "TrainingRuntime":
                made.create(manifest)
        answers = [
            made.server.dry_run(manifest)
            for manifest in manifests
            if manifest["kind"] != "TrainingRuntime"
        ]
    except RuntimeError as error:
        return str(error)
    finally:
        made.remove(keep=existing)
    messages = [answer.message if answer else "no such kind" for answer in answers]
    return "; ".join(filter(None, messages))


def test_every_golden_is_accepted(cluster: Server) -> None:
    targets = installed_targets(cluster)
    pairs = [(case, target) for case, target in ABLE if target in targets]
    with owned(cluster) as made:
        answers = {f"{case.name}-{target}": _refusal(made, case, target) for case, target in pairs}
    assert answers
    assert {name: answer for name, answer in answers.items() if answer} == {}


def test_jobs_run_as_simulated(cluster: Server) -> None:
    versions = {"kubernetes": cluster.version}
    runs = [Run(row, versions) for row in recorded_rows(cluster)]
    assert runs
    assert differences(runs) == []
