"""c10d publishes a pod's host name, and no Service makes it resolve.

PTC452 unpublished-name: error at run (fails), by torchrun.
Needs: @unpublished-name

What: pods meet by c10d, and the host name of one of them is no DNS name: it has no subdomain, no
headless Service has that name, or the Service does not select the pod.

Why: the endpoint leads to the store, but then the node with rank 0 tells the others where its
processes meet: at its own host name, which only a headless Service with the name of the pods'
subdomain makes resolve. The others find nothing there and exit.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {app: train, batch.kubernetes.io/job-completion-index: "0"}
        ports: [{port: 29400}]
      ---
    + apiVersion: v1
    + kind: Service
    + metadata: {name: nodes}
    + spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: train}}
    + ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completionMode: Indexed
        completions: 2
        parallelism: 2
        template:
          metadata: {labels: {app: train}}
          spec:
    +       subdomain: nodes
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
    -           command: [torchrun, --nnodes=2, --rdzv-backend=c10d, "--rdzv-endpoint=train:29400", train.py]  # <--
    +           command: [torchrun, --nnodes=2, --rdzv-backend=c10d, "--rdzv-endpoint=train:29400", train.py]
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give the pods a subdomain with a headless Service, or set PET_LOCAL_ADDR from the field
status.podIP.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py: socket.getfqdn()
unless local_addr is given; torch issue 85300.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("unpublished-name"):
        yield found_at(
            role.command_path,
            obstacle.sentence,
            "give the pods a subdomain with a headless Service, or set PET_LOCAL_ADDR from the "
            "field status.podIP",
            severity=None if obstacle.is_certain else "warning",
        )
