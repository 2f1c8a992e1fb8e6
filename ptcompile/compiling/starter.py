"""The spec that `ptcompile init` begins with: short, commented, and right as it stands."""

from __future__ import annotations

from ptcompile.operators.targets import TARGETS, target_named

_HEAD = """\
# yaml-language-server: $schema=spec.schema.json
# An editor with a YAML language server completes and checks this file by that schema:
#   ptcompile schema spec > spec.schema.json
# `ptcompile FILE` prints the manifests, `ptcompile simulate FILE` what every pod will see.
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: my-training  # pods, Services and host names are derived from it
  #namespace: research
spec:
"""

_BODY = """\
  image: ghcr.io/acme/train:1.0  # with torch in it
  script: train.py  # torchrun starts it on every node; or module: package.train, or command: [python, train.py]
  args: [--epochs, "3"]
{nodes}
  # Per node. A plain amount is request and limit; one process is started for each GPU.
  resources: {{cpu: 8, memory: 32Gi, gpu: 1}}

  #sharedMemory: 16Gi  # a memory volume at /dev/shm is there anyway, as large as the memory limit lets it be
  #env:
    #NCCL_DEBUG: INFO
    #HF_TOKEN: {{secretKeyRef: {{name: huggingface, key: token}}}}
  #volumes:
    #- {{name: data, persistentVolumeClaim: {{claimName: datasets}}}}
  #volumeMounts:
    #- {{name: data, mountPath: /data}}
  #runPolicy: {{{policy}}}
"""

_DEADLINE = "activeDeadlineSeconds: 86400"
_POLICIES = {"pod": _DEADLINE, "trainjob": _DEADLINE}
"""What a run policy may say where a target has no way to delete a job after its end."""


def starter(target: str | None = None) -> str:
    """A spec for a target, by its name; without one for whatever the job needs. Lines behind `#` may be taken in.

    Raises KeyError for an unknown target.
    """
    if target is None:
        choice = f"  #target: job  # one of {', '.join(TARGETS)}; absent: what the job needs\n"
    else:
        choice = f"  # {target_named(target).title}\n  target: {target}\n"
    nodes = "" if target == "pod" else "  nodes: 2\n"
    policy = _POLICIES.get(target or "", "ttlSecondsAfterFinished: 86400")
    return _HEAD + choice + _BODY.format(nodes=nodes, policy=policy)
