"""The recorders, run against a stand-in that answers as recorded: what they write is the recorded
set.

docs/maintaining/recording.md says which recorders were run against real servers and tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from tests import oracle, recorded
from tests.conftest import allow_loopback, thinned
from tests.recorded import recording
from tests.recorded.apiserver import record as apiserver
from tests.recorded.crds import record as crds
from tests.recorded.kueue import record as kueue
from tests.recorded.operators import record as operators
from tests.recorded.recording import Answer, Json, Server, without_namespace
from tests.recorded.stand_in import Question, serving


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow the stand-in's connections, on loopback, and no others."""
    allow_loopback(monkeypatch)


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def as_answer(row: Json) -> Answer:
    """Return the response of a server with a recorded verdict."""
    message = {} if row["accepted"] else {"message": row["message"]}
    return Answer(201 if row["accepted"] else 422, message, tuple(row.get("warnings", ())))


@contextmanager
def answering(
    answers: dict[str, Answer], manifests: Iterable[Json], version: str = "1.36"
) -> Iterator[Server]:
    """Yield a stand-in that answers dry runs by the text of their body."""

    def answer(question: Question) -> Answer | None:
        return answers.get(text(question.body)) if question.is_dry_run else None

    with serving(manifests, answer, version) as url, recording.connected(url) as server:
        yield server


def keep_some(name: str, step: int, monkeypatch: pytest.MonkeyPatch) -> list[Json]:
    """Leave every `step`-th row of a set, and return them."""
    all_rows, rows = recorded.rows, thinned(recorded.rows(name), step)
    monkeypatch.setattr(
        recorded, "rows", lambda asked: iter(rows) if asked == name else all_rows(asked)
    )
    return rows


def check_same(name: str, rows: Iterable[Json]) -> None:
    assert list(recording.differences(name, rows, apiserver.ANSWERS)) == []


@pytest.mark.parametrize(
    "name", ["apiserver/real", "apiserver/surface/real", "apiserver/policies/real"]
)
def test_answers_to_manifests_are_as_recorded(name: str) -> None:
    rows = list(recorded.rows(name))
    answers = {text(without_namespace(row["manifest"])): as_answer(row) for row in rows}
    with answering(answers, [row["manifest"] for row in rows]) as server:
        check_same(name, apiserver.answers(server, name))


def test_answers_to_pod_templates_are_as_recorded() -> None:
    bases = recorded.manifests("apiserver/real")
    rows = list(recorded.rows("apiserver/pods"))
    pods = [apiserver.as_pod(apiserver.value_at(bases[row["id"]], row["template"])) for row in rows]
    answers = {text(pod): as_answer(row) for row, pod in zip(rows, pods, strict=True)}
    with answering(answers, bases.values()) as server:
        check_same("apiserver/pods", apiserver.answers(server, "apiserver/pods"))


@pytest.mark.parametrize(
    "name", ["apiserver/mutants", "apiserver/policies/mutants", "apiserver/versions/1.32/mutants"]
)
def test_changes_of_manifests_are_recorded_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = recorded.manifests(apiserver.bases_of(name))
    rows = keep_some(name, 20, monkeypatch)
    answers = {}
    for row in rows:
        manifest = recorded.changed(bases[row["base"]], row)
        answers[text(without_namespace(manifest))] = as_answer(row)
        if "pod" in row:
            answers[
                text(apiserver.as_pod(apiserver.value_at(manifest, row["pod"]["template"])))
            ] = as_answer(row["pod"])
    with answering(answers, bases.values()) as server:
        check_same(name, apiserver.answers(server, name))


def test_answers_to_updates_are_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "apiserver/surface/updates"
    bases = recorded.manifests("apiserver/surface/real")
    answers = {}
    for row in keep_some(name, 20, monkeypatch):
        file = without_namespace(bases[row["base"]])
        metadata = {key: value for key, value in file["metadata"].items() if key != "generateName"}
        changed = recorded.changed(
            {**file, "metadata": {**metadata, "name": f"u-{row['base'].lower()}"}}, row
        )
        answers[text([f"u-{row['base'].lower()}", changed])] = as_answer(row)

    def answer(question: Question) -> Answer | None:
        return (
            answers.get(text([question.path.rpartition("/")[2], question.body]))
            if question.is_dry_run
            else None
        )

    with serving(bases.values(), answer) as url, recording.connected(url) as server:
        check_same(name, apiserver.answers(server, name))
        assert server.request("GET", f"/api/v1/namespaces/{recording.NAMESPACE}").status == 404


