"""The pytorch plugin has settings for waiting for the master, but does not wait.

PTC849 idle-wait-master: warning at style, by volcano.
Needs: pytorch wait

What: --wait-master-timeout or --wait-master-image without --wait-master-enabled.

Why: the init container that waits is made only where it is enabled, so the argument does nothing.

Example: volcano_roles.yaml with

      plugins:
        pytorch:
    +     - --wait-master-enabled
          - --wait-master-timeout=600  # <--

Fix: add --wait-master-enabled, or remove the argument.

Source: Volcano 1.14 and newer, pytorch plugin.
"""

from __future__ import annotations

from ptcompile.kubernetes.goflags import parse
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.plugins import flags_of
from ptcompile.operators.volcano.rules.reading import fix_with_argument, volcano_job


def check(subject: Subject) -> Findings:
    args = volcano_job(subject).plugins.get("pytorch", [])
    flags, problem = parse(args, flags_of("pytorch", subject.versions.volcano))
    if problem is not None or flags.get("wait-master-enabled", True):
        return

    for i, argument in enumerate(args):
        name, _, _ = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name in ("wait-master-timeout", "wait-master-image"):
            title = "wait for the master"
            yield found_at(
                ("spec", "plugins", "pytorch", i),
                f"--{name} does nothing without --wait-master-enabled",
                "add --wait-master-enabled",
                fix_with_argument(title, subject, "pytorch", "--wait-master-enabled"),
            )
            return
