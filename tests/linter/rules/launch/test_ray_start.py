"""`ray start` in a container: read as a launcher, and what ends or splits its cluster."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.simulator.launchers.ray import cluster_address, parse_ray_start

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: tune}}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    spec:
      subdomain: tune
      restartPolicy: Never
      containers:
        - name: ray
          image: rayproject/ray:2.46.0-gpu
          command: {}
          resources: {{limits: {{cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}}}
"""


def _codes(command: str) -> list[str]:
    return sorted(
        d.code for d in ptcompile.lint(JOB.format(command)).diagnostics if d.code != "PTC483"
    )


def _script(text: str) -> str:
    return f'[bash, -c, "{text}"]'


RETURNS, APART = "PTC249", "PTC250"


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("[ray, start, --address, 'tune-0.tune:6379', --block]", []),
        ("[ray, start, --address, 'tune-0.tune:6379']", [RETURNS]),
        ("[/usr/local/bin/ray, start, '--address=tune-0.tune:6379']", [RETURNS]),
        ("[ray, stop]", []),
        (_script("ray start --address=tune-0.tune:6379"), [RETURNS]),
        (_script("exec ray start --address=tune-0.tune:6379"), [RETURNS]),
        (_script("ray start --address=tune-0.tune:6379 --block"), []),
        (_script("ray start --address=tune-0.tune:6379; sleep infinity"), []),
        (_script("ray start --address=tune-0.tune:6379 && python train.py"), []),
        (_script("if true; then x; fi; ray start --address=tune-0.tune:6379"), [RETURNS]),
        (_script('if [ -n "$X" ]; then ray start --address=tune-0.tune:6379; fi'), []),
        (_script("ray start --head --block"), [APART]),
        (_script("ray start --head; python train.py"), [APART]),
        (_script("if [ $JOB_COMPLETION_INDEX = 0 ]; then ray start --head --block; fi"), []),
        (
            _script(
                "[ $JOB_COMPLETION_INDEX = 0 ] && ray start --head --block; ray start --address=x:1 --block"
            ),
            [],
        ),
    ],
)
def test_a_ray_start_that_returns_or_stands_apart_is_reported(
    command: str, codes: list[str]
) -> None:
    assert [code for code in _codes(command) if code in (RETURNS, APART)] == codes


def test_one_pod_may_be_a_cluster() -> None:
    command = _script("ray start --head; python train.py")
    text = (
        JOB.format(command)
        .replace("completions: 2", "completions: 1")
        .replace("parallelism: 2", "parallelism: 1")
    )
    assert APART not in {d.code for d in ptcompile.lint(text).diagnostics}


def test_note_names_ray() -> None:
    text = JOB.format(_script("ray start --address=tune-0.tune:6379 --block"))
    (note,) = (d for d in ptcompile.lint(text).diagnostics if d.code == "PTC483")
    assert "Ray connects the pods and places the processes" in note.message


def test_options_and_variables_give_the_address() -> None:
    options = parse_ray_start(
        ["--address", "a:1", "--num_gpus=2", "--block", "--verbose", "--port", "7"]
    )
    assert options == {"address": "a:1", "num-gpus": "2", "block": "1", "verbose": "1", "port": "7"}
    assert cluster_address(options, {}) == "a:1"
    assert cluster_address({"address": "a"}, {}) == "a:6379"
    assert cluster_address({}, {"RAY_ADDRESS": "b:2"}) == "b:2"
    assert cluster_address({"head": "1"}, {"RAY_ADDRESS": "b:2"}) == ""


def test_world_of_ray_is_not_taken_for_pods_that_train_alone() -> None:
    text = JOB.format(_script("ray start --address=tune-0.tune:6379 --block"))
    rendezvous = ptcompile.simulate(text).to_dict()["jobs"][0]["rendezvous"]
    assert (rendezvous["launcher"], rendezvous["backend"], rendezvous["endpoint"]) == (
        "ray",
        "ray",
        "tune-0.tune:6379",
    )
    assert rendezvous["notes"][0].startswith("Ray connects the nodes")
    assert not any("trains alone" in note for note in rendezvous["notes"])