def test_answers_of_admission_are_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same object has other answers in other namespaces and next to other objects."""
    name = "apiserver/admission/creates"
    rows = keep_some(name, 3, monkeypatch)
    answers = {}
    for row in rows:
        beside = sorted(
            text(apiserver.with_quota_status(neighbor))
            for neighbor in row["beside"]
            if neighbor["kind"] != "Namespace"
        )
        answers[text([apiserver.space_of(row), beside, row["manifest"]])] = as_answer(row)
        if "pod" in row:
            pod = apiserver.as_pod(row["manifest"]["spec"]["template"], "x")
            answers[text([apiserver.space_of(row), beside, pod])] = as_answer(row["pod"])

    def answer(question: Question) -> Answer | None:
        if not question.is_dry_run:
            return None
        beside = sorted(
            text(value) for value in question.stored.values() if value["kind"] != "Namespace"
        )
        return answers.get(text([question.path.split("/")[-3], beside, question.body]))

    kinds = [one for row in rows for one in [row["manifest"], *row["beside"]]]
    with serving(kinds, answer) as url, recording.connected(url) as server:
        check_same(name, apiserver.answers(server, name))


@pytest.mark.parametrize("version", ["1.35", "1.37"])
def test_warnings_are_as_recorded(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version without rows is asked about the manifests of the newest one that has some."""
    name = "apiserver/warnings"
    rows = [row for row in recorded.rows(name) if row["kubernetes"] in ("1.35", "1.36")][::5]
    asked = [row for row in rows if row["kubernetes"] == ("1.35" if version == "1.35" else "1.36")]
    monkeypatch.setattr(recorded, "rows", lambda _: rows)
    answers = {
        text(without_namespace(row["manifest"])): as_answer({**row, "accepted": True})
        for row in asked
    }
    with answering(answers, [row["manifest"] for row in rows], version) as server:
        recorded_rows = list(apiserver.answers(server, name))
    expected = (
        rows if version == "1.35" else [*rows, *({**row, "kubernetes": version} for row in asked)]
    )
    assert sorted(map(text, recorded_rows)) == sorted(map(text, expected))


def test_answers_to_a_second_apply_are_as_recorded() -> None:
    """`kubectl apply` keeps the file in an annotation, or the server keeps its fields."""
    name = "apiserver/live/unchanged"
    rows = list(recorded.rows(name))
    by_name = {row["live"]["metadata"]["name"]: row["live"] for row in rows}
    kept = "kubectl.kubernetes.io/last-applied-configuration"

    def answer(question: Question) -> Answer | None:
        live = by_name.get(question.path.rpartition("/")[2])
        if live is None:
            return None
        annotations = live["metadata"].get("annotations", {})
        assert (
            kept not in annotations
            or question.body["metadata"]["annotations"][kept] == annotations[kept]
        )
        return Answer(200, live)

    with serving([row["live"] for row in rows], answer) as url, recording.connected(url) as server:
        assert list(recording.differences(name, apiserver.answers(server, name), ("live",))) == []


def test_conflicts_with_another_manager_are_recorded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "apiserver/live/changed"
    rows = {row["live"]["metadata"]["name"]: row for row in keep_some(name, 3, monkeypatch)}

    def answer(question: Question) -> Answer | None:
        row = rows.get(question.path.rpartition("/")[2])
        if row is None or not question.is_dry_run:
            return None
        unforced = {"accepted": row["unforced"], "message": row["unforced_message"]}
        return as_answer(row if question.is_forced else unforced)

    with (
        serving([row["live"] for row in rows.values()], answer) as url,
        recording.connected(url) as server,
    ):
        check_same(name, apiserver.answers(server, name))


