"""Times, sizes and lists as Slurm reads them: docs/facts/slurm.md#units, and runs of Slurm 22.05."""

from __future__ import annotations

import pytest

from ptcompile.importer.slurm import amounts


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60", 3600), ("30:00", 1800), ("1-0", 86400), ("4320", 259200), ("24:00:00", 86400), ("1-12:30", 131400),
        ("0:30", 60), ("1-00:00:01", 86460), ("0", 0), ("INFINITE", 0), ("UNLIMITED", 0), ("-1", 0),
        ("1d", None), ("2h", None), ("${T}", None), ("", None), ("1:2:3:4", None),
    ],
)  # fmt: skip
def test_time_limits_become_seconds(text: str, seconds: int | None) -> None:
    assert amounts.seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("64G", "64Gi"), ("64g", "64Gi"), ("64GB", "64Gi"), ("2000", "2000Mi"), ("4096", "4Gi"), ("1T", "1024Gi"),
        ("512K", "1Mi"), ("0", "0Gi"), ("1.5G", None), ("10Gi", None), ("$M", None),
    ],
)  # fmt: skip
def test_memory_is_binary(text: str, quantity: str | None) -> None:
    mebibytes = amounts.mebibytes_of(text)
    assert (None if mebibytes is None else amounts.quantity_of(mebibytes)) == quantity


@pytest.mark.parametrize(
    ("text", "nodes"),
    [("4", 4), ("2-4", 4), ("1k", 1024), ("1,3,5", 5), ("1-15:4", 15), ("x", None), ("0", None)],
)
def test_a_range_of_nodes_gives_its_largest_number(text: str, nodes: int | None) -> None:
    assert amounts.nodes_of(text) == nodes


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        ("gpu", [("gpu", "", 1)]),
        ("gpu:2", [("gpu", "", 2)]),
        ("gpu:a100", [("gpu", "a100", 1)]),
        ("gpu:a100:2", [("gpu", "a100", 2)]),
        ("gpu:1g.10gb:1,nvme:1", [("gpu", "1g.10gb", 1), ("nvme", "", 1)]),
        ("gpu:a100:4(S:0-1)", [("gpu", "a100", 4)]),
        ("gres/gpu:2", [("gpu", "", 2)]),
        ("none", []),
        ("gpu:a:b:c", None),
    ],
)
def test_generic_resources_become_counts(
    text: str, resources: list[tuple[str, str, int]] | None
) -> None:
    assert amounts.gres_of(text) == resources


@pytest.mark.parametrize(
    ("text", "indexes", "at_once"),
    [
        ("0-3", [0, 1, 2, 3], None),
        ("1,3,7", [1, 3, 7], None),
        ("0-15:5%4", [0, 5, 10, 15], 4),
        ("7", [7], None),
    ],
)
def test_arrays_have_their_indexes(text: str, indexes: list[int], at_once: int | None) -> None:
    array = amounts.array_of(text)
    assert array is not None
    assert ([*array.each()], array.size, array.at_once) == (indexes, len(indexes), at_once)


def test_an_array_of_a_billion_is_counted_and_not_listed() -> None:
    array = amounts.array_of("0-999999999")
    assert array is not None
    assert array.size == 10**9


@pytest.mark.parametrize("text", ["", "a", "0-", "1%", "1%x", "${N}"])
def test_wrong_arrays_are_rejected(text: str) -> None:
    assert amounts.array_of(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("USR1", 60), ("B:USR1@120", 120), ("SIGUSR1@90", 90), ("@", None)]
)
def test_a_signal_s_notice_is_in_seconds(text: str, seconds: int | None) -> None:
    assert amounts.notice_of(text) == seconds
