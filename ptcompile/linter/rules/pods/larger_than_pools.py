"""The node pools have no room for all pods of a job at once.

PTC171 larger-than-pools: warning at run (waits), by ptcompile.
Needs: @Node/@NodePool

What: pods that wait for one another before they train need more than all nodes that take them hold
together: the nodes of the profile's pools, of Node objects, or within the limits of Karpenter's
NodePools. Pods that use one port of the node, or avoid one another by a required anti-affinity on
kubernetes.io/hostname, need a node each.

Why: some pods stay Pending, and the others hold their devices and wait for them. It is a warning if
the cluster may have other nodes.

Example:

      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: gpu}
      spec:
    -   limits: {nvidia.com/gpu: 8}
    +   limits: {nvidia.com/gpu: 16}
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}
      ---
      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: train}}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completionMode: Indexed
        completions: 2
        parallelism: 2
        backoffLimit: 0
        template:
          metadata: {labels: {app: train}}
          spec:
            restartPolicy: Never
            subdomain: train
            volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=2
                  - --nproc-per-node=8
                  - --node-rank=$(JOB_COMPLETION_INDEX)
                  - --master-addr=train-0.train
                  - --master-port=29500
                  - train.py
                resources:
                  limits:
                    cpu: 64
                    memory: 512Gi
                    nvidia.com/gpu: 8  # <--
                volumeMounts: [{name: shm, mountPath: /dev/shm}]

Fix: use fewer pods, request less in each, or give the pools more nodes.

Source: Kubernetes 1.36, pkg/scheduler/framework/plugins; Karpenter 1.14,
pkg/controllers/provisioning/scheduling.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    pools = subject.stream.pools
    if pools is not None:
        from ptcompile.linter.placement import gang_misfits

        yield from gang_misfits(subject, pools)
