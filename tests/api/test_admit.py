"""`admit`: the answers for jobs and specs, what is reported about them, and the JSON form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import ptcompile

Json = dict[str, Any]
GROUP = "kueue.x-k8s.io/v1beta2"
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "admission.schema.json").read_text(encoding="utf-8")
)
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: epyc}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus}
spec: {clusterQueue: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: large}
spec: {clusterQueue: large}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: epyc, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: large}
spec:
  namespaceSelector: {}
  stopPolicy: Hold
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: epyc, resources: [{name: cpu, nominalQuota: 100}]}]
"""


def job(name: str = "train", pods: int = 2, queue: str | None = "gpus", **metadata: Any) -> Json:
    """Return a Job whose pods request one cpu each."""
    container = {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels, **metadata},
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def workload(
    name: str, cpu: int, *, admitted: bool = True, owner: str = "", priority: int = 0
) -> Json:
    """Return a Workload of a dump, in the queue `gpus`."""
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    metadata: Json = {
        "name": name,
        "namespace": "default",
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    if owner:
        metadata["ownerReferences"] = [{"kind": "Job", "name": owner}]
    out: Json = {
        "apiVersion": GROUP,
        "kind": "Workload",
        "metadata": metadata,
        "spec": {
            "queueName": "gpus",
            "priority": priority,
            "podSets": [
                {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
            ],
        },
    }
    if admitted:
        assigned = {
            "name": "main",
            "flavors": {"cpu": "epyc"},
            "resourceUsage": {"cpu": str(cpu)},
            "count": 1,
        }
        out["status"] = {
            "admission": {"clusterQueue": "research", "podSetAssignments": [assigned]},
            "conditions": [
                {
                    "type": "QuotaReserved",
                    "status": "True",
                    "lastTransitionTime": "2026-01-01T00:00:01Z",
                }
            ],
        }
    return out


def cluster(*more: Json) -> list[Json]:
    return [*yaml.safe_load_all(QUEUES), *more]


def checked(admission: ptcompile.Admission) -> Json:
    """Return the JSON form, which the schema describes."""
    data: Json = json.loads(json.dumps(admission.to_dict()))
    Draft202012Validator(SCHEMA).validate(data)
    return data


def test_an_admitted_job_names_its_flavors() -> None:
    admission = ptcompile.admit(job(), state=QUEUES)
    assert admission.ok
    assert not admission.diagnostics
    assert admission.text() == "Job/train: admitted by research\n  main: 2 pods, cpu from epyc\n"
    (answer,) = checked(admission)["jobs"].values()
    assert answer["podSets"] == [{"name": "main", "count": 2, "flavors": {"cpu": "epyc"}}]


def test_a_job_that_never_fits_is_an_error_at_its_queue() -> None:
    text = QUEUES + "---\n" + yaml.safe_dump(job(pods=5))
    admission = ptcompile.admit(text, filename="all.yaml")
    assert not admission.ok
    assert admission.by_quota_alone
    (finding,) = admission.diagnostics
    assert (finding.name, finding.severity, finding.authority) == (
        "never-admitted",
        "error",
        "kueue",
    )
    assert finding.path == ("metadata", "labels", "kueue.x-k8s.io/queue-name")
    assert finding.span is not None
    line = text.splitlines()[finding.span.line - 1]
    assert "queue-name: gpus" in line
    quota = next(i for i, line in enumerate(text.splitlines(), 1) if "nominalQuota: 4" in line)
    assert finding.message.endswith(
        f"request (5) > maximum capacity (4); the quota is at all.yaml:{quota}"
    )
    assert finding.help == "no more than 4 pods of main can ever fit"
    assert admission.text().startswith(
        "by quota alone: without --state, nothing is taken to be in use\n"
    )


def test_a_job_waits_for_what_is_in_use() -> None:
    state = cluster(workload("other", 3))
    admission = ptcompile.admit([job(), job("small", 1)], state=state)
    jobs = checked(admission)["jobs"]
    assert [jobs[name]["outcome"] for name in ("train", "small")] == ["waits", "admitted"]
    assert "1 more needed" in jobs["train"]["reason"]
    (finding,) = admission.diagnostics
    assert (finding.name, finding.severity) == ("not-admitted-now", "warning")
    alone = ptcompile.admit(job(), state=state)
    assert [diagnostic.help for diagnostic in alone.diagnostics] == ["1 pod of main would fit now"]


def test_another_queue_is_named_if_it_would_admit_the_job() -> None:
    opened = cluster()
    del opened[4]["spec"]["stopPolicy"]
    (finding,) = ptcompile.admit(job(pods=5), state=opened).diagnostics
    assert finding.help == "queue large would admit it now"


def test_a_job_takes_the_place_of_one_of_lower_priority() -> None:
    state = cluster(workload("w", 3, owner="other"))
    state[3]["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    high = {
        "apiVersion": GROUP,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "high"},
        "value": 10,
    }
    urgent = job()
    urgent["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    admission = ptcompile.admit(urgent, state=[*state, high])
    (answer,) = checked(admission)["jobs"].values()
    assert answer["preempts"] == [
        {"name": "other", "namespace": "default", "how": "InClusterQueue"}
    ]
    assert "  preempts other in default (InClusterQueue)\n" in admission.text()
    missing = ptcompile.admit(urgent, state=state)
    assert "WorkloadPriorityClass high doesn't exist" in missing.text()


def test_a_job_of_the_dump_is_not_counted_twice() -> None:
    assert ptcompile.admit(job(pods=4), state=cluster(workload("w", 4, owner="train"))).ok
    assert not ptcompile.admit(job(pods=4), state=cluster(workload("w", 4, owner="other"))).ok
    done = workload("w", 4, owner="other")
    done["status"]["conditions"].append({"type": "Finished", "status": "True"})
    assert ptcompile.admit(job(pods=4), state=cluster(done)).ok


def test_a_strict_queue_lets_nobody_pass() -> None:
    state = cluster(workload("w", 3), workload("first", 2, admitted=False, owner="first"))
    assert ptcompile.admit(job(pods=1), state=state).ok, "best effort"
    state[3]["spec"]["queueingStrategy"] = "StrictFIFO"
    (answer,) = ptcompile.admit(job(pods=1), state=state).jobs
    assert (answer.outcome, answer.reason) == (
        "waits",
        "waits behind first, which is first in the queue and does not fit",
    )


def test_a_spec_is_compiled_first() -> None:
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec:\n  image: i:1\n  script: t.py\n"
    spec += "  nodes: 3\n  queue: gpus\n  target: job\n  resources: {cpu: 2}\n"
    profile = "{apiVersion: ptcompile/v1, kind: ClusterProfile, metadata: {name: c}, spec: {queueSystem: kueue}}"
    admission = ptcompile.admit(spec, cluster=profile, state=QUEUES, filename="spec.yaml")
    errors = [
        diagnostic for diagnostic in admission.diagnostics if diagnostic.name == "never-admitted"
    ]
    assert [(error.path, error.span.line if error.span else 0) for error in errors] == [
        (("spec", "queue"), 8)
    ]


def test_a_job_without_a_usable_queue_is_never_admitted() -> None:
    (answer,) = ptcompile.admit(job(queue=None), state=QUEUES).jobs
    assert answer.outcome == "never"
    assert "names no queue" in answer.reason
    (answer,) = ptcompile.admit(job(queue="other"), state=QUEUES).jobs
    assert answer.reason == "LocalQueue other doesn't exist"
    (answer,) = ptcompile.admit(job(queue="large"), state=QUEUES).jobs
    assert answer.reason == "ClusterQueue large is inactive: stopPolicy is Hold"


def test_a_kind_that_kueue_leaves_out_by_default_has_the_note_of_its_rule() -> None:
    container = {"name": "pytorch", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}
    master = {"replicas": 1, "template": {"spec": {"containers": [container]}}}
    metadata = {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "gpus"}}
    train: Json = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": metadata,
        "spec": {"pytorchReplicaSpecs": {"Master": master}},
    }
    (answer,) = ptcompile.admit(train, state=QUEUES).jobs
    assert (answer.outcome, answer.cluster_queue, answer.notes) == ("admitted", "", ())
    assert any(
        answer.reason in diagnostic.message for diagnostic in ptcompile.lint(train).diagnostics
    )
    spec = {"queueFrameworks": ["kubeflow.org/pytorchjob"]}
    profile: Json = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": spec}
    (answer,) = ptcompile.admit(train, state=QUEUES, cluster=profile).jobs
    assert (answer.outcome, answer.notes) == ("admitted", ())


