"""Each pod starts its own Ray cluster.

PTC250 ray-heads-apart: warning at run (apart), by ptcompile.
Needs: ray start head {MULTI_POD_KINDS}

What: all pods of a role with several pods run `ray start --head`.

Why: --head starts a cluster, and no pod joins another's. What runs in one pod sees the devices of
that pod alone.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: tune}
      spec:
        completionMode: Indexed
        completions: 2
        parallelism: 2
        backoffLimit: 0
        template:
          spec:
            subdomain: tune
            restartPolicy: Never
            containers:
              - name: ray
                image: rayproject/ray:2.46.0-gpu
                command:
                  - sh
                  - -c
    -             - ray start --head --block  # <--
    +             - if [ $JOB_COMPLETION_INDEX = 0 ]; then ray start --head --block; fi; ray start --address=tune-0.tune
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: start the head in one pod, and the others with --address.

Source: Ray 2.46, python/ray/scripts/scripts.py; docs/facts/ray.md#ray-start.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.ray import is_head


def check(subject: Subject) -> Findings:
    for role, pod, template in subject.roles:
        launches = (pod.launch, pod.job.last_pod(role).launch)
        if role.count < 2 or not all(
            launch.launcher == "ray" and launch.doubt is None and is_head(launch.options)
            for launch in launches
        ):
            continue

        main = next(iter(template.main_containers), None) if template is not None else None
        if main is None:
            continue

        yield found_at(
            next((token.path for token in main.argv if "--head" in token.text), main.path),
            f"each of the {role.count} pods starts its own Ray cluster",
            "start the head in one pod, and the others with --address",
        )
