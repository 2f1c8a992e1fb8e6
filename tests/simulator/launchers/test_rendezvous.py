"""The rendezvous that torchrun derives from options and variables (docs/facts/torchrun.md#options-and-variables)."""

from __future__ import annotations

import pytest

from ptcompile.simulator.launchers.command import read_command_line
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS, pod_rendezvous, static_node_rank


@pytest.mark.parametrize(
    ("argv", "env", "devices", "expected"),
    [
        # the defaults
        (["torchrun", "t.py"], {}, 0, ("static", "127.0.0.1:29500", (1, 1), "0", 1, "1")),
        # PET_* variables alone are enough for two torchruns to meet
        (["torchrun", "t.py"],
         {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": "h",
          "PET_MASTER_PORT": "1"}, 0, ("static", "h:1", (2, 2), "1", 2, "4")),
        # a flag beats the variable
        (["torchrun", "--nnodes=4", "t.py"], {"PET_NNODES": "2"}, 0,
         ("static", "127.0.0.1:29500", (4, 4), "0", 1, "4")),
        # another backend ignores address, port and node rank
        (["torchrun", "--nnodes=2:4", "--nproc-per-node=8", "--rdzv-backend=c10d", "--rdzv-endpoint=h:29400", "t.py"],
         {"PET_NODE_RANK": "3"}, 8, ("c10d", "h:29400", (2, 4), AT_RENDEZVOUS, 8, "16 to 32")),
        # standalone overrides everything
        (["torchrun", "--standalone", "--rdzv-endpoint=h:1", "t.py"], {}, 0,
         ("c10d", "localhost:0", (1, 1), AT_RENDEZVOUS, 1, "1")),
        (["torchrun", "--nproc-per-node=auto", "t.py"], {"PET_NNODES": "2"}, 4,
         ("static", "127.0.0.1:29500", (2, 2), "0", 4, "8")),
        (["torchrun", "--nproc-per-node=gpu", "t.py"], {"PET_NNODES": "2"}, 4,
         ("static", "127.0.0.1:29500", (2, 2), "0", 4, "8")),
        (["torchrun", "--nproc-per-node=auto", "t.py"], {}, 0,
         ("static", "127.0.0.1:29500", (1, 1), "0", None, "1 x number of the host's cores (auto)")),
        # 0 and MIN over MAX crash torchrun
        (["torchrun", "--nnodes=4:2", "t.py"], {}, 0, ("static", "127.0.0.1:29500", None, "0", 1, "4:2 x 1")),
        (["torchrun", "--nnodes=0", "t.py"], {}, 0, ("static", "127.0.0.1:29500", None, "0", 1, "0 x 1")),
        # without torchrun
        (["python", "t.py"], {"MASTER_ADDR": "h", "MASTER_PORT": "1", "WORLD_SIZE": "4", "RANK": "2"}, 8,
         ("env", "h:1", (4, 4), "2", 1, "4")),
        (["python", "t.py"], {"PET_NNODES": "4"}, 8, ("none", "", (1, 1), "0", 1, "1")),
    ],
)  # fmt: skip
def test_rendezvous(argv: list[str], env: dict[str, str], devices: int, expected: tuple[object, ...]) -> None:
    rendezvous = pod_rendezvous(read_command_line(argv, env), env, devices)
    assert (
        rendezvous.backend,
        rendezvous.endpoint,
        rendezvous.nodes,
        rendezvous.node_rank,
        rendezvous.processes,
        rendezvous.world_size_text,
    ) == expected


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["torchrun", "t.py"], {}),
        (["torchrun", "t.py"], {"PET_NODE_RANK": "1"}),
        (["torchrun", "--node_rank", "2", "t.py"], {"PET_NODE_RANK": "1"}),
        (["sh", "-c", "export PET_NODE_RANK=3; torchrun t.py"], {"PET_NODE_RANK": "1"}),
    ],
    # default, variable, option before variable, variable set in the script
    # (docs/facts/torchrun.md#options-and-variables)
)
def test_the_static_node_rank_is_that_of_the_rendezvous(argv: list[str], env: dict[str, str]) -> None:
    launch = read_command_line(argv, env)
    assert static_node_rank(launch) == pod_rendezvous(launch, launch.env, 0).node_rank


@pytest.mark.parametrize(
    ("argv", "env", "note"),
    [
        (
            ["torchrun", "t.py"],
            {"PET_STANDALONE": ""},
            "torchrun does not start: PET_STANDALONE must be a whole number, not ''",
        ),
        (["torchrun", "--nnodes=4:2", "t.py"], {}, "torchrun does not start: nnodes '4:2'"),
        (["torchrun", "--nproc-per-node=gpu", "t.py"], {}, "torchrun does not start without a device"),
        (["torchrun", "--nproc-per-node=8 ", "t.py"], {}, "torchrun does not start: nproc-per-node '8 '"),
        (["accelerate", "launch", "t.py"], {}, "accelerate launch does not read PET_* variables"),
        (["python", "t.py"], {"PET_NNODES": "4"}, "the command does not start torchrun"),
        ([], {"PET_NNODES": "4"}, "the image's own command is unknown"),
    ],
)
def test_rendezvous_notes(argv: list[str], env: dict[str, str], note: str) -> None:
    assert any(one.startswith(note) for one in pod_rendezvous(read_command_line(argv, env), env, 0).notes)


def test_cuda_is_not_a_number_of_processes() -> None:
    """PyTorch 2.13, torch/distributed/run.py: "Unsupported nproc_per_node value: cuda", with any number of devices."""
    rendezvous = pod_rendezvous(read_command_line(["torchrun", "--nproc-per-node=cuda", "t.py"], {}), {}, 4)
    assert rendezvous.processes is None
    assert [note for note in rendezvous.notes if note.startswith("torchrun does not start: nproc-per-node 'cuda'")]
