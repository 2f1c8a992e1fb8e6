"""A Volcano plugin drops an argument and all that follow it.

PTC441 dropped-plugin-argument: error at run (differs), by volcano.
Needs: plugins

What: an argument that Go's flag package cannot read: an unknown flag, a value after a space instead
of `=`, a word without dashes, a bad number, or any argument of a plugin that takes none.

Why: Volcano logs the error and continues with what it has read so far: the rest keeps its default,
and the job runs with another port or without the option.

Example: volcano_roles.yaml with

      plugins:
        pytorch:
          - --master=master
    -     - --port 5000  # <--
    +     - --port=5000

Fix: write each argument as --name=value, with a name that the plugin knows in this release.

Source: Volcano 1.16, job plugins; Go's flag package with ContinueOnError. --wait-master-* since
1.14, --inject-hosts-env since 1.16.
"""

from __future__ import annotations

from bisect import bisect_left

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.plugins import FLAGS, flags_of
from ptcompile.operators.volcano.rules.reading import (
    flag_value,
    pytorch_tasks,
    volcano_job,
)


def check(subject: Subject) -> Findings:
    for plugin, args in volcano_job(subject).plugins.items():
        flags = flags_of(plugin, subject.versions.volcano)
        problem = _why_stopped(args, flags) if args and plugin in FLAGS else None
        if problem is None or _has_invalid_port(subject, plugin):
            continue

        # an argument after the one that stops the plugin changes nothing, so that one is found by
        # halving
        index = bisect_left(
            range(len(args) - 1), 1, key=lambda i: _why_stopped(args[: i + 1], flags) == problem
        )
        if index + 1 == len(args) and args[index] == "true":
            continue  # the flag before `true` is true without it, so nothing is lost

        path = ("spec", "plugins", plugin, index)
        lost = ""
        if index + 1 < len(args):
            lost = f", and the {len(args) - index - 1} after it are lost too"

        corrected = _corrected_argument(args[index], flags)
        if corrected:
            help = f"write {corrected}"
        elif flags:
            help = f"write --NAME=VALUE with one of {', '.join(flags)}"
        else:
            help = f"remove it: the plugin {plugin} takes no arguments"

        yield found_at(
            path,
            f"the plugin stops reading here: {problem}{lost}",
            help,
            fix_setting(help, path, corrected) if corrected else None,
        )


def _why_stopped(args: list[str], flags: dict[str, Value]) -> str | None:
    _, problem = parse(args, flags)
    return problem


def _has_invalid_port(subject: Subject, plugin: str) -> bool:
    """Return whether the bad number makes pods that are rejected, which is already reported for
    the plugin.
    """
    if plugin != "pytorch" or pytorch_tasks(subject) is None:
        return False
    return not 1 <= as_int(flag_value(subject, "pytorch", "port")) <= 65535


def _corrected_argument(argument: str, flags: dict[str, Value]) -> str | None:
    """Return the argument as it was probably intended, or None if the plugin cannot read that."""
    name, _, value = argument.strip().lstrip("-").replace(" ", "=", 1).partition("=")
    suggestion = closest_match(name, flags)
    if suggestion is None:
        return None
    corrected = f"--{suggestion}={value.strip()}" if value.strip() else f"--{suggestion}"
    if corrected != argument and _why_stopped([corrected], flags) is None:
        return corrected
    return None