@pytest.mark.parametrize("name", ["kueue/own/creates", "kueue/foreign/creates"])
def test_answers_to_creations_with_kueue_are_as_recorded(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = recorded.manifests(f"{name.rpartition('/')[0]}/real")
    rows = keep_some(name, 8, monkeypatch)
    manifests = [recorded.with_operations(bases[row["base"]], row["ops"]) for row in rows]
    answers = {text(manifest): of_kueue(row) for row, manifest in zip(rows, manifests, strict=True)}
    with answering(
        answers, [*bases.values(), *manifests, *recorded.rows("kueue/foreign/beside")]
    ) as server:
        recorded_rows = kueue.of_release(name, list(kueue.creates(server, name)), "0.19.2")
        assert list(recording.differences(name, recorded_rows, kueue.ANSWERS)) == []


@pytest.mark.parametrize("name", ["kueue/own/updates", "kueue/foreign/updates"])
def test_answers_to_updates_with_kueue_are_as_recorded(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = recorded.manifests(f"{name.rpartition('/')[0]}/real")
    answers = {}
    for row in keep_some(name, 8, monkeypatch):
        old = recorded.with_operations(bases[row["base"]], row["old_ops"])
        answers[
            text([old, recorded.with_operations(old, row["ops"]), row["state"] == "created"])
        ] = of_kueue(row)

    def answer(question: Question) -> Answer | None:
        if not question.is_dry_run:
            return None
        old = question.stored[question.path]
        both = (answers.get(text([old, question.body, is_created])) for is_created in (True, False))
        return next((one for one in both if one), None)

    kinds = [*bases.values(), *recorded.rows("kueue/foreign/beside")]
    with serving(kinds, answer) as url, recording.connected(url) as server:
        recorded_rows = kueue.of_release(name, list(kueue.updates(server, name)), "0.19.2")
        assert list(recording.differences(name, recorded_rows, kueue.ANSWERS)) == []


def of_kueue(row: Json) -> Answer:
    """Return the response of a server with Kueue, whose words say who rejected the object."""
    words = {
        "kueue": 'admission webhook "x.kb.io" denied the request: x',
        "kueue-conversion": "conversion webhook for x failed: x",
        "decode": 'X in version "v1" cannot be handled as a X: x',
        "apiserver": "X is invalid: x",
    }
    if row["accepted"]:
        return Answer(201, {})
    return Answer(422, {"message": row.get("errors", [words[row["stage"]]])[0]})


def test_answers_of_an_older_kueue_are_kept_where_they_differ() -> None:
    """They are kept where the verdict differs; the rows of the newest release stay."""
    name = "kueue/own/creates"
    rows = list(recorded.rows(name))
    recorded_rows = list(kueue.of_release(name, [older_answer(row) for row in rows], "0.18.5"))
    assert [older_answer(row) for row in recorded_rows] == [older_answer(row) for row in rows]
    assert [{**row, "v018": ""} for row in recorded_rows] == [{**row, "v018": ""} for row in rows]


def older_answer(row: Json) -> Json:
    """Return the verdict of the older release alone."""
    answer = row if row["v018"] == "same" else row["v018"]
    return {key: answer[key] for key in ("accepted", "stage") if key in answer}


def as_workload(job: str, answer: Json, uids: dict[str, str]) -> Json | None:
    """Return the Workload that Kueue leaves for an answer, or None if it makes none."""
    if answer["outcome"] == "no workload":
        return None
    is_admitted = answer["outcome"] == "admitted"
    waits = [
        {"type": "QuotaReserved", "status": str(is_admitted), "message": answer.get("message", "")}
    ]
    preempted = answer.get("preempted", {})
    reason = {how: words for words, how in kueue.HOW.items()}.get(preempted.get("how", ""))
    words = f"Preempted to accommodate a workload (UID: 1, JobUID: {uids.get(preempted.get('by', ''))}) due to {reason}"
    of_other = [{"type": "Preempted", "status": str(preempted.get("now")), "message": words}]
    renamed = {"topology": "topologyAssignment"}
    sets = [
        {renamed.get(key, key): value for key, value in pod_set.items()}
        for pod_set in answer.get("podSets", ())
    ]
    conditions = [
        *waits,
        {"type": "Admitted", "status": str(is_admitted)},
        *(of_other if preempted else ()),
    ]
    status = {"conditions": conditions, "admission": {"podSetAssignments": sets}}
    owner = {"name": job, "uid": uids[job]}
    return {"metadata": {"name": f"w-{job}", "ownerReferences": [owner]}, "status": status}


def test_answers_of_the_scheduler_are_as_recorded() -> None:
    total = 0
    for row in recorded.rows("kueue/admission"):
        uids = {job: f"uid-{job}" for job in row["answers"]}
        for job, answer in row["answers"].items():
            workload = as_workload(job, answer, uids)
            shared = {key: value for key, value in answer.items() if key != "alone"}
            assert kueue.became(workload, {uid: name for name, uid in uids.items()}) == shared, row[
                "id"
            ]
            total += 1
    assert total == 663


def test_jobs_in_queues_are_admitted_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in makes the Workload of a job with the job, and answers for jobs that are alone,
    too.
    """
    row = next(row for row in recorded.rows("kueue/admission") if len(row["answers"]) == 2)
    monkeypatch.setattr(recorded, "rows", lambda _: [row])

    def answer(question: Question) -> Answer | None:
        if question.is_dry_run:
            return None
        name = question.body["metadata"]["name"]
        if name not in row["answers"]:
            return None
        others = (row["answers"].keys() - {name}) & {
            key.rpartition("/")[2] for key in question.stored
        }
        expected = {"outcome": "admitted" if row["answers"][name]["alone"] else "pending"}
        workload = as_workload(
            name, row["answers"][name] if others or name == "j0" else expected, {name: "", "j0": ""}
        )
        question.stored[f"{kueue.WORKLOADS}/w-{name}"] = {**(workload or {}), "kind": "Workload"}
        return None

    kinds = [
        *row["objects"],
        *row["jobs"],
        {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload"},
    ]
    with serving(kinds, answer) as url, recording.connected(url) as server:
        (found,) = kueue.admission(server, "kueue/admission")
    assert found == row


def as_pod(row: Json) -> Json:
    """Return a pod as a server stores it, from the recorded part of one. Names end with the index,
    not at random.
    """
    spec = {key: row[key] for key in operators.POD_FIELDS if key in row}
    containers = [
        {**container, "env": [as_variable(variable) for variable in container["env"]]}
        for container in row["containers"]
    ]
    spec["initContainers"] = [container for container in containers if container["init"]]
    spec["containers"] = [container for container in containers if not container["init"]]
    start = row.get("generateName")
    names = (
        {"name": f"{start}{row['index']:05}", "generateName": start}
        if start
        else {"name": row["name"]}
    )
    return {
        "kind": "Pod",
        "metadata": {**names, "labels": row["labels"], "annotations": row.get("annotations")},
        "spec": spec,
    }


def as_variable(variable: Json) -> Json:
    if "fieldRef" not in variable:
        return variable
    return {
        "name": variable["name"],
        "valueFrom": {"fieldRef": {"fieldPath": variable["fieldRef"]}},
    }


def compared(pod: Json) -> Json:
    """Return what a cluster shows of a pod: of the containers of the template, nothing that the
    template says.
    """
    unseen = ("mounts", "image", "command", "args")
    containers = [
        {key: value for key, value in container.items() if key not in unseen}
        for container in pod["containers"]
    ]
    return {
        **{key: value for key, value in pod.items() if key != "refused"},
        "containers": containers,
    }


def is_whole(row: Json) -> bool:
    """Return whether a row has all its pods, and not a part of them or those of its base."""
    pods = len(row.get("pods", ()))
    return "same_as_base" not in row and row.get("pods_total", 0) == pods <= operators.WHOLE


@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_pods_of_an_operator_are_as_recorded(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in makes the recorded pods with the object, and rejects what the webhook rejected."""
    monkeypatch.setattr(operators, "QUIET_SECONDS", 0.0)
    rows = [(row, manifest) for row, manifest in oracle.rows(operator) if is_whole(row)][::9]
    monkeypatch.setattr(oracle, "rows", lambda _: rows)
    by_text = {text(without_namespace(manifest)): row for row, manifest in rows}
    by_text |= {text(operators.named(manifest)): row for row, manifest in rows if row["accepted"]}

    def answer(question: Question) -> Answer | None:
        row = by_text.get(text(question.body))
        if row is None:
            return None
        if not row["accepted"]:
            words = {"mutate": "m", "webhook": "v"}.get(row["stage"], "v")
            return Answer(
                422,
                {
                    "message": f'admission webhook "{words}" denied the request: {"; ".join(row["errors"])}'
                },
            )
        for pod in row.get("pods", ()) if not question.is_dry_run else ():
            stored = as_pod(pod)
            question.stored[
                f"/api/v1/namespaces/{operators.PODS}/pods/{stored['metadata']['name']}"
            ] = stored
        return Answer(201, question.body, tuple(row.get("warnings", ())))

    hooks = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
    }
    others = [{"apiVersion": "v1", "kind": "Service"}, {"apiVersion": "v1", "kind": "ConfigMap"},
              {"apiVersion": "batch/v1", "kind": "Job"}]  # fmt: skip
    with (
        serving([hooks, *others, *(manifest for _, manifest in rows)], answer) as url,
        recording.connected(url) as server,
    ):
        recorded_rows = list(operators.answers(server, operator))
    by_id = {
        row["id"]: row
        for row in recorded.rows(f"operators/{operator}")
        if "base" not in row and "id" in row
    }
    for new, (old, _) in zip(recorded_rows, rows, strict=True):
        assert new["accepted"] == old["accepted"]
        new = by_id[new["base"]] if "same_as_base" in new else new
        by_name = [
            sorted(map(compared, row.get("pods", ())), key=itemgetter("name", "index"))
            for row in (new, old)
        ]
        assert by_name[0] == by_name[1], old


def test_a_set_keeps_its_order_and_new_cases_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "HERE", tmp_path)
    first = recording.header("tests.recorded.apiserver.record", {"kubernetes": "1.36"})
    recording.write("some/set", first, [{"id": "b", "accepted": True}])
    recording.write("some/set", first, [{"id": "a"}, {"id": "b", "accepted": True}])
    new: list[Json] = [
        {"id": "d"},
        {"id": "a", "accepted": False},
        {"id": "c"},
        {"id": "b", "accepted": True},
    ]
    recording.write("some/set", first, new, ("accepted",))
    assert [row["id"] for row in recorded.rows("some/set")] == ["b", "a", "c", "d"]
    assert recorded.header("some/set") == first


