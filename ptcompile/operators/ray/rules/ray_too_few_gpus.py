"""A RayJob asks for more GPUs than its cluster can have.

PTC151 ray-too-few-gpus: warning at run (waits), by kuberay.
Needs: entrypoint workers/nnodes

What: the entrypoint has --num-workers N with --use-gpu, or verl's trainer.nnodes and
trainer.n_gpus_per_node, and all groups together have fewer GPUs, with maxReplicas if the autoscaler
is on.

Why: Ray Train reserves a GPU for each worker in one placement group, which stays pending forever;
verl stops.

Example:

      apiVersion: ray.io/v1
      kind: RayJob
      metadata: {name: tune}
      spec:
    -   entrypoint: python train.py --num-workers 16 --use-gpu  # <--
    +   entrypoint: python train.py --num-workers 8 --use-gpu
        shutdownAfterJobFinishes: true
        rayClusterSpec:
          headGroupSpec:
            rayStartParams: {}
            template:
              spec:
                containers: [{name: head, image: "rayproject/ray:2.46.0", resources: {limits: {cpu: 4, memory: 16Gi}}}]
          workerGroupSpecs:
            - groupName: gpu
              replicas: 2
              minReplicas: 2
              maxReplicas: 2
              rayStartParams: {}
              template:
                spec:
                  containers:
                    - name: worker
                      image: rayproject/ray:2.46.0-gpu
                      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}

Fix: start fewer workers, or give the cluster more GPUs.

Source: Ray 2.46, ray.train.ScalingConfig and placement groups; verl 0.5,
trainer/ppo/ray_trainer.py.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.ray.pods import count_of
from ptcompile.operators.ray.rules.reading import entrypoint_words, max_gpus, ray_groups


def check(subject: Subject) -> Findings:
    groups = ray_groups(subject)
    words = entrypoint_words(subject)
    gpus_of_verl = _number(words, "trainer.nnodes") * _number(words, "trainer.n-gpus-per-node")
    needed = _gpus_of_ray_train(words) or gpus_of_verl
    total = max_gpus(subject, groups) if needed and groups else None
    if total is not None and needed > total:
        yield found_at(
            ("spec", "entrypoint"),
            f"the workers need {needed} GPUs, but the cluster has at most {total}",
            "start fewer workers, or give the groups more GPUs or replicas",
        )


def _gpus_of_ray_train(words: list[str]) -> int:
    """Return the GPUs of `--num-workers N --use-gpu`, or 0 if the options do not tell."""
    if any("per-worker" in word or "per_worker" in word for word in words):
        return 0
    switches = {word.replace("_", "-").casefold() for word in words}
    uses_gpus = not switches.isdisjoint(("--use-gpu", "--use-gpu=true", "--use-gpu=1"))
    return _number(words, "--num-workers") if uses_gpus else 0


def _number(words: list[str], option: str) -> int:
    """Return the last value of an option, as one word or two, or 0."""
    number = 0
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.lstrip("+").replace("_", "-") == option:
            next_word = words[i + 1] if i + 1 < len(words) else ""
            number = count_of(value if equals else next_word)
    return number
