"""The value of a variable uses shell syntax to refer to another.

PTC808 shell-variable-in-env: warning at run (differs), by kubelet.
Needs: env @variable

What: an env value contains `$NAME` or `${NAME}`.

Why: no shell reads env values, and Kubernetes replaces only `$(NAME)`, for names in the manifest.
The process sees the text as written: with `PATH: $PATH:/opt/bin` it no longer finds Python.

Example: pod.yaml with

      command: [python, train.py]
      env:
        - name: PYTHONPATH
    -     value: $PYTHONPATH:/workspace/src  # <--
    +     value: /workspace/src

Fix: write $(NAME) for a variable that comes before it; write the image's own value out, or set it
in a shell script. Refer to a Secret for a token.

Source: Kubernetes 1.36, variables in env values; the image's own variables cannot be referenced.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.source.secrets.names import is_credential

_VARIABLE = Pattern(r"(?<!\$)\$(\{)?(?P<name>[A-Z][A-Z0-9_]+)(?(1)\}|\b)")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        defined: set[str] = set()
        for entry in container.env:
            value = entry.text
            match = _VARIABLE.search(value) if "\n" not in value else None
            if match is not None:
                name = match["name"]
                path = (*entry.path, "value")
                replaced = _VARIABLE.sub(r"$(\g<name>)", value)
                all_defined = all(
                    reference["name"] in defined for reference in _VARIABLE.finditer(value)
                )
                if is_credential(entry.name):
                    help = "refer to a Secret by valueFrom.secretKeyRef"
                else:
                    help = "write the value out"

                yield found_at(
                    path,
                    f"{match.group()} is not expanded: no shell reads env values",
                    f"write $({name})" if all_defined else help,
                    fix_setting(f"write $({name})", path, replaced) if all_defined else None,
                )

            defined.add(entry.name)
