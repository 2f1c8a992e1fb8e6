"""Host names against the Services, pods and namespaces of a stream, for every kind that makes pods."""

from __future__ import annotations

import pytest

import ptcompile

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: train%s}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {%s}}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train%s}
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  backoffLimit: 0
  template:
    metadata: {labels: {app: train}}
    spec:
      subdomain: train
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [torchrun, --nnodes=%s, --rdzv-backend=c10d, "--rdzv-endpoint=%s:29400", --rdzv-id=a, train.py]
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train%s}
spec:
  failurePolicy: {maxRestarts: 3}
  replicatedJobs:
    - name: workers
      template:
        spec:
          completions: 4
          parallelism: 4
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: pytorch
                  image: ghcr.io/acme/train:1.0
                  command: [torchrun, --nnodes=4, --rdzv-backend=c10d, "--rdzv-endpoint=%s:29400", train.py]
"""
PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train%s}
spec:
  pytorchReplicaSpecs:
    Master:
      template: &pod
        spec:
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [torchrun, --nnodes=4, --rdzv-backend=c10d, "--rdzv-endpoint=%s:29400", train.py]
    Worker: {replicas: 3, template: *pod}
"""
BY_JOB, BY_APP = "job-name: train", "app: train"


def severities_of(text: str) -> list[str]:
    """Return the severities of findings on hosts."""
    return [
        d.severity for d in ptcompile.lint(text).diagnostics if d.name == "unresolvable-endpoint"
    ]


@pytest.mark.parametrize(
    ("host", "severity"),
    [
        ("train-0.train", None),
        ("train-3.train", None),
        ("train-0.train.", None),
        ("train-0.train.default", None),
        (
            "train-0.train.ml.svc.cluster.local",
            None,
        ),  # a manifest without a namespace may be applied to any
        ("train-0.train.default.svc.k8s.corp", None),  # a custom cluster domain
        ("train", None),  # the Service itself
        ("10.0.0.7", None),
        ("head.example.com", None),
        ("head", None),  # may be a Service of another file
        ("train-9.train", "error"),
        ("trian-0.train", "error"),
        ("train-0.trian", "error"),
        ("other-0.train", "error"),  # all four nodes are in this file, so one of them has the store
        ("train-0", "error"),
        ("train-0.train.default.svc.cluster.loca", "error"),
        ("trian", "error"),  # misspells the Service of these pods
    ],
)
def test_an_indexed_job_s_hosts_resolve_by_its_service(host: str, severity: str | None) -> None:
    assert severities_of(SERVICE % ("", BY_JOB) + JOB % ("", 4, host)) == (
        [severity] if severity else []
    )


@pytest.mark.parametrize(
    ("host", "severity"),
    [
        ("head-0.train", None),  # pods of another file may have the label that the Service selects
        ("train-9.train", "error"),
        ("trian-0.train", "warning"),
    ],
)
def test_a_service_of_several_jobs_may_lead_to_nodes_of_other_files(
    host: str, severity: str | None
) -> None:
    assert severities_of(SERVICE % ("", BY_APP) + JOB % ("", 8, host)) == (
        [severity] if severity else []
    )


@pytest.mark.parametrize(
    ("service", "job", "host", "severity"),
    [
        (", namespace: ml", ", namespace: ml", "train-0.train.ml", None),
        (", namespace: ml", ", namespace: ml", "train-0.train.ml.svc.cluster.local", None),
        (", namespace: ml", ", namespace: ml", "train-0.train.default.svc.cluster.local", "error"),
        (", namespace: ml", ", namespace: ml", "train.default", "error"),
        (", namespace: default", ", namespace: ml", "train-0.train", "error"),
        ("", ", namespace: ml", "train-0.train", "warning"),  # kubectl -n ml may apply it there
        (", namespace: ml", "", "train-0.train", "warning"),
    ],
)
def test_hosts_are_looked_up_in_their_namespace(
    service: str, job: str, host: str, severity: str | None
) -> None:
    assert severities_of(SERVICE % (service, BY_JOB) + JOB % (job, 4, host)) == (
        [severity] if severity else []
    )


