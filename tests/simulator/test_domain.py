"""Names of Services and pods in a cluster whose domain is not cluster.local."""

from __future__ import annotations

import pytest

import ptcompile

JOB = """\
apiVersion: v1
kind: Service
metadata: {name: t, namespace: ml}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {job-name: t}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: t, namespace: ml}
spec:
  backoffLimit: 0
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      subdomain: t
      restartPolicy: Never
      containers:
        - name: pytorch
          image: a:1
          command: [torchrun, --nnodes=2, --nproc-per-node=1, --rdzv-backend=c10d, --rdzv-id=a,
            "--rdzv-endpoint=t-0.t.ml.svc.DOMAIN:29400", t.py]
"""
PROFILE = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "spec": {"clusterDomain": "k8s.acme.io"},
}


@pytest.mark.parametrize(
    ("domain", "cluster", "codes"),
    [
        ("cluster.local", None, []),
        ("cluster.local", PROFILE, ["PTC404"]),
        ("k8s.acme.io", PROFILE, []),
        ("k8s.acme.io", None, []),
        ("cluster.locl", None, ["PTC404"]),
    ],
)
def test_an_endpoint_in_another_cluster_domain_is_reported(
    domain: str, cluster: object, codes: list[str]
) -> None:
    report = ptcompile.lint(JOB.replace("DOMAIN", domain), cluster=cluster)  # type: ignore[arg-type]
    assert [each.code for each in report.diagnostics] == codes


def test_pods_are_named_in_the_domain() -> None:
    world = ptcompile.simulate(JOB.replace("DOMAIN", "k8s.acme.io"), cluster=PROFILE)
    assert [pod.dns for pod in world.pods] == [f"t-{i}.t.ml.svc.k8s.acme.io" for i in range(2)]
    assert ptcompile.simulate(JOB, cluster=None).pods[0].dns == "t-0.t.ml.svc.cluster.local"
