"""A working directory is not an absolute path.

PTC823 relative-working-dir: error at run (fails), by kubelet.
Needs: workingDir

What: a workingDir is relative, such as `workspace`.

Why: the API server accepts it, but the container runtime does not: "Cwd must be an absolute path".
The container never starts.

Example: pod.yaml with

      command: [python, train.py]
    - workingDir: workspace  # <--
    + workingDir: /workspace

Fix: write the absolute path.

Source: OCI runtime specification 1.2, process.cwd; runc 1.2.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if nested_value(template.spec, "os", "name") == "windows":
            continue
        for container in template.containers:
            working_dir = container.folder
            if working_dir and working_dir[0] not in "/$" and ":" not in working_dir:
                path = (*container.path, "workingDir")
                absolute = "/" + working_dir.removeprefix("./")
                yield found_at(
                    path,
                    f"{working_dir} is not an absolute path, so the container runtime rejects it",
                    f"write {absolute}, or the intended path",
                    fix_setting(f"write {absolute}", path, absolute),
                )
