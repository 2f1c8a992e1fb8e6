"""Rendezvous hosts that no Service makes resolve: missing-service, endpoint-misses-pods, and cases without a
finding.
"""

from __future__ import annotations

import re

import pytest

from ptcompile import lint

CODES = {"missing-service", "endpoint-misses-pods", "unresolvable-endpoint", "selector-misses-pods",
         "service-not-headless", "subdomain-differs"}  # fmt: skip
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"
POD_SPEC = """containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [torchrun, --nnodes=2, --nproc-per-node=1, --node-rank=%s, "--master-addr=%s", train.py]
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
"""


def job(host: str = "r-train-0.r-train", subdomain: str = "r-train", extra: str = "") -> str:
    spec = POD_SPEC % ("$(JOB_COMPLETION_INDEX)", host)
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: r-train, namespace: ml}}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      {f"subdomain: {subdomain}" if subdomain else "hostNetwork: false"}
      {extra or "hostPID: false"}
      {spec}"""


def stateful(service: str = "serviceName: train", host: str = "train-0.train") -> str:
    return f"""apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: train, namespace: ml}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: train}}}}
  {service or "podManagementPolicy: Parallel"}
  template:
    metadata: {{labels: {{app: train}}}}
    spec:
      {POD_SPEC % ("0", host)}"""


def pod(index: int, hostname: str = "hostname") -> str:
    fields = (
        f"subdomain: train\n      {hostname}: train-{index}" if hostname else "subdomain: train"
    )
    return f"""apiVersion: v1
kind: Pod
metadata: {{name: train-{index}, namespace: ml, labels: {{app: train}}}}
spec:
      restartPolicy: Never
      {fields}
      {POD_SPEC % (index, "train-0.train")}"""


def service(name: str, selector: str, *, headless: bool = True) -> str:
    address = "clusterIP: None" if headless else "ports: [{port: 29500}]"
    return (
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: ml}}\nspec:\n  {address}\n"
        f"  publishNotReadyAddresses: true\n  selector: {selector}\n"
    )


OWN = "{batch.kubernetes.io/job-name: r-train}"
APP = "{app: train}"
CASES: list[tuple[list[str], list[tuple[str, str]]]] = [
    ([job()], [("note", "missing-service")]),
    ([job(), OTHER], [("warning", "missing-service")]),
    ([job(), service("other", "{app: x}")], [("warning", "missing-service")]),
    ([job(), service("r-train", OWN)], []),
    ([job(subdomain="rtrain"), service("r-train", "{app: x}")], [("error", "missing-service")]),
    ([job(subdomain="rtrain"), service("r-train", OWN)], [("error", "subdomain-differs")]),
    ([job(), service("r-train", "{app: x}")], [("error", "selector-misses-pods")]),
    ([job(), service("r-train", OWN, headless=False)], [("error", "service-not-headless")]),
    ([job("r-train-0.r-train.ml.svc.cluster.local"), OTHER], [("warning", "missing-service")]),
    ([job("master.ml.svc.cluster.local"), OTHER], [("warning", "missing-service")]),
    ([job("master"), OTHER], [("warning", "missing-service")]),
    ([job("master", extra="hostAliases: [{ip: 10.0.0.7, hostnames: [master]}]"), OTHER], []),
    ([job("master.other.svc.cluster.local"), OTHER], []),
    ([job("master.corp.example.com"), OTHER], []),
    ([job("10.0.0.7"), OTHER], []),
    ([job("master"), service("master", "{role: master}", headless=False)], [("error", "endpoint-misses-pods")]),
    ([job("master"), service("master", '{batch.kubernetes.io/job-completion-index: "0"}', headless=False)], []),
    ([stateful()], [("note", "missing-service")]),
    ([stateful(), service("train", APP)], []),
    ([stateful(), service("train", '{statefulset.kubernetes.io/pod-name: train-0}')], []),
    ([stateful(""), service("train", APP)], [("error", "missing-service")]),
    ([stateful("serviceName: other"), service("train", APP)], [("error", "missing-service")]),
    ([stateful(), service("train", APP, headless=False)], [("error", "missing-service")]),
    ([pod(0), pod(1)], [("warning", "missing-service")] * 2),
    ([pod(0), pod(1), service("train", APP)], []),
    ([pod(0, hostname=""), pod(1), service("train", APP)], [("error", "missing-service")] * 2),
    ([pod(1)], [("note", "missing-service")]),
    ([pod(1), service("train", APP)], []),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), CASES)
def test_a_host_needs_a_service_of_the_stream(
    files: list[str], expected: list[tuple[str, str]]
) -> None:
    findings = [
        diagnostic
        for diagnostic in lint("---\n".join(files)).diagnostics
        if diagnostic.name in CODES
    ]
    assert [(finding.severity, finding.name) for finding in findings] == expected


def test_the_message_names_the_service_and_the_field() -> None:
    messages = [
        diagnostic
        for diagnostic in lint(stateful("") + "---\n" + service("train", APP)).diagnostics
        if diagnostic.code == "PTC486"
    ]
    assert [(re.sub("^.*?: ", "", message.message), message.help) for message in messages] == [
        ("nothing answers to train-0.train: serviceName is not set", "set serviceName to train")
    ]


def test_operators_make_their_services() -> None:
    from ptcompile import compile

    spec = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {
            "image": "i:1",
            "script": "t.py",
            "nodes": 2,
            "resources": {"cpu": 1, "memory": "1Gi", "gpu": 1},
        },
    }
    for target in ("job", "jobset", "pytorchjob", "trainjob", "volcano"):
        findings = lint(compile(spec, target=target).yaml()).diagnostics
        assert not [finding for finding in findings if finding.name in CODES], target
