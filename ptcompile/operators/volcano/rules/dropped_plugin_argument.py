"""A Volcano plugin drops an argument and all that follow it.

What: an argument that Go's flag package cannot read: an unknown flag, a value after a blank instead of `=`, a word
without dashes, a bad number, or any argument of a plugin that takes none.

Why: Volcano logs the error and continues with what it has read so far: the rest keeps its default, and the job runs
with another port or without the option.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
        plugins:
          pytorch:
            - --master=master
    -       - --port 5000  # <--
    +       - --port=5000
        policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]
        tasks:
          - name: master
            replicas: 1
            policies: [{event: TaskCompleted, action: CompleteJob}]
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - {name: worker, replicas: 2, template: *pod}

Fix: write each argument as --name=value, with a name that the plugin knows in this release.

Source: Volcano 1.16, job plugins; Go's flag package with ContinueOnError. --wait-master-* since 1.14,
--inject-hosts-env since 1.16.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.volcano.admission import PLUGINS
from ptcompile.operators.volcano.rules.reading import flag, flags_of, pytorch_tasks, volcano_job


def _check(subject: Subject) -> Iterator[Finding]:
    for plugin, args in volcano_job(subject).plugins.items():
        known = flags_of(plugin, subject.versions.volcano)
        problem = parse(args, known)[1] if args and plugin in PLUGINS else None
        if problem is None or _no_port(subject, plugin):
            continue
        index = bisect_left(range(len(args) - 1), 1, key=lambda i: parse(args[: i + 1], known)[1] == problem)
        if index + 1 == len(args) and args[index] == "true":
            continue  # behind a flag that is true without it: nothing is lost
        path = ("spec", "plugins", plugin, index)
        lost = f", and the {len(args) - index - 1} after it are lost too" if index + 1 < len(args) else ""
        mended = _mended(args[index], known)
        yield found_at(
            path,
            f"the plugin stops reading here: {problem}{lost}",
            f"write {mended}" if mended else _help(plugin, known),
            Fix(f"write {mended}", (Edit("set", path, mended),), safe=False) if mended else None,
        )


def _no_port(subject: Subject, plugin: str) -> bool:
    """Whether the bad number makes pods that are refused, which is said of the plugin already."""
    if plugin != "pytorch" or pytorch_tasks(subject) is None:
        return False
    return not 1 <= as_int(flag(subject, "pytorch", "port")) <= 65535


def _mended(argument: str, known: dict[str, Value]) -> str | None:
    """The argument as it was most likely meant, if the plugin can read that."""
    name, _, value = argument.strip().lstrip("-").replace(" ", "=", 1).partition("=")
    meant = closest_match(name, known)
    if meant is None:
        return None
    mended = f"--{meant}={value.strip()}" if value.strip() else f"--{meant}"
    return mended if mended != argument and parse([mended], known)[1] is None else None


def _help(plugin: str, known: dict[str, Value]) -> str:
    if not known:
        return f"remove it: the plugin {plugin} takes no arguments"
    return f"write --NAME=VALUE with one of {', '.join(known)}"


RULE = Rule("dropped-plugin-argument", _check, severity="error", stage="run", authority="volcano")