def test_the_configuration_may_be_in_its_config_map() -> None:
    devices = job()
    devices["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1", "example.com/nic": "1"}
    }
    assert not ptcompile.admit(devices, state=QUEUES).ok
    settings = {"kind": "Configuration", "resources": {"excludeResourcePrefixes": ["example.com/"]}}
    written = yaml.safe_dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", **settings})
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config"},
        "data": {"controller_manager_config.yaml": written},
    }
    assert ptcompile.admit(devices, state=cluster(config_map)).ok


def test_what_is_not_modeled_is_said() -> None:
    state = cluster()
    state[3]["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "prov"}]}
    check = {
        "apiVersion": GROUP,
        "kind": "AdmissionCheck",
        "metadata": {"name": "prov"},
        "spec": {"controllerName": "kueue.x-k8s.io/provisioning-request"},
        "status": {"conditions": [{"type": "Active", "status": "True"}]},
    }
    admission = ptcompile.admit(job(), state=[*state, check])
    assert admission.ok
    (note,) = admission.diagnostics
    assert (note.name, note.severity) == ("admission-not-modeled", "note")
    assert "ProvisioningRequest" in note.message


def test_jobs_of_one_name_are_told_apart_by_namespace() -> None:
    names = list(checked(ptcompile.admit([job(), job(namespace="b")], state=QUEUES))["jobs"])
    assert names == ["Job/default/train", "Job/b/train"]


@pytest.mark.parametrize("source", ["", "a: [", "kind: x\n---\n[]\n"])
def test_mistakes_in_a_text_are_findings(source: str) -> None:
    for admission in (ptcompile.admit(source), ptcompile.admit(job(), state=source)):
        assert not admission.ok
        assert checked(admission)["jobs"] == {}


def test_queues_of_the_profile_count_unless_the_stream_replaces_them() -> None:
    queues = cluster()
    profile = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"objects": queues}}
    assert ptcompile.admit(job(pods=2), cluster=profile).jobs[0].outcome == "admitted"
    assert ptcompile.admit(job(pods=9), cluster=profile).jobs[0].outcome == "never"
    larger = json.loads(json.dumps(queues).replace('"nominalQuota": 4', '"nominalQuota": 400'))
    assert ptcompile.admit([*larger, job(pods=9)], cluster=profile).jobs[0].outcome == "admitted"
    assert ptcompile.admit(job(pods=9), cluster=profile, state=larger).jobs[0].outcome == "admitted"