def test_differences_name_the_case_and_both_answers() -> None:
    name = "apiserver/pods"
    rows = list(recorded.rows(name))
    other = [{**rows[0], "accepted": not rows[0]["accepted"]}, *rows[2:]]
    lines = list(recording.differences(name, other, apiserver.ANSWERS))
    assert len(lines) == 2
    assert sum("no such case" in line for line in lines) == 1


def test_a_server_may_lack_a_kind_and_its_whole_group() -> None:
    with serving([], lambda _: None) as url, recording.connected(url) as server:
        assert server.path({"apiVersion": "v1", "kind": "Sock"}) is None
        assert server.path({"apiVersion": "example.com/v1", "kind": "Sock"}) is None
        with pytest.raises(RuntimeError, match="socks: not found"):
            server.items("/apis/example.com/v1/socks")


def test_an_object_that_exists_is_left_alone() -> None:
    with serving([], lambda _: None) as url, recording.connected(url) as server:
        server.request("POST", "/api/v1/namespaces", namespace := dict(kueue.UPDATED))
        taken = pytest.raises(RuntimeError, match="already exists")
        with taken, recording.owned(server, recording.namespace("u")):
            pass
        assert server.request("GET", "/api/v1/namespaces/u").data == namespace


def test_new_questions_are_the_same_for_a_seed() -> None:
    """They come from the kinds' own OpenAPI and from changes that people make."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    schemas = {"Pod": {"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
                       "properties": {"spec": {"properties": {"hostname": {"type": "string"}}}}}}  # fmt: skip

    def answer(question: Question) -> Answer | None:
        if question.path == "/openapi/v3/api/v1":
            return Answer(200, {"components": {"schemas": schemas}})
        return Answer(201, question.body)

    with serving([pod], answer) as url, recording.connected(url) as server:
        drawn = [list(islice(apiserver.draws(server, {"p": pod}, seed), 40)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert ["spec", "hostname"] in [one.path for one in drawn[0]]
    assert {one.op for one in drawn[0]} > {"set"}
    assert all(recorded.changed(pod, one._asdict()) != pod for one in drawn[0] if one.op != "set")


def test_a_new_definition_differs_by_its_fields(tmp_path: Path) -> None:
    """Descriptions and the status that a cluster adds do not count."""
    (old,) = recorded.rows("crds/jobset")
    new = json.loads(json.dumps(old)) | {"status": {"conditions": []}}
    spec = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["suspend"] |= {"type": "string", "description": "Stop."}
    spec["properties"]["description"] = {"type": "string"}
    path = tmp_path / "jobset.yaml"
    path.write_text(json.dumps(new), encoding="utf-8")
    start = ".spec.versions.v1alpha2.schema.openAPIV3Schema.properties.spec.properties"
    assert list(crds.changes(old, crds.published(path))) == [
        f"{start}.description.type: absent -> string",
        f"{start}.suspend.type: boolean -> string",
    ]
