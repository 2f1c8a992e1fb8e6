"""Fields of a profile that a cluster's objects of Kueue show."""

from __future__ import annotations

from typing import Any

from ptcompile.operators.kueue.profile import profile_fields

CHECK = {"metadata": {"name": "far"}, "spec": {"controllerName": "kueue.x-k8s.io/multikueue"}}


def _queue(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": spec}


def test_frameworks_are_read_from_the_configuration_and_its_config_map() -> None:
    text = "kind: Configuration\nintegrations: {frameworks: [batch/job, kubeflow.org/pytorchjob]}\n"
    config_map = {
        "data": {
            "controller_manager_config.yaml": text,
            "other": "kind: Configuration: [",
            "number": 1,
        }
    }
    assert profile_fields({"ConfigMap": [config_map]}) == {
        "queueFrameworks": ["kubeflow.org/pytorchjob"]
    }
    configuration = {"integrations": {"frameworks": ["kubeflow.org/tfjob", "batch/job"]}}
    assert profile_fields({"Configuration": [configuration]}) == {
        "queueFrameworks": ["kubeflow.org/tfjob"]
    }
    assert (
        profile_fields({"Configuration": [{"integrations": {"frameworks": ["batch/job"]}}, {}]})
        == {}
    )


def test_a_manager_cluster_is_one_whose_queues_all_run_elsewhere() -> None:
    far, near = (
        _queue(admissionChecksStrategy={"admissionChecks": [{"name": "far"}]}),
        _queue(admissionChecks=["near"]),
    )
    assert profile_fields({"AdmissionCheck": [CHECK], "ClusterQueue": [far]}) == {
        "multiKueue": True
    }
    assert profile_fields({"AdmissionCheck": [CHECK], "ClusterQueue": [far, near]}) == {}
    assert profile_fields({"AdmissionCheck": [CHECK]}) == {}
    assert profile_fields({"ClusterQueue": [far]}) == {}
