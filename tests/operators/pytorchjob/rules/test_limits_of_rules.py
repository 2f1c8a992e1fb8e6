"""Where the rules about PyTorchJobs begin and end."""

from __future__ import annotations

import pytest

from tests.linter.asking import problems_of
from tests.linter.rules.launch.making import Json, pytorchjob


@pytest.mark.parametrize(
    ("command", "processes", "expected"),
    [
        (["python", "t.py"], "8", True),
        (["/usr/bin/python3.12", "t.py"], "8", True),
        (["python", "-m", "acme.train"], "8", True),
        (["python", "-m", "torch.distributed.run", "t.py"], "8", False),
        (["python", "-m", "accelerate.commands.launch", "t.py"], "8", False),
        (["python", "-u", "t.py"], "8", True),
        (["python", "t.py"], "1", False),
        (["python", "t.py"], "2", True),
        (["python", "t.py"], "auto", False),
        (["torchrun", "t.py"], "8", False),
        (["./run"], "8", False),
    ],
)
def test_python_starts_one_process(command: list[str], processes: str, expected: bool) -> None:
    manifest = pytorchjob(master=command, worker=command, nprocPerNode=processes)
    assert bool(problems_of("world-size-counts-processes", manifest)) is expected


@pytest.mark.parametrize(
    ("workers", "text"), [(None, "each of 1 pod"), (1, "each of 2 pods"), (3, "each of 4 pods")]
)
def test_pods_are_counted_in_singular_and_plural(workers: int | None, text: str) -> None:
    command = ["python", "t.py"]
    worker = None if workers is None else command
    manifest = pytorchjob(master=command, worker=worker, workers=workers or 0, nprocPerNode="2")
    (problem,) = problems_of("world-size-counts-processes", manifest)
    assert problem.message.endswith(text)


@pytest.mark.parametrize(
    ("workers", "command", "spec", "expected"),
    [
        (2, ["torchrun", "t.py"], {}, True),
        (1, ["torchrun", "t.py"], {}, False),
        (2, ["torchrun", "t.py"], {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}}, False),
        (2, ["torchrun", "--nnodes=1", "t.py"], {}, False),
        (
            2,
            [
                "torchrun",
                "--nnodes=2",
                "--rdzv-backend=c10d",
                "--rdzv-endpoint=train-worker-0:1",
                "t.py",
            ],
            {},
            False,
        ),
        (2, ["python", "t.py"], {}, False),
    ],
)
def test_workers_must_find_one_another(
    workers: int, command: list[str], spec: Json, expected: bool
) -> None:
    manifest = pytorchjob(worker=command, workers=workers, **spec)
    assert bool(problems_of("workers-without-rendezvous", manifest)) is expected
