"""The rendezvous that torchrun derives from options and variables (docs/facts/torchrun.md#options-and-variables)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.simulator.launchers import torchrun
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
def test_a_command_line_joins_its_rendezvous(
    argv: list[str], env: dict[str, str], devices: int, expected: tuple[object, ...]
) -> None:
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
def test_the_static_node_rank_is_that_of_the_rendezvous(
    argv: list[str], env: dict[str, str]
) -> None:
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
        (
            ["torchrun", "--nproc-per-node=gpu", "t.py"],
            {},
            "torchrun does not start without a device",
        ),
        (
            ["torchrun", "--nproc-per-node=8 ", "t.py"],
            {},
            "torchrun does not start: nproc-per-node '8 '",
        ),
        (["accelerate", "launch", "t.py"], {}, "accelerate launch does not read PET_* variables"),
        (["python", "t.py"], {"PET_NNODES": "4"}, "the command does not start torchrun"),
        ([], {"PET_NNODES": "4"}, "the image's own command is unknown"),
    ],
)
def test_uncertain_rendezvous_have_a_note(argv: list[str], env: dict[str, str], note: str) -> None:
    assert any(
        one.startswith(note) for one in pod_rendezvous(read_command_line(argv, env), env, 0).notes
    )


def test_cuda_is_not_a_number_of_processes() -> None:
    """PyTorch 2.13, torch/distributed/run.py: "Unsupported nproc_per_node value: cuda", with any number of devices."""
    rendezvous = pod_rendezvous(
        read_command_line(["torchrun", "--nproc-per-node=cuda", "t.py"], {}), {}, 4
    )
    assert rendezvous.processes is None
    assert [
        note
        for note in rendezvous.notes
        if note.startswith("torchrun does not start: nproc-per-node 'cuda'")
    ]


@pytest.mark.parametrize(
    ("torch", "closes"),
    [((2, 2), False), ((2, 3), True), ((2, 5), True), ((2, 7), True), ((2, 8), False)],
)
def test_some_releases_close_the_rendezvous_on_sigterm(
    torch: tuple[int, int], closes: bool
) -> None:
    """Sources: PyTorch pull requests 117066 and 152525."""
    assert torchrun.closes_on_sigterm(torch) is closes


def test_some_releases_have_the_same_torchrun() -> None:
    """Sources: PyTorch pull requests 117066, 128096, 135957 and 152525."""
    releases = [(2, minor) for minor in range(1, 14)]
    new = [b for a, b in pairwise(releases) if not torchrun.has_same_torchrun(a, b)]
    assert new == [(2, 3), (2, 4), (2, 6), (2, 8)]
    assert torchrun.has_same_torchrun((2, 8), (2, 13))
    assert not torchrun.has_same_torchrun((2, 1), (2, 13))


@pytest.mark.parametrize(
    ("image", "torch"),
    [
        ("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", (2, 6)),
        ("docker.io/pytorch/pytorch:2.2.2", (2, 2)),
        ("pytorch/pytorch:latest", (2, 9)),
        ("ghcr.io/acme/pytorch:2.2.2", (2, 9)),
        (None, (2, 9)),
    ],
)
def test_an_image_shows_its_torch_release(image: str | None, torch: tuple[int, int]) -> None:
    assert torchrun.torch_of(image, Versions(torch=(2, 9))) == torch


@pytest.mark.parametrize(
    ("endpoint", "static", "why"),
    [
        ("", True, None),
        ("h:29400", True, None),
        ("h", False, None),
        ("h", True, "a static rendezvous needs HOST:PORT"),
        ("h:", False, "'' is not a port"),
        ("h:65535", False, None),
        ("h:65536", False, "'65536' is not a port"),
        ("h:x", False, "'x' is not a port"),
        ("h:000080", False, "'000080' is not a port"),
        ("[::1]", False, None),
        ("[::1]:29400", True, None),
        ("a b:1", False, "'a b' is not a host name or an address"),
        (" h:1 ", True, None),
    ],
)
def test_an_endpoint_is_a_host_and_a_port(endpoint: str, static: bool, why: str | None) -> None:
    """Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/utils.py `parse_rendezvous_endpoint`."""
    assert torchrun.why_not_endpoint(endpoint, static=static) == why


@pytest.mark.parametrize(
    ("name", "value", "backend", "why"),
    [
        ("timeout", "60", "static", None),
        ("timeout", "x", "static", "must be a whole number"),
        ("timeout", "x", "c10d", None),  # c10d does not read it
        ("timeout", "x", None, "must be a whole number"),
        (" join_timeout ", " 1 ", "c10d", None),
        ("join_timeout", "0", "c10d", "must be above 0"),
        ("join_timeout", "-1", "etcd-v2", "must be above 0"),
        ("cas_backoff_max_seconds", "0", "c10d", None),
        ("cas_backoff_max_seconds", "0.5", "c10d", None),
        ("cas_backoff_max_seconds", "-0.5", "c10d", "must be finite and not negative"),
        ("cas_backoff_max_seconds", "inf", "c10d", "must be finite and not negative"),
        ("cas_backoff_max_seconds", "x", "c10d", "must be a number"),
        ("is_host", "Yes", "c10d", None),
        ("is_host", "on", "c10d", "must be true or false"),
        ("store_type", "FILE", "c10d", None),
        ("store_type", "redis", "c10d", "must be tcp or file"),
        ("protocol", "ftp", "etcd-v2", "must be http or https"),
        ("protocol", "ftp", "etcd", None),
        ("unknown", "x", "c10d", None),
        ("timeout", "x", "unknown", None),
    ],
)
def test_a_backend_rejects_values_with_its_reason(
    name: str, value: str, backend: str | None, why: str | None
) -> None:
    assert torchrun.why_not_option(name, value, backend) == why


def test_a_configuration_is_split_as_by_torchrun() -> None:
    assert torchrun.conf_of(" a = 1 ,b=2=3,,c,a=4, =5") == {"a": "4", "b": "2=3", "c": ""}
    assert torchrun.unknown_conf_options("timeout=1, nope=2,,join_timeout=3") == ["nope"]


def test_the_first_release_that_has_an_option_is_known() -> None:
    """Source: `torchrun --help` of 2.2.2, 2.5.1, 2.13.0 and 2.15.0."""
    assert torchrun.first_with_option("logs-specs") == (2, 5)
    assert torchrun.first_with_option("numa-binding") == (2, 13)
    assert torchrun.first_with_option("print-completion") == (2, 15)


def test_options_and_variables_share_their_names() -> None:
    assert (
        torchrun.option_name("--nproc_per_node=8")
        == torchrun.option_name("--nproc_per=8")
        == "nproc-per-node"
    )
    assert torchrun.option_name("--epochs=3") == "epochs"
    assert torchrun.option_variable("nproc-per-node") == "PET_NPROC_PER_NODE"
    literal = {"h:1": True, "$(H):1": False, "<secret:a/b>": False, "`h`": False}
    assert {value: torchrun.is_literal(value) for value in literal} == literal
    assert [torchrun.is_int(value) for value in ("3", " 3 ", "-1", "1.5", "x", "")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
