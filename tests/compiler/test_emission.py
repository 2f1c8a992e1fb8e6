"""`generateName`: supported if no address or other object contains the job's name, and an error otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.names import is_dns_label

HEAD = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {generateName: sft-}\nspec:\n  image: i:1\n"
ONE = HEAD + "  script: t.py\n"
TWO = ONE + "  nodes: 2\n"

FREE: list[tuple[str, str]] = [
    (ONE, "pod"), (ONE, "job"), (ONE, "jobset"), (ONE, "volcano"), (TWO, "pytorchjob"), (TWO, "volcano"),
    (ONE + "  restartPolicy: OnFailure\n", "trainjob"),
    (ONE + "  elastic: {nnodes: '1:2', nprocPerNode: 1}\n", "pytorchjob"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "target"), FREE)
def test_generate_name_is_the_only_metadata(spec: str, target: str) -> None:
    made = ptcompile.compile(spec, target=target).unwrap()
    assert made[-1]["metadata"] == {"generateName": "sft-"}
    assert len(made) == 1
    assert ptcompile.lint(ptcompile.compile(spec, target=target).yaml()).ok


CARRIED: list[tuple[str, str, str]] = [
    (TWO, "job", "Service metadata.name"),
    (TWO, "jobset", "JobSet spec.replicatedJobs"),
    (TWO, "trainjob", "TrainingRuntime metadata.name"),
    (TWO + "  elastic: {rdzvBackend: c10d, nprocPerNode: 1}\n", "pytorchjob", "command"),
]


@pytest.mark.parametrize(("spec", "target", "carrier"), CARRIED)
def test_generate_name_is_an_error_if_the_name_is_used_elsewhere(spec: str, target: str, carrier: str) -> None:
    result = ptcompile.compile(spec, target=target)
    (found,) = [one for one in result.diagnostics if one.severity == "error"]
    assert (found.name, found.path) == ("unsupported-by-target", ("metadata", "generateName"))
    assert carrier in found.message
    assert found.span is not None
    assert found.span.line == 3
    assert "x7k2m" not in found.message
    assert result.manifests == ()


def test_a_rendezvous_in_a_shared_store_needs_a_unique_name() -> None:
    etcd = "  elastic: {rdzvBackend: etcd-v2, rdzvEndpoint: 'e:2379', nprocPerNode: 1}\n"
    assert not ptcompile.compile(TWO + etcd, target="volcano").ok


@pytest.mark.parametrize("beginning", ["SFT-", "-a", "a_b-"])
def test_an_invalid_generate_name_is_reported_at_its_path(beginning: str) -> None:
    assert not is_dns_label(f"{beginning}abcde")
    result = ptcompile.compile(ONE.replace("sft-", beginning))
    assert [one.path for one in result.diagnostics] == [("metadata", "generateName")]
    assert "x7k2m" not in result.diagnostics[0].message


@pytest.mark.parametrize(
    ("metadata", "name", "path"),
    [
        ("{}", "spec-missing-field", ("metadata", "name")),
        ("{name: a, generateName: b-}", "spec-conflict", ("metadata", "generateName")),
        ("{name: null}", "spec-wrong-type", ("metadata", "name")),
    ],
)
def test_a_job_needs_either_name_or_generate_name(metadata: str, name: str, path: Any) -> None:
    result = ptcompile.compile(ONE.replace("{generateName: sft-}", metadata))
    assert [(one.name, one.path) for one in result.diagnostics] == [(name, path)]


def test_the_option_name_replaces_generate_name() -> None:
    service, job = ptcompile.compile(TWO, target="job", name="run-7").unwrap()
    assert (service["metadata"], job["metadata"]) == ({"name": "run-7"}, {"name": "run-7"})


def test_generate_name_is_explained_and_simulated() -> None:
    explanation = ptcompile.explain(TWO, target="pytorchjob")
    (cause,) = explanation.at("metadata.generateName")
    assert [line.path for line in cause.inputs] == [("metadata", "generateName")]
    assert ptcompile.simulate(TWO, target="pytorchjob").pods
