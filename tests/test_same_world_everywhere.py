"""CONTRIBUTING.md#laws 5 for generated specs: every target produces the same world, or an error that says why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from ptcompile import compile, simulate
from ptcompile.operators.targets import TARGETS
from ptcompile.simulator.equivalence import world_differences
from ptcompile.simulator.world import World
from tests.strategies import specs


def _holds(spec: dict[str, Any]) -> int:
    """Check that all targets produce the same world and return how many compile the spec."""
    spec["metadata"]["name"] = (
        "law-five"  # a name that no argument contains, because names are replaced by placeholders
    )
    worlds: dict[str, World] = {}
    for target in TARGETS:
        result = compile(spec, target=target)
        if result.manifests:
            worlds[target] = simulate(
                {"apiVersion": "v1", "kind": "List", "items": list(result.manifests)}
            )
        else:
            assert any(
                diagnostic.severity == "error" and diagnostic.help is not None
                for diagnostic in result.diagnostics
            )
    first = next(iter(worlds), None)
    for target, world in worlds.items():
        assert len(world.jobs) == 1
        assert world_differences(worlds[str(first)], world) == [], f"{first} and {target}"
    return len(worlds)


@given(specs())
def test_law_5_holds_for_generated_specs(spec: dict[str, Any]) -> None:
    _holds(spec)


@pytest.mark.parametrize("args", [[""], ["--epochs", "3"], ["python", "train.py"]], ids=str)
def test_roles_that_the_image_starts_see_the_same_world(args: list[str]) -> None:
    """The image decides how many processes it starts, so the GPUs that PET_NPROC_PER_NODE counts are not enough."""
    body = {
        "image": "i",
        "resources": {"gpu": 8},
        "args": args,
        "master": {},
        "worker": {"replicas": 3, "args": []},
    }
    spec = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": body,
    }
    assert _holds(spec) >= 3
