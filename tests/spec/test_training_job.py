"""The TrainingJob model: a field for every parameter of the reference documents, with the documents' defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ptcompile.spec import training_job as vocabulary
from ptcompile.spec.training_job import Elastic, JobSpec, Spec
from tests.making import smallest, text

DEFAULTS: list[tuple[str, Any]] = [
    # reference document 002, docs/facts/flyte.md#elastic
    ("nnodes", None), ("start_method", "spawn"), ("monitor_interval", 5), ("max_restarts", 0),
    ("rdzv_backend", None), ("rdzv_configs", {}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "default"), DEFAULTS)
def test_defaults_are_those_of_elastic(field: str, default: Any) -> None:
    assert getattr(Elastic(), field) == default


def test_a_job_has_its_defaults() -> None:
    job = JobSpec()
    assert job.shared_memory is True, "increase_shared_mem"
    assert job.master_port == 23456, (
        "docs/facts/volcano.md#plugin-arguments, docs/facts/training-operator.md#defaults"
    )
    assert (job.volcano.master_task, job.volcano.worker_task) == ("master", "worker")
    policy = job.run_policy
    assert (policy.clean_pod_policy, policy.ttl_seconds_after_finished, policy.backoff_limit) == (
        None,
        None,
        None,
    )
    assert policy.active_deadline_seconds is None
    assert not policy.suspend


EVERYTHING = """
image: ghcr.io/acme/x:1
script: train.py
args: [--epochs, "3"]
workingDir: /work
imagePullPolicy: IfNotPresent
env: {A: a, B: {secretKeyRef: {name: s, key: k}}, C: {configMapKeyRef: {name: c, key: k}},
      D: {fieldRef: {fieldPath: metadata.name}}, E: {resourceFieldRef: {resource: limits.memory}}}
envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
volumeMounts: [{name: data, mountPath: /data}, {name: data, mountPath: /out, subPath: out}]
restartPolicy: OnFailure
serviceAccountName: trainer
imagePullSecrets: [{name: registry}]
nodeSelector: {pool: gpu}
tolerations: [{key: a, operator: Exists}]
affinity: {podAntiAffinity: {}}
priorityClassName: high
securityContext: {runAsNonRoot: true}
podSecurityContext: {fsGroup: 1000}
schedulerName: mine
hostNetwork: true
terminationGracePeriodSeconds: 0
podLabels: {app: x}
podAnnotations: {sidecar.istio.io/inject: "false"}
queue: research
masterPort: 29500
sharedMemory: 8Gi
target: volcano
volcano: {masterTask: chief, workerTask: others}
resources: {cpu: 4, memory: 64Gi, gpu: 8, ephemeralStorage: 100Gi, devices: {rdma/hca: 1}}
elastic: {nprocPerNode: 8, startMethod: fork, monitorInterval: 10, maxRestarts: 3, rdzvBackend: c10d, rdzvId: x,
          rdzvConfigs: {timeout: 1200, last_call_timeout: 60}}
runPolicy: {cleanPodPolicy: Running, ttlSecondsAfterFinished: 0, backoffLimit: 0}
master: {image: other, restartPolicy: Never, resources: {requests: {cpu: 500m}, limits: {cpu: 1}}}
worker: {replicas: 3, env: {F: f}}
"""


def test_every_parameter_has_a_field() -> None:
    data = yaml.safe_load(text(EVERYTHING))
    read = Spec.model_validate(data)
    again = Spec.model_validate(read.model_dump(by_alias=True, exclude_unset=True))
    assert again == read
    assert (
        read.spec.run_policy.ttl_seconds_after_finished,
        read.spec.run_policy.backoff_limit,
    ) == (0, 0)
    assert read.spec.termination_grace_period_seconds == 0
    assert read.spec.elastic is not None
    assert read.spec.elastic.rdzv_configs == {"timeout": 1200, "last_call_timeout": 60}


def test_every_field_has_a_description() -> None:
    schema = vocabulary.json_schema()
    for model in (schema, *schema["$defs"].values()):
        for name, field in model.get("properties", {}).items():
            if model.get("title") not in {"ResourceList"} or "$ref" not in field:
                assert field.get("description"), (model.get("title"), name)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", (1, 1)), ("nodes: 4", (4, 4)), ("elastic: {}", (1, 1)), ("elastic: {nnodes: 3}", (3, 3)),
        ("elastic: {nnodes: '2:4'}", (2, 4)), ("master: {}", (1, 1)), ("worker: {replicas: 2}", (3, 3)),
        ("master: {}\nworker: {}", (2, 2)), ("worker: {replicas: 0}", (1, 1)), ("nodes: 2\nelastic: {}", (2, 2)),
        ("worker: {replicas: 3}\nelastic: {nprocPerNode: 8}", (4, 4)),
    ],
)  # fmt: skip
def test_each_field_gives_the_number_of_nodes(body: str, expected: tuple[int, int]) -> None:
    assert Spec.model_validate(yaml.safe_load(smallest(body))).spec.node_range() == expected


def test_the_schema_for_editors_is_valid() -> None:
    schema = vocabulary.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    json.dumps(schema)
    assert {"apiVersion", "kind", "metadata", "spec"} <= set(schema["required"])


VALIDATOR = jsonschema.Draft202012Validator(vocabulary.json_schema())


@pytest.mark.parametrize(
    "body", [EVERYTHING, "image: i\nscript: t", "image: i\nresources: {cpu: 0.5, memory: 1Gi}"]
)
def test_the_schema_accepts_what_the_models_accept(body: str) -> None:
    data = yaml.safe_load(text(body))
    Spec.model_validate(data)
    assert list(VALIDATOR.iter_errors(data)) == []


@pytest.mark.parametrize(
    "body",
    ["nods: 1", "nodes: 0", "nodes: x", "restartPolicy: always", "env: {A: 1}", "env: {A: {}}", "masterPort: 70000",
     "elastic: {nprocPerNode: all}", "elastic: {startMethod: x}", "runPolicy: {backoffLimit: -1}", "args: x"],
)  # fmt: skip
def test_the_schema_rejects_what_the_compiler_rejects(body: str) -> None:
    assert list(VALIDATOR.iter_errors(yaml.safe_load(smallest(body))))


def test_the_committed_schema_is_current() -> None:
    """Refresh with `python -m ptcompile schema spec > schemas/spec.schema.json`."""
    committed = Path(__file__).parents[2] / "schemas" / "spec.schema.json"
    assert json.loads(committed.read_text(encoding="utf-8")) == vocabulary.json_schema()
