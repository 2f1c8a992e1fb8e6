"""A file over the object that a mutating webhook completed at creation, and what a refused apply leaves changed.

The answers are those of Volcano 1.15.0 on Kubernetes 1.35.6: docs/facts/updates.md#defaults-of-webhooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.cli import main
from ptcompile.differ import Difference
from ptcompile.operators.table import OPERATORS
from tests.making import smallest

Json = dict[str, Any]


def compiled(body: str = "nodes: 2", target: str = "volcano") -> list[Any]:
    return deepcopy([*ptcompile.compile(smallest(body), target=target).unwrap()])


def volcano_job(body: str = "nodes: 2") -> Json:
    (job,) = compiled(body)
    return dict(job)


def without_task_retries(job: Json) -> Json:
    for task in job["spec"]["tasks"]:
        del task["maxRetry"]
    return job


def live(file: Json) -> Json:
    """Return the object that the server keeps of a file, as `kubectl get -o yaml` prints it."""
    stored = ptcompile.stored(file).objects[0].manifest
    return {**stored, "metadata": {**stored["metadata"], "uid": "u"}}


def verdict(difference: Difference) -> tuple[str, list[str]]:
    (change,) = difference.objects
    assert change.apply is not None
    return change.apply.outcome, [
        d.message for d in difference.diagnostics if d.severity == "error"
    ]


def same(_job: Json) -> None:
    pass


def label(job: Json) -> None:
    job["metadata"]["labels"] = {"a": "b"}


def scale(job: Json) -> None:
    job["spec"]["tasks"][1] |= {"replicas": 2, "minAvailable": 2}
    job["spec"]["minAvailable"] = 3


def priority(job: Json) -> None:
    job["spec"]["priorityClassName"] = "high"


def image(job: Json) -> None:
    job["spec"]["tasks"][1]["template"]["spec"]["containers"][0]["image"] = "other:1"


@pytest.mark.parametrize("server_side", [False, True])
@pytest.mark.parametrize("old", [dict, live], ids=["file", "live"])
@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (same, "unchanged"),
        (label, "in-place"),
        (scale, "in-place"),
        (priority, "in-place"),
        (image, "refused"),
    ],
)
def test_a_compiled_volcano_job_is_applied_again(
    change: Callable[[Json], None], outcome: str, old: Callable[[Json], Json], server_side: bool
) -> None:
    new = volcano_job()
    change(new)
    assert verdict(ptcompile.diff(old(volcano_job()), new, server_side=server_side))[0] == outcome


@pytest.mark.parametrize("server_side", [False, True])
@pytest.mark.parametrize("old", [dict, live], ids=["file", "live"])
@pytest.mark.parametrize("change", [same, label, scale, priority, image])
def test_a_volcano_job_whose_tasks_lack_max_retry_is_refused(
    change: Callable[[Json], None], old: Callable[[Json], Json], server_side: bool
) -> None:
    new = without_task_retries(volcano_job())
    change(new)
    outcome, (message,) = verdict(
        ptcompile.diff(old(without_task_retries(volcano_job())), new, server_side=server_side)
    )
    assert outcome == "refused"
    assert (
        "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec`"
        in message
    )


@pytest.mark.parametrize(
    ("fields", "task_fields", "expected"),
    [
        ({}, {}, None),
        ({"queue": None, "schedulerName": None}, {}, None),  # the spec is merged, so these stay
        ({"maxRetry": 0}, {}, ("spec", "write maxRetry: 3")),
        ({}, {"maxRetry": 0}, ("spec.tasks[0]", "write maxRetry: 3")),
        ({}, {"name": None}, ("spec.tasks[0]", "write name: default0")),
        ({}, {"replicas": 0, "minAvailable": None}, None),  # free to change
    ],
)
def test_a_file_must_repeat_defaults_of_the_creation(
    fields: Json, task_fields: Json, expected: tuple[str, str] | None
) -> None:
    file = volcano_job("nodes: 1")
    file["spec"] = {
        key: value for key, value in {**file["spec"], **fields}.items() if value is not None
    }
    (task,) = file["spec"]["tasks"]
    file["spec"]["tasks"] = [
        {key: value for key, value in {**task, **task_fields}.items() if value is not None}
    ]
    file["spec"].pop("minAvailable")
    errors = [d for d in ptcompile.diff(file, file).diagnostics if d.severity == "error"]
    assert [d.message.partition(":")[0] for d in errors] == ([expected[0]] if expected else [])
    assert all(expected and str(d.help).startswith(expected[1]) for d in errors)


def test_the_dns_policy_on_the_nodes_network_is_repeated() -> None:
    file = volcano_job("hostNetwork: true")
    assert verdict(ptcompile.diff(file, file)) == ("unchanged", [])
    del file["spec"]["tasks"][0]["template"]["spec"]["dnsPolicy"]
    assert verdict(ptcompile.diff(file, file))[0] == "refused"


def test_a_scheduler_that_is_no_longer_in_the_file_is_lost() -> None:
    new = volcano_job()
    del new["spec"]["schedulerName"]
    assert verdict(ptcompile.diff(volcano_job(), new))[0] == "refused"
    assert verdict(ptcompile.diff(new, new))[0] == "unchanged", (
        "the webhook's value has no owner in the file"
    )


def test_an_object_that_the_webhook_did_not_complete_is_compared_as_it_is() -> None:
    """The chart's admission policies, which can replace the webhooks, write no defaults into tasks."""
    file = without_task_retries(volcano_job())
    made = without_task_retries(live(file))
    assert verdict(ptcompile.diff(made, file)) == ("unchanged", [])


