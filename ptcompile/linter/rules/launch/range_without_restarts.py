"""With a range of nodes, the first lost node ends the training.

What: torchrun takes a range of nodes, and --max-restarts is 0, which is also the default.

Why: when a node is lost, the processes of the others fail in the middle of a collective. torchrun restarts them with
fewer nodes only if it has restarts left.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
                        command:
                          - torchrun
                          - --nnodes=1:2  # <--
                          - --rdzv-backend=c10d
                          - --rdzv-endpoint=train-node-0-0.train:29400
    +                     - --max-restarts=3
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give --max-restarts, or write one number of nodes.

Source: PyTorch 2.13, torch/distributed/elastic/agent/server/api.py: a failed worker group is restarted while restarts
remain.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in subject.torchrun_groups:
        first = roles[0]
        nodes = first.rendezvous.nodes
        is_range = nodes is not None and nodes[0] < nodes[1] and first.rendezvous.backend != "static"
        if is_range and first.rendezvous.max_restarts == "0" and not first.is_standalone:
            raised = "add --max-restarts=3" if first.source_of("max-restarts") == "default" else "raise it to 3"
            yield found_at(
                first.path_of("nnodes"),
                f"{first.rendezvous.nodes_text} nodes are a range, but with max-restarts 0 the first lost node "
                "ends the training on all nodes",
                f"{raised}, or write one number of nodes",
            )


RULE = Rule("range-without-restarts", _check, severity="warning", stage="run", authority="torchrun")
