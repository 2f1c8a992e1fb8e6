"""Which of many messages is the first cause."""

from __future__ import annotations

import pytest

from ptcompile.diagnosis.first import FirstCause, find_origin
from ptcompile.diagnosis.lines import Logs

CLOSED = (
    "E1129 {time} 1 a.py:1] RuntimeError: [pair.cc:553] Connection closed by peer [10.0.0.2]:4. "
    "Check"
)
TIMEOUT = (
    "[E1129 {time} socket.cpp:1028] The client socket has timed out after 60000ms while trying to "
    "connect to (a, 1)."
)
ADDRESS = (
    "[W1129 11:00:00.0 TCPStore.cpp:1] SocketImpl(fd=4, addr=[::ffff:10.0.0.2]:4, "
    "remote=[::ffff:10.0.0.1]:5)"
)
NODES = "0/6 nodes are available: {}."


def origin(*, tolerates: bool = False, **files: str) -> FirstCause | None:
    logs = Logs()
    for name, text in files.items():
        logs.read(name.replace("_", ".").replace("pod", "pod-"), text)
    return find_origin(logs, tolerates=tolerates)


def first(**files: str) -> tuple[str, str]:
    cause = origin(tolerates=False, **files)
    assert cause is not None
    return cause.sighting.message.id, cause.file


def closed(time: str) -> str:
    return CLOSED.format(time=time)


def test_a_failure_beats_what_follows_even_if_its_clock_is_late() -> None:
    assert first(pod0_log=closed("11:00:00.0"), pod1_log="E1129 11:00:09.0 1 a.py:1] CUDA out of memory. "
                 "Tried to allocate 2.50 GiB.") == ("cuda-oom", "pod-1.log")  # fmt: skip


def test_the_reason_for_a_pod_beats_errors_of_others() -> None:
    missing = (
        "FileNotFoundError: [Errno 2] No such file or directory: '/data'\nE1129 11:00:00.0 1 "
        "a.py:1] x"
    )
    assert first(pod0_log=missing, events_txt="pod/pod-1 Evicted") == ("evicted", "events.txt")


def test_the_earliest_of_equal_messages() -> None:
    early, late = (
        f"E1129 11:00:0{s} 1 a.py:1] CUDA error: device-side assert triggered"
        for s in ("1.1", "1.2")
    )
    assert first(pod0_log=late, pod1_log=early) == ("cuda-assert", "pod-1.log")


def test_clocks_decide_nothing_among_waits() -> None:
    assert first(
        pod0_log=TIMEOUT.format(time="11:00:01.9"), pod1_log=TIMEOUT.format(time="11:00:01.1")
    ) == (
        "client-timeout",
        "pod-0.log",
    )
    assert first(
        pod0_log=TIMEOUT.format(time="11:00:09.9"), pod1_log=TIMEOUT.format(time="11:00:01.1")
    ) == (
        "client-timeout",
        "pod-1.log",
    )


def test_the_named_pod_is_to_blame() -> None:
    cause = origin(
        pod0_log=closed("11:00:00.0"), pod1_log="step 1\n", pod2_log=f"{ADDRESS}\nstep 1\nstep 2\n"
    )
    assert cause is not None
    assert cause.file == "pod-2.log"
    assert cause.line == 3
    assert cause.pod == "pod-2"
    assert cause.is_silent


def test_the_only_silent_pod_is_to_blame() -> None:
    cause = origin(
        pod0_log=closed("11:00:00.0"), pod1_log="step 1\n\n", pod2_log=closed("11:00:01.0")
    )
    assert cause is not None
    assert cause.file == "pod-1.log"
    assert cause.line == 1
    assert cause.is_silent


def test_no_pod_is_blamed_if_several_are_silent() -> None:
    cause = origin(pod0_log=closed("11:00:00.0"), pod1_log="step 1\n", pod2_log="")
    assert cause is not None
    assert cause.file == "pod-0.log"
    assert not cause.is_silent


@pytest.mark.parametrize(
    ("reasons", "tolerates", "expected"),
    [
        ("1 Insufficient nvidia.com/gpu, 5 node(s) had untolerated taint(s)", False, "sched-taint"),
        ("1 Insufficient nvidia.com/gpu, 5 node(s) had untolerated taint(s)", True, "sched-insufficient"),
        ("5 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s)", False, "sched-insufficient"),
        ("1 Insufficient cpu, 5 node(s) had untolerated taint(s)", False, "sched-insufficient"),
        ("2 node(s) didn't match pod anti-affinity rules, 4 node(s) had untolerated taint(s)", False,
         "sched-anti-affinity"),
        ("2 Insufficient cpu, 4 node(s) didn't match Pod's node affinity/selector", False, "sched-insufficient"),
    ],
)  # fmt: skip
def test_the_scheduler_s_nearest_reason_is_the_cause(
    reasons: str, tolerates: bool, expected: str
) -> None:
    cause = origin(
        tolerates=tolerates, events_txt=f"pod/a FailedScheduling {NODES.format(reasons)}"
    )
    assert cause is not None
    assert cause.sighting.message.id == expected


def test_a_message_that_another_explains_is_not_the_first_cause() -> None:
    unbound = "pod/a FailedScheduling pod has unbound immediate PersistentVolumeClaims"
    assert first(a_txt=unbound)[0] == "sched-pvc-unbound"
    assert first(a_txt=unbound, b_txt="ProvisioningFailed claim")[0] == "provisioning-failed"


def test_notices_are_no_failure() -> None:
    assert (
        origin(
            a_txt="Setting OMP_NUM_THREADS environment variable for each process to be 1 in default"
        )
        is None
    )
    assert first(a_txt="Job suspended")[0] in ("job-suspended", "kueue-suspended")
    assert origin(a_txt="") is None
