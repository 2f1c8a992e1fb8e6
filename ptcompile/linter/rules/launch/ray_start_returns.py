"""ray start returns, and the container ends with it.

What: the command of a container, or the last command of its script, is `ray start` without --block.

Why: ray start leaves its processes in the background and returns with status 0. The container's main process is gone,
so the kubelet ends the container with all of them, and the pod succeeds without work.

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

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import shell_script
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.simulator.launchers.ray import parse_ray_start
from ptcompile.simulator.launchers.shell import split_statements
from ptcompile.world.templates import ManifestContainer

_has_control = Pattern(
    r"(?:^|[\s;&|])(?:if|for|while|until|case|function|trap|wait|fg)(?:[\s;]|$)|<<|\(\)|[({]\s"
).search


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        words = _last_command(container) if container.is_main else []
        if [basename(word) for word in words[:1]] + words[1:2] != ["ray", "start"]:
            continue
        if "block" not in parse_ray_start(words[2:]):
            script = shell_script(container)
            path = container.argv[container.start_index].path if script is None else script.word.path
            text = "ray start without --block returns, and the container ends with all processes of Ray"
            yield found_at(path, text, "add --block, or run the training after it")


def _last_command(container: ManifestContainer) -> list[str]:
    """Return the last command that the container runs, or nothing if a script's structure hides it."""
    script = shell_script(container)
    if script is None:
        return [token.text for token in container.argv[container.start_index :]]
    if _has_control(script.word.text):
        return []
    statements = [words for words, _ in split_statements(script.word.text) if words]
    last = statements[-1] if statements else []
    return last[1:] if last[:1] == ["exec"] else last


RULE = Rule("ray-start-returns", _check, severity="error", stage="run", authority="kubelet")
