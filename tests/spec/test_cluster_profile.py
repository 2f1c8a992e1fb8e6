"""The cluster profile: defaults, versions, and the resources that count as accelerators."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from ptcompile.kubernetes.versions import Versions
from ptcompile.spec import cluster_profile, devices as hardware
from ptcompile.spec.cluster_profile import ClusterProfile, Toleration
from tests import making
from tests.making import DEFAULT_CLUSTER


def test_the_built_in_profile_has_the_defaults() -> None:
    gpu = DEFAULT_CLUSTER.spec.gpu
    assert (gpu.resource_name, gpu.tolerations) == ("nvidia.com/gpu", None)
    assert DEFAULT_CLUSTER.versions() == Versions()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nvidia.com/gpu", True), ("nvidia.com/gpu.shared", True), ("nvidia.com/mig-1g.5gb", True),
        ("amd.com/gpu", True), ("gpu.intel.com/i915", True), ("habana.ai/gaudi", True), ("google.com/tpu", True),
        ("aws.amazon.com/neuron", True), ("aws.amazon.com/neuroncore", True), ("huawei.com/Ascend910", True),
        ("gpu", True), ("mine.example/npu", True), ("other.example/npu", True),
        ("cpu", False), ("memory", False), ("rdma/hca", False), ("vpc.amazonaws.com/efa", False),
        ("nvidia.com/gpumem", False), ("nvidia.com/gpucores", False), ("nvidia.com/rdma", False),
    ],
)  # fmt: skip
def test_resources_of_the_profile_count_as_accelerators(name: str, expected: bool) -> None:
    profile = making.profile(
        {
            "gpu": {"resourceName": "mine.example/npu"},
            "accelerators": {"x": {"resourceName": "other.example/npu", "nodeLabels": {}}},
        }
    )
    assert hardware.is_accelerator(profile, name) is expected


def test_the_profile_s_versions_precede_the_defaults() -> None:
    versions = making.profile({"versions": {"kubernetes": "1.31", "volcano": "1.12.1"}}).versions()
    assert (versions.kubernetes, versions.volcano) == ((1, 31), (1, 12))
    assert versions.jobset == Versions().jobset


@pytest.mark.parametrize("text", ["1", "v", "latest", "", "2.0", "1.x"])
def test_an_invalid_kubernetes_version_is_rejected(text: str) -> None:
    with pytest.raises(ValidationError):
        making.profile({"versions": {"kubernetes": text}})


@pytest.mark.parametrize("text", ["1.7x", '1.7"', "1.\u0663", "v1.7", "99999.1", "1.7 "])
def test_a_release_that_cannot_be_read_is_a_finding(text: str) -> None:
    """`versions` reads each release as numbers, so the model accepts no other text."""
    for name in ("kueue", "torch", "trainingOperator"):
        with pytest.raises(ValidationError):
            making.profile({"versions": {name: text}})


@pytest.mark.parametrize("text", ["1.7", "1.7.0", "1.7.0-rc.1", "1.7.1+cu121"])
def test_a_release_is_read_as_projects_write_it(text: str) -> None:
    assert making.profile({"versions": {"torch": text}}).versions().torch == (1, 7)


def test_a_toleration_only_has_the_fields_that_are_set() -> None:
    assert Toleration(key="a", toleration_seconds=0).non_null_fields() == {
        "key": "a",
        "tolerationSeconds": 0,
    }


@pytest.mark.parametrize("spec", [{"gpus": {}}, {"gpu": {"resource": "x"}}, {"queueSystem": "slurm"},
                                  {"queueSystem": "kai", "gangScheduler": "volcano"}, {"gangScheduler": "slurm"},
                                  {"defaults": {"limits": {"cpu": "x"}}}, {"accelerators": {"a": {}}}])  # fmt: skip
def test_mistakes_are_refused(spec: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        making.profile(spec)


def test_the_schema_for_editors_accepts_a_whole_profile() -> None:
    schema = cluster_profile.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    json.dumps(schema)
    whole = ClusterProfile.model_validate({"kind": "ClusterProfile"}).model_dump(
        by_alias=True, mode="json", exclude_none=True
    )
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(whole)) == []


def test_the_committed_schema_is_current() -> None:
    """Refresh with `python -m ptcompile schema cluster > schemas/cluster.schema.json`."""
    committed = Path(__file__).parents[2] / "schemas" / "cluster.schema.json"
    assert json.loads(committed.read_text(encoding="utf-8")) == cluster_profile.json_schema()


def test_an_entry_gets_its_defaults() -> None:
    spec = making.profile(
        {
            "accelerators": {"a": {"nodeLabels": {"x": "y"}}},
            "fabrics": {"f": {"claims": {"nic": {"deviceClassName": "nics"}}}},
            "operator": {"namespace": {"name": "n"}},
        }
    ).spec
    assert spec.accelerators["a"].processes_per_device == 1
    assert spec.fabrics["f"].claims["nic"].count == 1
    assert spec.operator is not None
    assert spec.operator.namespace.create
