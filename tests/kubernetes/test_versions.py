from __future__ import annotations

import json
import re

import pytest

from ptcompile.kubernetes.versions import (
    RELEASES,
    GateStage,
    Version,
    Versions,
    gates_of,
    is_group,
    is_switched,
    newest,
    parse_version,
    stage_in,
    stages_of,
)
from tests import recorded as recordings
from tests.recordings import recorded


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.36", (1, 36)), ("v1.9.4", (1, 9)), ("1.16.0-alpha.1", (1, 16)), ("v1.30+k3s1", (1, 30))],
)
def test_parse_version_reads_major_and_minor(text: str, expected: tuple[int, int]) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize("text", ["", "1", "one.two", "1.x", "1.", ".5", "1.٣"])
def test_invalid_versions_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        parse_version(text)


def test_each_software_has_its_switched_gates() -> None:
    gates = (
        ("kubernetes", "AllAlpha", True),
        ("jobset", "InPlaceRestart", True),
        ("kubernetes", "ImageVolume", False),
    )
    assert Versions(gates=gates).gates_of("kubernetes") == (
        ("AllAlpha", True),
        ("ImageVolume", False),
    )
    assert Versions(gates=gates).gates_of("kueue") == Versions().gates_of("kubernetes") == ()


def test_the_defaults_are_the_newest_releases_that_are_modeled() -> None:
    lines = recorded("operators/records.txt").partition("\n\n")[0].splitlines()
    newest = {name: parse_version(version) for name, version in map(str.split, lines)}
    assert {
        name: value for name, value in Versions()._asdict().items() if value and name != "domain"
    } == newest


@pytest.mark.parametrize(
    ("gate", "minor", "expected"),
    [
        ("EmptyDirVolumeMode", 36, None),
        ("EmptyDirVolumeMode", 37, GateStage(37, "alpha", default=False)),
        ("ImageVolume", 34, GateStage(33, "beta", default=False)),
        ("ImageVolume", 35, GateStage(35, "beta", default=True)),
        ("MaxUnavailableStatefulSet", 36, GateStage(35, "beta", default=False)),
        ("DynamicResourceAllocation", 35, GateStage(35, "stable", default=True, locked=True)),
        ("NoSuchGate", 37, None),
    ],
)
def test_a_gate_has_its_stage_in_each_release(
    gate: str, minor: int, expected: GateStage | None
) -> None:
    assert stage_in("kubernetes", gate, (1, minor)) == expected


def test_a_gate_of_jobset_begins_with_a_release() -> None:
    assert stage_in("jobset", "InPlaceRestart", (0, 10)) is None
    assert stages_of("jobset", "InPlaceRestart")[0] == GateStage(11, "alpha", default=False)
    assert stages_of("jobset", "NoSuchGate") == []


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ((), None),
        ((("ImageVolume", False),), None),
        ((("EmptyDirVolumeMode", True),), True),
        ((("AllAlpha", True),), True),
        ((("AllBeta", True),), None),
        ((("AllAlpha", True), ("EmptyDirVolumeMode", False)), False),
    ],
)
def test_a_profile_switches_a_gate_by_name_or_by_stage(
    switches: tuple[tuple[str, bool], ...], expected: bool | None
) -> None:
    assert is_switched("kubernetes", "EmptyDirVolumeMode", (1, 37), switches) is expected


@pytest.mark.parametrize(
    ("gate", "expected"), [("AllAlpha", True), ("AllBeta", True), ("ImageVolume", False)]
)
def test_only_some_gates_switch_a_whole_stage(gate: str, expected: bool) -> None:
    assert is_group(gate) is expected


@pytest.mark.parametrize("software", ["kubernetes", "jobset"])
def test_the_stages_of_each_gate_are_in_order(software: str) -> None:
    for gate, stages in gates_of(software).items():
        releases = [int(str(stage[0])) for stage in stages]
        assert releases == sorted(set(releases)), gate
        assert all(len(stage) == 3 or stage[3:] == ["locked"] for stage in stages), gate


def recorded_releases() -> dict[str, Version]:
    """Return the newest release of each software that answered a recording, from their headers."""
    headers = [recordings.header(name)["versions"] for name in recordings.names()]
    torchrun = (recordings.HERE / "torchrun").glob("*.json")
    headers += [json.loads(path.read_text(encoding="utf-8"))["versions"] for path in torchrun]
    releases: dict[str, Version] = {}
    for software, text in (item for versions in headers for item in versions.items()):
        release = parse_version("".join(re.findall(r"^[\d.]+", text)))
        releases[software] = max(releases.get(software, release), release)
    return releases


@pytest.mark.parametrize("software", RELEASES)
def test_the_newest_modeled_release_is_at_most_one_after_the_newest_recorded(software: str) -> None:
    """Record the answers of a release before the next one is modeled: docs/maintaining/new-release.md."""
    release = RELEASES[software]
    assert release.keys() - {"oldest", "recorded"} == {"title", "modeled"}
    modeled = getattr(Versions(), software)
    assert modeled == newest(software)
    if "recorded" in release:
        major, minor = newest(software, "recorded")
        assert modeled in ((major, minor), (major, minor + 1))


def test_the_recorded_releases_are_those_of_the_recordings() -> None:
    known = {name: newest(name, "recorded") for name, row in RELEASES.items() if "recorded" in row}
    answered = recorded_releases()
    assert known == {name: answered[name] for name in RELEASES if name in answered}


def test_every_software_of_a_profile_is_in_the_table() -> None:
    versions = {
        name
        for name, value in Versions._field_defaults.items()
        if re.fullmatch(r"\(\d+, \d+\)", str(value))
    }
    assert versions == set(RELEASES)
