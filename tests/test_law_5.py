"""Law 5 over generated specs: whatever the target, the same world, or a refusal that says why not."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from ptcompile import compile, simulate
from ptcompile.simulation import World
from ptcompile.simulation.same import same_world
from ptcompile.targets import TARGETS
from tests.strategies import specs


@given(specs())
def test_law_5_generated(spec: dict[str, Any]) -> None:
    spec["metadata"]["name"] = "law-five"  # a name that stands in no argument: names are replaced by marks
    worlds: dict[str, World] = {}
    for target in TARGETS:
        result = compile(spec, target=target)
        if result.manifests:
            worlds[target] = simulate({"apiVersion": "v1", "kind": "List", "items": list(result.manifests)})
        else:
            assert any(one.severity == "error" and one.help is not None for one in result.diagnostics)
    first = next(iter(worlds), None)
    for target, world in worlds.items():
        assert len(world.jobs) == 1
        assert same_world(worlds[str(first)], world) == [], f"{first} and {target}"