def test_only_volcano_defaults_an_object_once() -> None:
    """docs/facts/updates.md#defaults-of-webhooks: only Volcano compares what its webhook wrote at creation."""
    kinds = [kind.key for operator in OPERATORS for kind in operator.kinds if kind.defaults_once]
    assert kinds == [("batch.volcano.sh/v1alpha1", "Job")]


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "trainjob", "pod"])
def test_other_targets_apply_again(target: str) -> None:
    for file in compiled("nodes: 1", target):
        assert verdict(ptcompile.diff(file, file)) == ("unchanged", [])


def test_a_refused_apply_is_shown_though_nothing_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(without_task_retries(volcano_job())))
    assert main(["diff", str(path), str(path)]) == 1
    shown = capsys.readouterr()
    assert "apply: refused" in shown.out
    assert (
        "write maxRetry: 3, which Volcano's webhook sets only when the job is created" in shown.err
    )
    difference = ptcompile.diff(path, path)
    assert not difference.differs
    assert "An apply: <code>refused" in difference.markdown()
    path.write_text(json.dumps(volcano_job()))
    assert main(["diff", str(path), str(path)]) == 0
    assert "no difference" in capsys.readouterr().out


def why(difference: Difference, kind: str) -> str:
    (change,) = [item for item in difference.objects if str(item.after).startswith(f"{kind}/")]
    assert change.apply is not None
    return str(change.apply)


def relabeled(manifests: list[Any]) -> list[Any]:
    return [{**m, "metadata": {**m["metadata"], "labels": {"a": "b"}}} for m in manifests]


def test_a_refused_update_names_what_stays_changed() -> None:
    """kubectl applies one object after another, and a refusal undoes nothing (run: Job with Service, TrainJob)."""
    old = compiled(target="job")
    changed = relabeled(compiled("env: {A: b}\nnodes: 2", "job"))
    assert why(ptcompile.diff(old, changed), "Job").endswith(
        "; the apply goes on, and what it changes in Service/train stays"
    )
    only_job = [m if m["kind"] == "Service" else new for m, new in zip(old, changed, strict=True)]
    assert "the apply goes on" not in why(ptcompile.diff(old, only_job), "Job")
    accepted = ptcompile.diff(old, relabeled(compiled(target="job")))
    assert why(accepted, "Job") == "changes it in place"


def test_a_runtime_stays_changed_when_its_job_is_refused() -> None:
    old = compiled(target="trainjob")
    new = relabeled(compiled("env: {A: b}\nnodes: 2", "trainjob"))
    for manifest in new:
        if manifest["kind"] == "TrainJob":
            manifest["spec"]["runtimeRef"]["name"] = "another"
    assert why(ptcompile.diff(old, new), "TrainJob").endswith(
        "and what it changes in TrainingRuntime/train stays"
    )


def test_a_long_list_of_changed_objects_is_cut() -> None:
    job, *_ = (m for m in compiled(target="job") if m["kind"] == "Job")
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}"}, "data": {}}
        for i in range(9)
    ]
    changed = {**job, "spec": {**job["spec"], "completionMode": "NonIndexed"}}
    message = why(ptcompile.diff([job, *maps], [changed, *relabeled(maps)]), "Job")
    assert message.endswith(
        "ConfigMap/m0, ConfigMap/m1, ConfigMap/m2, ConfigMap/m3, ConfigMap/m4, ... stays"
    )
