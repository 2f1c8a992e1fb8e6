"""Values of wrong types anywhere in an object of a built-in kind: a finding, and never an exception."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.apiserver import validate
from tests.apiserver.validation import (
    test_cluster,
    test_csi,
    test_device_taints,
    test_endpoints,
    test_flow_control,
    test_networking,
)
from tests.apiserver.validation.small_kinds import Json
from tests.apiserver.validation.test_other_kinds import paths
from tests.differ.applying.test_updates import changed

GOOD: dict[str, Json] = {
    f"{module.__name__.rpartition('.')[2]}-{name}": manifest
    for module in (
        test_cluster,
        test_csi,
        test_device_taints,
        test_endpoints,
        test_flow_control,
        test_networking,
    )
    for name, manifest in module.GOOD.items()
}
VALUES = [
    [],
    {},
    "x",
    "\u00e9",
    7,
    -1,
    True,
    1.5,
    10**30,
    [None],
    [[]],
    [1],
    {"a": []},
    {"a": None},
    [{"name": []}],
    {"": 1},
]


@pytest.mark.parametrize("name", GOOD)
def test_no_value_raises(name: str) -> None:
    for path in paths(GOOD[name], ()):
        if "." in "".join(path):  # a key with a dot is two steps to `changed`
            continue
        for value in VALUES:
            validate(changed(GOOD[name], ".".join(path), value))
        ptcompile.diff(GOOD[name], changed(GOOD[name], ".".join(path), [[]]))
        ptcompile.diff(changed(GOOD[name], ".".join(path), 7), GOOD[name])
