"""How lines of logs are read: whose they are, and when they were written."""

from __future__ import annotations

import json

import pytest

from ptcompile.diagnosis.lines import Logs, Sighting

ERROR = "KeyError: 'lr'"


def read(text: str | bytes, name: str = "log.txt") -> list[Sighting]:
    logs = Logs()
    logs.read(name, text)
    return logs.sightings


@pytest.mark.parametrize(
    ("line", "pod", "rank", "time"),
    [
        (ERROR, "", "", ""),
        (f"[pod/train-0-6tq8x/pytorch] [rank3]: {ERROR}", "train-0-6tq8x", "3", ""),
        (f"[pod/a-0/c] 2026-11-29T11:45:51.200000000Z {ERROR}", "a-0", "", "11:45:51.200000000"),
        (f"2026-11-29T11:45:51.2Z stderr F {ERROR}", "", "", "11:45:51.2"),
        (f"[trainer1]:[rank1]: {ERROR}", "", "1", ""),
        (f"train-0-6tq8x pytorch {ERROR}", "train-0-6tq8x", "", ""),
        ('Nov 29 11:45:51 node kubelet[812]: "Error" err="OOMKilled"', "", "", "11:45:51"),
        ("E1129 11:45:51.200000 1 torch/api.py:1002] reason OOMKilled", "", "", "11:45:51.200000"),
        (
            f'{{"log":"{ERROR}","stream":"stderr","time":"2026-11-29T01:02:03Z"}}',
            "",
            "",
            "01:02:03",
        ),
        (
            '{"level":"error","ts":"2026-11-29T01:02:03Z","msg":"failed","err":"OOMKilled"}',
            "",
            "",
            "01:02:03",
        ),
        (f'{{"message":"{ERROR}","kubernetes":{{"pod_name":"a-1"}}}}', "a-1", "", ""),
        (
            "3m  Warning  OOMKilling  pod/train-1-p2w9d  Memory cgroup out of memory",
            "train-1-p2w9d",
            "",
            "",
        ),
        (f"\x1b[31m{ERROR}\x1b[0m", "", "", ""),
        (f"progress 10%\r{ERROR}", "", "", ""),
        ("{not json OOMKilled}", "", "", ""),
    ],
)
def test_prefixes_give_pod_rank_and_time(line: str, pod: str, rank: str, time: str) -> None:
    sighting = read(line)[0]
    assert (sighting.pod, sighting.rank, sighting.time, sighting.line) == (pod, rank, time, 1)


def test_a_log_is_that_of_a_pod_by_its_name() -> None:
    assert read(ERROR, "logs/train-1.log")[0].pod == "train-1"
    assert read(ERROR, "events.txt")[0].pod == ""


def test_a_line_without_a_time_has_that_of_the_next_line() -> None:
    text = f"{ERROR}\nE1129 11:45:51.200000 1 torch/api.py:1002] nothing\nE1129 12:00:00.0 1 a.py:1] later"
    assert read(text)[0].time == "11:45:51.200000"


def test_the_root_cause_block_tells_time_and_rank() -> None:
    text = (
        f"{ERROR}\nE1129 11:45:59.0 1 torch/api.py:1002] x\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-11-29_11:45:39\n  host      : train-1\n  rank      : 9 (local_rank: 1)\n"
    )
    sighting = read(text)[0]
    assert (sighting.time, sighting.rank) == ("11:45:39", "9")


def test_times_of_all_forms_are_compared() -> None:
    text = "E1129 11:45:51.5 1 a.py:1] OOMKilled\n2026-11-29T11:45:51.500Z Evicted\nNov 29 11:45:51 n k: ErrImagePull"
    first, second, third = (sighting.seconds for sighting in read(text))
    assert first == second == third + 0.5


def test_describe_and_tables_name_pods() -> None:
    described = (
        "Name:  train-1-x7c2p\nContainers:\n  pytorch:\n    Last State:\n      Exit Code:  137\n"
    )
    assert [(sighting.message.id, sighting.pod) for sighting in read(described)] == [
        ("exit-137", "train-1-x7c2p")
    ]
    table = "NAMESPACE   NAME      STATUS\nml          train-1   OOMKilled\n"
    assert read(table)[0].pod == "train-1"


def test_an_init_container_that_is_done_is_no_failure() -> None:
    assert read("Name: a\nInit Containers:\n  i:\n    Exit Code:  0\nContainers:\n") == []
    assert read("Name: a\nContainers:\n  c:\n    Exit Code:  0\n")[0].message.id == "exit-0-early"


def test_code_in_a_traceback_is_no_message() -> None:
    text = '  File "/opt/torch/x.py", line 680, in join\n    raise RendezvousTimeoutError\nRendezvousTimeoutError\n'
    assert [sighting.line for sighting in read(text)] == [3]
    assert read("[rank0]:   File \"a.py\", line 1\n[rank0]:     raise KeyError: 'x'\n") == []


def test_objects_of_kubectl_give_messages_of_their_pods() -> None:
    ended = {
        "terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2026-11-29T11:00:00Z"}
    }
    pod = {
        "kind": "Pod",
        "metadata": {"name": "train-1"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "message": "0/4 nodes are available: x.",
                }
            ],
            "containerStatuses": [
                {"lastState": ended, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
            ],
        },
    }
    event = {
        "kind": "Event", "reason": "Evicted", "message": "The node was low on resource: memory",
        "involvedObject": {"kind": "Pod", "name": "train-0"}, "lastTimestamp": "2026-11-29T10:59:59Z",
    }  # fmt: skip
    for data in ({"kind": "List", "items": [pod, event]}, pod):
        for text in (json.dumps(data), json.dumps(data, indent=2).encode()):
            by_id = {sighting.message.id: sighting for sighting in read(text, "pods.json")}
            assert {"oomkilled", "exit-137", "crashloop"} <= by_id.keys()
            assert (by_id["oomkilled"].pod, by_id["oomkilled"].time) == ("train-1", "11:00:00")
            assert by_id["oomkilled"].line == 0
    assert {sighting.pod for sighting in read(json.dumps({"kind": "List", "items": [event]}))} == {
        "train-0"
    }


@pytest.mark.parametrize(
    "text", ['{"kind": 3}', '{"kind": "List", "items": 3}', "{" * 100_000, "{}", '{"kind": "Pod"}']
)
def test_other_json_is_harmless(text: str) -> None:
    assert read(text) == []


def test_bytes_that_are_not_text_are_skipped() -> None:
    assert read(b"\xff\xfe\n" + ERROR.encode() + b"\n\x00\n")[0].message.id == "py-traceback"


def test_a_long_line_keeps_its_end() -> None:
    assert (
        read(f"spec.template: Invalid value: {'x' * 30_000}: field is immutable")[0].message.id
        == "api-immutable"
    )


def test_repetitions_are_not_kept() -> None:
    assert len(read(f"{ERROR}\n" * 1000)) == 3
    assert len(read("".join(f"[pod/p-{number}/c] {ERROR}\n" for number in range(20_000)))) <= 10_000


def test_lines_of_large_logs_are_numbered() -> None:
    text = "x" * 100 + "\n"
    assert read(text * 30_000 + ERROR)[0].line == 30_001
    assert read((text * 30_000 + ERROR).encode())[0].line == 30_001
