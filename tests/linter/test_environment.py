"""Misspelled names of variables that NCCL and PyTorch read, and unrelated names."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter.environment import (
    KNOWN_VARIABLES,
    closest_variable,
    is_never_number,
    variable_path,
)
from ptcompile.linter.rule import subject_of
from ptcompile.simulator.kubelet import imported_names
from ptcompile.simulator.obstacles import pod_specific_part
from ptcompile.world.workload import Stream
from tests.linter.asking import container, fires, problems_of


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
def test_a_misspelled_name_has_its_closest_variable(name: str, meant: str | None) -> None:
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
def test_invalid_values_of_variables_are_reported(name: str, value: str, expected: bool) -> None:
    assert fires("invalid-env-value", container(env=[{"name": name, "value": value}])) is expected


@pytest.mark.parametrize("name", ["A", "NCCL_X", "NCCL_DEBUG", "NCCL_" + "X" * 59, "ACME_DEBUG"])
def test_names_that_are_short_long_known_or_of_others_have_no_suggestion(name: str) -> None:
    assert closest_variable(name) is None


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("train", None),
        ("a-<metadata.name>", "<metadata.name>"),
        ("id-$RANDOM", "$RANDOM"),
        ("$(hostname -f):1", "$(hostname"),
        ("<metadata.namespace>", None),
    ],
)
def test_the_part_of_a_value_that_differs_between_pods_is_found(
    value: str, part: str | None
) -> None:
    assert pod_specific_part(value) == part


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<metadata.name>", True), ("x<status.podIP>", True), ("$(hostname)", True), ("`hostname`", True),
        ("<metadata.labels['rank']>", False), ("${HOSTNAME##*-}", False), ("3", False), ("", False), ("<", False),
    ],
)  # fmt: skip
def test_some_sources_are_never_numbers(value: str, expected: bool) -> None:
    assert is_never_number(value) is expected


@pytest.mark.parametrize(
    ("env_from", "names"),
    [
        ([], set()),
        ([{"configMapRef": {"name": "c"}}], {"A"}),
        ([{"configMapRef": {"name": "c"}, "prefix": "P_"}], {"P_A"}),
        ([{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "s"}}], {"A", "KEY", "TOKEN"}),
        ([{"configMapRef": {"name": "other"}}], None),
        ([{"secretRef": {"name": "c"}}], None),
        ([{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "other"}}], None),
        ([{"prefix": "P_"}], None),
    ],
)
def test_only_objects_of_the_stream_settle_imported_names(
    env_from: list[dict[str, Any]], names: set[str] | None
) -> None:
    def of(kind: str, name: str, **fields: Any) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": "ml"},
            **fields,
        }

    stream = [
        {**container(), "metadata": {"name": "train", "namespace": "ml"}},
        of("ConfigMap", "c", data={"A": "1"}, binaryData={"BLOB": ""}),
        of("Secret", "s", data={"KEY": ""}, stringData={"TOKEN": ""}),
    ]
    find = subject_of(stream[0], Stream(stream)).find
    elsewhere = subject_of({**stream[0], "metadata": {"name": "train"}}, Stream(stream)).find
    assert imported_names({"envFrom": env_from}, find) == (
        None if names is None else frozenset(names)
    )
    assert imported_names({"envFrom": env_from}, elsewhere) == (None if env_from else frozenset())


def test_the_path_of_a_variable_is_that_of_its_entry_or_of_the_container() -> None:
    subject = subject_of(container(), Stream())
    spec = {"env": [{"name": "A"}, {"name": "B"}, {"name": "A"}]}
    assert variable_path(subject, ("spec",), spec, "B") == ("spec", "env", 1)
    assert variable_path(subject, ("spec",), spec, "A") == (
        "spec",
        "env",
        2,
    )  # the last one takes effect
    assert (
        variable_path(subject, ("spec",), spec, "C")
        == variable_path(subject, ("spec",), {}, "A")
        == ("spec",)
    )


MOVED = {
    "OMP_NUM_THREADS": "64",
    "NCLL_DEBUG": "INFO",
    "WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567",
}
BY_FROM: dict[str, Any] = {"envFrom": [{"configMapRef": {"name": "env"}}]}
BY_KEY: dict[str, Any] = {
    "env": [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": "env", "key": name}}}
        for name in MOVED
    ]
}


def in_configmap(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "env"}, "data": data}


@pytest.mark.parametrize(
    ("fields", "path"),
    [(BY_FROM, ("envFrom", 0)), (BY_KEY, ("env", 0, "valueFrom"))],
)
def test_a_value_of_a_configmap_is_reported_where_the_container_reads_it(
    fields: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    manifest = container(resources={"limits": {"cpu": 4}}, **fields)
    (threads,) = problems_of("threads-above-cpus", manifest, in_configmap(**MOVED))
    assert threads.path == ("spec", "containers", 0, *path)
    assert threads.message.endswith(
        " are throttled (OMP_NUM_THREADS is set by ConfigMap default/env)"
    )
    assert threads.fix is None


@pytest.mark.parametrize("fields", [BY_FROM, BY_KEY])
def test_names_and_secrets_of_a_configmap_are_judged(fields: dict[str, Any]) -> None:
    manifest = container(**fields)
    assert fires("misspelt-env", manifest, in_configmap(**MOVED))
    (secret,) = problems_of("secret-in-env", manifest, in_configmap(**MOVED))
    assert "the secret WANDB_API_KEY can be read by everyone" in secret.message
    assert not any(
        value in f"{secret.message} {secret.help}" for value in (MOVED["WANDB_API_KEY"], "0123")
    )


def test_the_last_value_of_a_name_takes_effect() -> None:
    own = {"env": [{"name": "OMP_NUM_THREADS", "value": "2"}]}
    manifest = container(resources={"limits": {"cpu": 4}}, **BY_FROM, **own)
    assert not fires("threads-above-cpus", manifest, in_configmap(**MOVED))
    later = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "more"},
        "data": {"OMP_NUM_THREADS": "2"},
    }
    both = {"envFrom": [*BY_FROM["envFrom"], {"configMapRef": {"name": "more"}}]}
    manifest = container(resources={"limits": {"cpu": 4}}, **both)
    assert not fires("threads-above-cpus", manifest, in_configmap(**MOVED), later)


def test_a_configmap_of_another_namespace_or_file_sets_nothing() -> None:
    manifest = container(resources={"limits": {"cpu": 4}}, **BY_FROM)
    elsewhere = {**in_configmap(**MOVED), "metadata": {"name": "env", "namespace": "web"}}
    assert not fires("threads-above-cpus", manifest, elsewhere)
    assert not fires("threads-above-cpus", manifest)
