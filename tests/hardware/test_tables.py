"""The catalog as tables: completeness, and agreement of the site with the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ptcompile.hardware import tables
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.hardware.machines import machines_by_name
from tests.cli.running import here
from tests.recordings import AGAIN, RECORDINGS, recorded
from website.pages import made_pages

Capture = pytest.CaptureFixture[str]


def test_the_site_has_the_table() -> None:
    page = made_pages()["reference/machines.md"]
    assert tables.markdown() in page
    assert "`ptcompile targets --accelerators`" in page


def test_every_machine_is_in_the_table() -> None:
    cells = {cell for line in tables.text().splitlines() for cell in line.split()}
    assert cells >= {*machines_by_name(), *ROWS}


def test_the_data_have_every_machine_of_a_cloud() -> None:
    """Those with fewer devices, too: nodes of a pool are not always the largest."""
    clouds = [
        cloud
        for row in tables.to_dict()["accelerators"].values()
        for cloud in row["clouds"].values()
    ]
    assert {machine["name"] for cloud in clouds for machine in cloud["machines"]} == {
        *machines_by_name()
    }


def _data(capsys: Capture) -> Any:
    return json.loads(here(capsys, "targets", "--accelerators", "--format", "json").out)


def test_json_has_every_accelerator_and_fabric(capsys: Capture) -> None:
    data = _data(capsys)
    assert data["accelerators"].keys() == ROWS.keys()
    assert data["fabrics"].keys() == FABRICS.keys()


def test_json_has_the_facts_of_an_accelerator(capsys: Capture) -> None:
    gb200 = _data(capsys)["accelerators"]["nvidia-gb200"]
    assert gb200["resource"] == "nvidia.com/gpu"
    assert gb200["nodesPerDomain"] == 18
    assert gb200["arm64"] is True
    (machine,) = gb200["clouds"]["eks"]["machines"]
    assert (machine["devices"], machine["fabricDevices"], machine["localDisk"]) == (
        4,
        {"efa": 4},
        "22500G",
    )


def test_json_has_every_source(capsys: Capture) -> None:
    data = _data(capsys)
    assert all(
        cloud["sources"]
        for row in data["accelerators"].values()
        for cloud in row["clouds"].values()
    )
    assert all("20" in variable["source"] for variable in data["variables"])


def test_the_command_prints_either_table(capsys: Capture) -> None:
    assert here(capsys, "targets", "--accelerators").out == tables.text()
    assert (
        here(capsys, "targets", "--accelerators", "--format", "markdown").out == tables.markdown()
    )


@pytest.mark.parametrize("words", [["--format", "markdown"], ["--accelerators", "--versions"]])
def test_incompatible_options_are_rejected(capsys: Capture, words: list[str]) -> None:
    assert here(capsys, "targets", *words).status == 2


def test_the_catalog_is_as_recorded() -> None:
    name = "hardware/catalogue.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN
