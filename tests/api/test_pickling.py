"""Pickling of the verbs' results and exceptions, as process pools do it."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import ptcompile
from tests.making import smallest

BAD = "apiVersion: ptcompile/v1\nkind: TrainingJob\n"
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec: {runtimeRef: {name: torch-distributed}, trainer: {numNodes: 3}}
"""
WORLDS = {
    "a spec for every target": smallest("nodes: 3"),
    "a runtime": RUNTIME,
    "nothing": "a: [",
    "no job": "kind: X",
}
COPIES: tuple[Callable[[Any], Any], ...] = (
    lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301
    copy.copy,
    copy.deepcopy,
)


def _unwrapped(_: int) -> object:
    return ptcompile.compile(BAD).unwrap()


def _simulated(_: int) -> ptcompile.World:
    return ptcompile.simulate(WORLDS["a spec for every target"])


@pytest.mark.parametrize("copied", COPIES)
def test_error_keeps_its_findings(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(ptcompile.CompileError) as caught:
        _unwrapped(0)
    caught.value.__dict__["job"] = "a"
    other = copied(caught.value)
    assert type(other) is ptcompile.CompileError
    assert other.diagnostics == caught.value.diagnostics != ()
    assert (str(other), vars(other)) == (str(caught.value), vars(caught.value))


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", WORLDS)
def test_world_survives_pickling(name: str, copied: Callable[[Any], Any]) -> None:
    world = ptcompile.simulate(WORLDS[name])
    other = copied(world)
    assert other.to_dict() == world.to_dict()
    assert [pod.view for pod in other.pods] == [pod.view for pod in world.pods]


def test_process_pool_raises_the_error() -> None:
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(ptcompile.CompileError) as caught,
    ):
        pool.map_async(_unwrapped, [1]).get(timeout=60)
    assert caught.value.diagnostics == ptcompile.compile(BAD).diagnostics


def test_process_pool_returns_worlds() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        (world,) = pool.map(_simulated, [1], timeout=60)
    assert world.to_dict() == _simulated(1).to_dict()