@pytest.mark.parametrize(
    ("host", "severity"),
    [
        ("train-0.train", None),  # the Service may be in another file
        ("head-0.train", "error"),
        ("train-9.train", "error"),
        ("train-0.mesh", "error"),
    ],
)
def test_a_job_without_its_service_has_no_hosts(host: str, severity: str | None) -> None:
    assert severities_of(JOB % ("", 4, host)) == ([severity] if severity else [])


def test_a_subdomain_may_read_as_a_namespace() -> None:
    """`train-0.train` also reads as a Service train-0 in that namespace, which does not exist."""
    assert severities_of(JOB % (", namespace: train", 4, "train-0.train")) == ["warning"]
    assert severities_of(JOB % (", namespace: research", 4, "train-0.train")) == []


@pytest.mark.parametrize(
    ("host", "severity"),
    [
        ("train-workers-0-0.train", None),
        ("train-workers-0-3.train.default.svc", None),
        ("train-worker-0-0.train", "error"),
        ("train-workers-0-4.train", "error"),
        ("train-workers-1-0.train", "error"),
        ("other-workers-0-0.train", "error"),
        ("train-workers-0-0.mesh", "error"),
        ("train-workers-0-0", "error"),
    ],
)
def test_hosts_of_a_jobset_are_checked(host: str, severity: str | None) -> None:
    assert severities_of(JOBSET % ("", host)) == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("host", "severity"),
    [
        ("train-master-0", None),
        ("train-worker-2.default.svc.cluster.local", None),
        ("train-master", None),  # a user's Service may select the Master
        ("trian-master-0", "error"),
        ("train-master-1", "error"),
        ("train-worker-3", "error"),
    ],
)
def test_hosts_of_a_pytorchjob_are_checked(host: str, severity: str | None) -> None:
    assert severities_of(PYTORCHJOB % ("", host)) == ([severity] if severity else [])


def test_a_host_may_belong_to_another_job_of_the_stream() -> None:
    head = (JOB % ("", 8, "head-0.train")).replace("name: train}", "name: head}")
    rest = JOB % ("", 8, "head-0.train")
    assert severities_of(SERVICE % ("", BY_APP) + head + "---\n" + rest) == []
    assert severities_of(
        SERVICE % ("", BY_APP) + head + "---\n" + rest.replace("head-0", "head-4")
    ) == ["error"]


SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: "ghcr.io/acme/train:1.0", script: train.py, nodes: 2, resources: {gpu: 1, cpu: 4, memory: 16Gi}}
"""


@pytest.mark.parametrize("target", ["job", "jobset"])
@pytest.mark.parametrize("name", ["dev-train", "train-dev"])
def test_a_host_of_a_job_that_kustomize_renamed_is_an_error(target: str, name: str) -> None:
    """namePrefix and nameSuffix rename the object, but neither the address nor the subdomain."""
    text = ptcompile.compile(SPEC, target=target).yaml()
    renamed = text.replace("metadata:\n  name: train\n", f"metadata:\n  name: {name}\n")
    (finding,) = [
        diagnostic
        for diagnostic in ptcompile.lint(renamed).diagnostics
        if diagnostic.code == "PTC404"
    ]
    assert finding.severity == "error"
    assert "Kustomize" in finding.message
    assert f"--name {name}" in (finding.help or "")


def test_a_similar_name_is_not_a_renamed_job() -> None:
    assert severities_of(JOBSET % ("", "trainer-workers-0-0.trainer")) == severities_of(
        JOBSET % ("", "other-workers-0-0.other")
    )
    assert (
        severities_of(
            JOBSET.replace("4, --rdzv", "8, --rdzv") % ("-dev", "train-workers-0-0.train")
        )
        == []
    )
