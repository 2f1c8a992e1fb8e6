"""Misspelled names of variables that NCCL and PyTorch read, and unrelated names."""

from __future__ import annotations

import pytest

from ptcompile.linter.environment import KNOWN_VARIABLES, closest_variable
from tests.linter.asking import container, fires


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NCCL_SOCKET_IFACE", "NCCL_SOCKET_IFNAME"),
        ("NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"),
        ("NCLL_DEBUG", "NCCL_DEBUG"),
        ("NCCL_DEUBG", "NCCL_DEBUG"),
        ("TORCH_DISTRIBUTED_DEBG", "TORCH_DISTRIBUTED_DEBUG"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLNG", "TORCH_NCCL_ASYNC_ERROR_HANDLING"),
        ("OMP_NUM_THREAD", "OMP_NUM_THREADS"),
        ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),
        ("NCCL_MIN_CHANNELS", "NCCL_MIN_NCHANNELS"),
        ("GLOO_SOCKET_IFNAM", "GLOO_SOCKET_IFNAME"),
        # variables of other libraries, from the clouds' fabric guides
        ("NCCL_FASTRAK_IFNAME", None),
        ("NCCL_GPUDIRECTTCPX_SOCKET_IFNAME", None),
        ("NCCL_TESTS_SPLIT", None),
        ("NCCL_VERSION", None),
        ("NCCL_HOME", None),
        ("CUDA_HOME", None),
        ("CUDA_VERSION", None),
        ("TORCH_HOME", None),
        ("TORCHX_JOB_ID", None),
        ("MY_NCCL_DEBUG", None),
        ("", None),
    ],
)
def test_misspelled_names(name: str, meant: str | None) -> None:
    assert closest_variable(name) == meant


def test_no_known_name_is_a_misspelling_of_another() -> None:
    assert not [name for name in KNOWN_VARIABLES if closest_variable(name)]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("NCCL_IB_DISABLE", "true", True),
        ("NCCL_IB_DISABLE", "1", False),
        ("NCCL_IB_GID_INDEX", "-1", False),
        ("NCCL_IB_TIMEOUT", "0x16", False),  # strtoll, base 0
        ("NCCL_IB_DISABLE", "$(X)", False),
        ("NCCL_DEBUG", "info", False),
        ("NCCL_DEBUG", "VERBOSE", True),
        ("TORCH_DISTRIBUTED_DEBUG", "ON", True),
        ("OMP_NUM_THREADS", "4,2", False),
        ("OMP_NUM_THREADS", "0", True),
        ("OMP_NUM_THREADS", "auto", True),
        ("OMP_NUM_THREADS", "²", True),
        ("NCCL_NET_GDR_LEVEL", "PHB", False),
    ],
)
def test_values(name: str, value: str, expected: bool) -> None:
    assert fires("invalid-env-value", container(env=[{"name": name, "value": value}])) is expected
