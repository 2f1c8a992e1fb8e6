"""`lint jobs/ queues/`: each file is linted with the queues, quotas and namespaces in the others."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from ptcompile.cli.files import InputFile
from ptcompile.cli.related import RelatedObjects
from ptcompile.source.documents import Document
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {kueue.x-k8s.io/queue-name: gpus}
spec:
  suspend: true
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "i:1", command: [sleep, "1"], resources: {limits: {cpu: 8, memory: 8Gi}}}]
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus}
spec: {clusterQueue: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu, memory]
      flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 1Ti}]}]
"""


def test_queues_of_another_file_are_related(tmp_path: Path, capsys: Capture) -> None:
    job, queues = tmp_path / "jobs.yaml", tmp_path / "queues.yaml"
    job.write_text(JOB, encoding="utf-8")
    queues.write_text(QUEUES, encoding="utf-8")
    alone = here(capsys, "lint", job)
    both = here(capsys, "lint", job, queues, "--output-format", "concise")
    assert alone.status == 0
    assert both.status == 1
    assert f"{job}:5:" in both.out
    assert "PTC290" in both.out
    assert both.out.count("PTC") == 1


def test_a_kind_that_is_not_a_string_is_not_a_queue(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.yaml").write_text("kind: [LocalQueue]\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(QUEUES, encoding="utf-8")
    assert here(capsys, "lint", tmp_path).status == 0


def test_schemas_are_relative_to_their_configuration(tmp_path: Path, capsys: Capture) -> None:
    config = tmp_path / "ptcompile.toml"
    config.write_text('schemas = ["none"]\n', encoding="utf-8")
    (tmp_path / "x.yaml").write_text(QUEUES, encoding="utf-8")
    ran = here(capsys, "lint", "--config", config, tmp_path / "x.yaml")
    assert ran.status == 2
    assert f"--schemas: {tmp_path / 'none'}: No such file" in ran.err


LONELY = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      subdomain: train
      containers:
        - name: c
          image: "i:1"
          command: [torchrun, --nnodes=2, --rdzv-backend=c10d, "--rdzv-endpoint=train-0.train:29400", train.py]
          resources: {limits: {cpu: 8, memory: 8Gi}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: train}}
"""


def test_services_of_another_file_are_related(tmp_path: Path, capsys: Capture) -> None:
    job, service = tmp_path / "job.yaml", tmp_path / "service.yaml"
    job.write_text(LONELY, encoding="utf-8")
    assert "note[PTC486" in here(capsys, "lint", job).out
    assert "warning[PTC486" in here(capsys, "lint", tmp_path).out
    service.write_text(SERVICE, encoding="utf-8")
    assert "PTC486" not in here(capsys, "lint", tmp_path).out
    service.write_text(SERVICE.replace("job-name: train", "job-name: other"), encoding="utf-8")
    assert "warning[PTC486" in here(capsys, "lint", tmp_path).out


def test_a_service_belongs_to_files_that_name_it_or_have_a_label_of_its_selector() -> None:
    """A label that every Service has tells nothing, unless a Service has no other."""

    def service(name: str, selector: str) -> InputFile:
        text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{{selector}}}}}\n"
        return InputFile(f"{name}.yaml", text.encode(), named=False)

    services = [service(f"svc-{i}", f"app: train, job: j{i}") for i in range(70)]
    services += [service("gateway", "app: train"), service("ünicode", "app: 'a#b'"), service("none", "")]
    related = RelatedObjects(services, is_complete=True)

    def names(text: str) -> list[str]:
        objects = related.objects_for(InputFile("job.yaml", text.encode(), named=False)) or []
        return [manifest["metadata"]["name"] for manifest in objects]

    assert names("labels: {app: train, job: j7}") == ["svc-7", "gateway"]
    assert names("--rdzv-endpoint=x-0.svc-12.ns.svc:29400") == ["svc-12"]
    assert names("labels: {job: j70}, image: 'a#b', svc: 1, j: 7") == ["ünicode"]
    assert names("#") == []
    assert related.objects_for(services[7]) == [related.objects[70]]


def test_files_with_related_objects_are_freed_without_collecting_garbage() -> None:
    gc.collect()
    gc.disable()
    try:
        RelatedObjects([InputFile(f"{i}.yaml", SERVICE.encode(), False) for i in range(3)], is_complete=True).load()
        assert not any(isinstance(item, Document) for item in gc.get_objects())
    finally:
        gc.enable()


def test_policies_and_their_parameters_in_other_files(tmp_path: Path, capsys: Capture) -> None:
    """The finding names the file of the policy; a parameter may be of any kind."""
    (tmp_path / "policy.yaml").write_text(
        """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "object.spec.containers.all(c, c.image == params.data.image)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: images, validationActions: [Deny], paramRef: {name: allowed, parameterNotFoundAction: Deny}}
""",
        encoding="utf-8",
    )
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: allowed}\ndata: {image: %s}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'i:1'}]}\n"
    (tmp_path / "pod.yaml").write_text(pod, encoding="utf-8")
    (tmp_path / "config.yaml").write_text(config % "'i:2'", encoding="utf-8")
    denied = here(capsys, "lint", tmp_path)
    assert denied.status == 1
    assert "ValidatingAdmissionPolicy 'images' with binding 'everywhere' denied request: failed expr" in denied.out
    assert "policy.yaml requires\n" in denied.out.partition("as the policy in ")[2]
    (tmp_path / "config.yaml").write_text(config % "'i:1'", encoding="utf-8")
    assert here(capsys, "lint", tmp_path).status == 0
