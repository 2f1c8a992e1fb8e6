"""Settings that only the manifest's own operator has."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.converter.settings import own_settings
from ptcompile.operators.targets import TARGETS
from tests.converter.jobs import pytorchjob, volcano_job


def test_a_null_is_no_setting() -> None:
    patch = {"manifest": {"volcano": {"spec": {"plugins": {"svc": None}, "running": {"x": None}}}}}
    assert own_settings(patch, "volcano").lost == ()


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_loses_a_setting_of_another_target(target: str) -> None:
    patch = {"manifest": {target: {"spec": {"unknown": 1}}}}
    assert own_settings(patch, target).lost == (("spec", "unknown"),)
    assert own_settings(patch, "job" if target == "pod" else "pod").lost == ()


def test_volcano_s_wait_for_the_master_is_left_behind() -> None:
    job = volcano_job(plugins={"pytorch": ["--wait-master-enabled=true"]})
    result = ptcompile.convert(job, target="jobset")
    assert result.ok, result.diagnostics
    assert [
        item.severity for item in result.diagnostics if "spec.plugins.pytorch" in item.message
    ] == ["warning"]


@pytest.mark.parametrize("target", ["jobset", "trainjob", "volcano"])
def test_a_generated_name_is_left_behind(target: str) -> None:
    job = pytorchjob()
    job["metadata"] = {"generateName": "run-"}
    result = ptcompile.convert(job, target=target)
    assert result.ok, result.diagnostics
    assert [item.severity for item in result.diagnostics if "generateName" in item.message] == [
        "warning"
    ]
    assert {manifest["metadata"]["name"] for manifest in result.manifests} == {"run"}


def test_a_restart_policy_that_the_operator_overwrites_is_no_loss() -> None:
    job = pytorchjob({"restartPolicy": "Always"})
    result = ptcompile.convert(job, target="jobset")
    assert result.ok, result.diagnostics
    assert not [item for item in result.diagnostics if item.name == "not-carried-over"]
