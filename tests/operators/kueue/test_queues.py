"""Kueue's record as a queue system."""

from __future__ import annotations

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import QUEUES, api_version


def test_queues_are_written_in_the_version_that_the_release_prefers() -> None:
    versions = {release: api_version(Versions(kueue=(0, release))) for release in (14, 15, 19)}
    v1beta1, v1beta2 = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
    assert versions == {14: v1beta1, 15: v1beta2, 19: v1beta2}


def test_releases_count_the_claims_of_devices_by_different_settings() -> None:
    assert QUEUES.devices is not None
    advice = {
        release: QUEUES.devices("gpu.example.com", Versions(kueue=(0, release)))[1]
        for release in (17, 18, 19)
    }
    assert "DynamicResourceAllocation" in advice[17]
    assert advice[18] == advice[19]
    assert advice[18].startswith("resources.deviceClassMappings names gpu.example.com")
