"""The first pod waits for its own rendezvous port.

PTC827 waits-for-itself: error at run (waits), by kubelet.
Needs: initContainers

What: an init container that all pods have waits for the rendezvous port, even in the pod that
serves it.

Why: in that pod the training would open the port, but it starts only after the init container. No
pod ever starts.

Example: indexed_torchrun.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {batch.kubernetes.io/job-name: train}
      ---
      subdomain: train
      initContainers:
        - name: wait
          image: docker.io/library/busybox:1.37
    -     command: [sh, -c, "until nc -z train-0.train 29500; do sleep 2; done"]  # <--
    +     command: [sh, -c, "until nslookup train-0.train; do sleep 2; done"]
          resources: {limits: {cpu: 100m, memory: 64Mi}}
      containers:
        - name: pytorch
          command:
            - torchrun
            - --nnodes=2
            - --nproc-per-node=1
            - --node-rank=$(JOB_COMPLETION_INDEX)
            - --master-addr=train-0.train
            - --master-port=29500
            - train.py

Fix: wait for the name instead of the port, or not at all: torchrun waits for its rendezvous itself.

Source: Kubernetes 1.36, init containers end before the containers start.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.launchers.rendezvous import Rendezvous

_WAITING = Pattern(
    r"\bnc(?:at)?(?: -?\w+){0,4} -\w*z|/dev/tcp/|wait-for-it|\bcurl\b|\bwget\b|\btelnet\b"
)
_CONDITION = Pattern(r"COMPLETION_INDEX|RANK|HOSTNAME|hostname|TASK_INDEX")


def check(subject: Subject) -> Findings:
    # arguments with scripts that wait for a port in every pod
    waiting = {
        init.path: [
            word
            for word in init.argv
            if _WAITING.search(word.text) and not _CONDITION.search(word.text)
        ]
        for init in subject.containers
        if init.ends_first
    }
    rendezvous = subject.rendezvous if any(waiting.values()) else None
    serving = _serving_pod(subject, rendezvous) if rendezvous is not None else None
    if rendezvous is None or serving is None:
        return

    host = rendezvous.host
    port = rendezvous.port
    for container in serving.template.containers:
        for word in waiting.get(container.path, ()):
            if host in word.text and port in word.text:
                yield found_at(
                    word.path,
                    f"{serving.pod} waits for its own {rendezvous.endpoint}, "
                    "which opens only after its init containers",
                    "wait for the name with nslookup, or not at all",
                )


class _ServingPod(NamedTuple):
    template: ManifestTemplate
    pod: str


def _serving_pod(subject: Subject, rendezvous: Rendezvous) -> _ServingPod | None:
    """Return the pod that serves the rendezvous, or None if it is not the first pod of a role."""
    from ptcompile.simulator.meeting import address_of

    if not rendezvous.host:
        return None
    for _, pod, template in subject.roles:
        if address_of(pod, rendezvous.host).pod is pod:
            if template is not None:
                return _ServingPod(template, pod.display_name)
            return None
    return None
