"""A script fails because it raises a limit without permission.

What: a script under `set -e`, or before `&&`, sets `ulimit -l unlimited` or another hard limit to unlimited, and the
container lacks the capability SYS_RESOURCE.

Why: only a process with SYS_RESOURCE may raise a hard limit. Unless the container runtime gives the limit already, the
script ends with "Operation not permitted".

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - bash
              - -c
              - set -e; ulimit -l unlimited; torchrun --standalone train.py  # <--
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    +       securityContext: {capabilities: {add: [SYS_RESOURCE]}}

Fix: remove the line, add the capability, or append `|| true`; for RDMA the capability IPC_LOCK is enough.

Source: Linux 6.x, setrlimit(2); Kubernetes 1.36, security contexts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.unstructured import as_strings, nested_map
from ptcompile.linter.containers import shell_script
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.world.templates import ManifestContainer

_UNLIMITED = Pattern(r"\bulimit\s+(?:-H\s*)?-(?:H?[a-z]*[lnusv])\s+unlimited([^\n;]*)")
_ERREXIT = Pattern(r"set\s+-[a-z]*e|errexit")


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        command = shell_script(container)
        match = _UNLIMITED.search(command.word.text) if command is not None else None
        if command is None or match is None or _can_raise_limits(container) or "||" in match[1] or "soft" in match[0]:
            continue
        before = command.word.text[: match.start()]
        letters = "".join(flag[1:] for flag in command.flags if not flag.startswith("--"))
        if "&&" in match[1] or "e" in letters or _ERREXIT.search(before):
            yield found_at(
                command.word.path,
                f"{match[0].partition('&&')[0].strip()} needs the capability "
                "SYS_RESOURCE, and the script ends at the failed command",
                "remove it, or append || true",
            )


def _can_raise_limits(container: ManifestContainer) -> bool:
    """Return whether the container may raise hard limits."""
    security = nested_map(container.spec, "securityContext")
    added = {name.removeprefix("CAP_") for name in as_strings(nested_map(security, "capabilities").get("add"))}
    return security.get("privileged") is True or bool(added & {"SYS_RESOURCE", "ALL"})


RULE = Rule("ulimit-without-capability", _check, severity="warning", stage="run", authority="kubelet")