SPEC = """
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: spec}
spec: {image: "img:1", script: train.py, nodes: 5, resources: {cpu: 1}, queue: gpus, target: job}
"""


def test_overrides_change_the_specs_of_the_stream() -> None:
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"queueSystem": "kueue"},
    }
    text = f"{SPEC}---\n{QUEUES}---\n{yaml.safe_dump(job('job', 5))}"
    assert [one.outcome for one in ptcompile.admit(text, cluster=cluster).jobs] == [
        "never",
        "never",
    ]
    answer = ptcompile.admit(text, cluster=cluster, overrides=[("spec.nodes", 2)], name="run-7")
    assert [(one.name, one.outcome) for one in answer.jobs] == [
        ("run-7", "admitted"),
        ("job", "never"),
    ]


def test_mistakes_in_overrides_are_theirs() -> None:
    answer = ptcompile.admit(
        SPEC + "---\n" + QUEUES, overrides=[("spec.nodes", "many"), ("spec.args[3]", 1)]
    )
    assert {item.filename for item in answer.diagnostics if item.severity == "error"} == {
        "overrides[1]"
    }
    answer = ptcompile.admit(SPEC + "---\n" + QUEUES, overrides=[("spec.nodes", "many")])
    assert {item.filename for item in answer.diagnostics if item.severity == "error"} == {
        "overrides[0]"
    }
    assert not answer.jobs


def test_a_kind_without_pods_counts_where_it_names_a_queue() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "gpus"}
    other = {
        "apiVersion": "acme.io/v1",
        "kind": "Pipeline",
        "metadata": {"name": "p", "labels": labels},
        "spec": {},
    }
    (answer,) = ptcompile.admit(f"{yaml.safe_dump(other)}---\n{QUEUES}").jobs
    assert (answer.outcome, answer.reason) == ("never", "Kueue queues no Pipeline of this form")
    other["metadata"] = {"name": "p"}
    assert ptcompile.admit(f"{yaml.safe_dump(other)}---\n{QUEUES}").jobs == ()
