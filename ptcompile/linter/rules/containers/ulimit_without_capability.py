"""A script fails because it raises a limit without permission.

PTC876 ulimit-without-capability: warning at run (fails), by kubelet.
Needs: ulimit unlimited

What: a script under `set -e`, or before `&&`, sets `ulimit -l unlimited` or another hard limit to
unlimited, and the container lacks the capability SYS_RESOURCE.

Why: only a process with SYS_RESOURCE may raise a hard limit. Unless the container runtime gives the
limit already, the script ends with "Operation not permitted".

Example: pod.yaml with

      command:
        - bash
        - -c
        - set -e; ulimit -l unlimited; torchrun --standalone train.py  # <--
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    + securityContext: {capabilities: {add: [SYS_RESOURCE]}}

Fix: remove the line, add the capability, or append `|| true`; for RDMA the capability IPC_LOCK is
enough.

Source: Linux 6.x, setrlimit(2); Kubernetes 1.36, security contexts.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_strings
from ptcompile.linter.rule import Findings, Subject, found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.script import ShellCommand


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if not any("ulimit" in word for word in container.tokens):
            continue
        added = nested_strings(container.spec, "securityContext", "capabilities", "add")
        names = {name.removeprefix("CAP_") for name in added}
        if container.is_privileged or names & {"SYS_RESOURCE", "ALL"}:
            continue

        commands = container.script.commands if container.script is not None else ()
        command = next(
            (command for command in commands if _raises(command) and command.fails_script), None
        )
        if command is not None:
            yield found_at(
                container.script_path,
                f"{' '.join(command.words)} needs the capability "
                "SYS_RESOURCE, and the script ends at the failed command",
                "remove it, or append || true",
            )


def _raises(command: ShellCommand) -> bool:
    """Return whether a command sets a hard limit to unlimited."""
    program, *options = command.words
    return (
        program == "ulimit"
        and options[-1:] == ["unlimited"]
        and not any("S" in option for option in options)
    )
