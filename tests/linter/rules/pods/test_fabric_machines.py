"""A manifest's network compared with the machines that it selects."""

from __future__ import annotations

import pytest

import ptcompile

NAMES = {"fabric-of-another-cloud", "fabric-without-machine"}
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  nodeSelector: {%s}
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [python, train.py]
      env: [%s]
      resources: {limits: {cpu: 8, memory: 16Gi, nvidia.com/gpu: 1%s}}
"""
GKE, TYPE = "cloud.google.com/gke-accelerator: ", "node.kubernetes.io/instance-type: "
EFA, GIB = ", vpc.amazonaws.com/efa: 1", "{name: NCCL_NET, value: gIB}"
TCPX, TCPXO = (
    "{name: NCCL_GPUDIRECTTCPX_CTRL_DEV, value: eth0}",
    "{name: NCCL_FASTRAK_CTRL_DEV, value: eth0}",
)


@pytest.mark.parametrize(
    ("pin", "env", "device", "name"),
    [
        (GKE + "nvidia-h100-80gb", "", EFA, "fabric-of-another-cloud"),
        (TYPE + "p5.48xlarge", TCPXO, "", "fabric-of-another-cloud"),
        (TYPE + "Standard_ND96isr_H100_v5", GIB, "", "fabric-of-another-cloud"),
        (GKE + "nvidia-h100-80gb", TCPXO, "", "fabric-without-machine"),
        (GKE + "nvidia-l4", GIB, "", "fabric-without-machine"),
        (TYPE + "g6.4xlarge", "", EFA, "fabric-without-machine"),
        (GKE + "nvidia-h100-80gb", TCPX, "", ""),
        (GKE + "nvidia-h100-mega-80gb", TCPXO, "", ""),
        (GKE + "nvidia-b200", GIB, "", ""),
        (TYPE + "g6.8xlarge", "", EFA, ""),
        (TYPE + "mine", TCPX, EFA, ""),
        ("pool: gold", TCPX, EFA, ""),
    ],
)
def test_findings_depend_on_the_machine(pin: str, env: str, device: str, name: str) -> None:
    names = [
        diagnostic.name
        for diagnostic in ptcompile.lint(POD % (pin, env, device)).diagnostics
        if diagnostic.name in NAMES
    ]
    assert names == ([name] if name else [])
