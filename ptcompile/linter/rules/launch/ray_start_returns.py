"""ray start returns, and the container ends with it.

PTC249 ray-start-returns: error at run (fails), by kubelet.
Needs: ray start

What: the command of a container, or the last command of its script, is `ray start` without --block.

Why: ray start leaves its processes in the background and returns with status 0. The container's
main process is gone, so the kubelet ends the container with all of them, and the pod succeeds
without work.

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
    -           command: [ray, start, "--address=tune-0.tune:6379"]  # <--
    +           command: [ray, start, "--address=tune-0.tune:6379", --block]
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add --block, or run the training after it.

Source: Ray 2.46, python/ray/scripts/scripts.py; docs/facts/ray.md#ray-start.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.ray import parse_ray_start
from ptcompile.world.templates import ManifestContainer


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        program, *words = _last_command(container) if container.is_main else [""]
        if basename(program) != "ray" or words[:1] != ["start"]:
            continue

        if "block" not in parse_ray_start(words[1:]):
            if container.call is None:
                path = container.argv[container.start_index].path
            else:
                path = container.script_path
            text = (
                "ray start without --block returns, and the container ends with all processes of "
                "Ray"
            )
            yield found_at(path, text, "add --block, or run the training after it")


def _last_command(container: ManifestContainer) -> list[str]:
    """Return the last command that the container certainly runs, or an empty one."""
    if container.call is None:
        return [*container.tokens[container.start_index :]] or [""]

    script = container.script
    last = script.commands[-1] if script is not None and script.commands else None
    is_end = (
        last is not None
        and last.doubt is None
        and script is not None
        and not (script.endless or script.unread)
    )

    return last.words if last is not None and is_end else [""]
