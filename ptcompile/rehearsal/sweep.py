"""The program that removes a rehearsal's containers and network when its standard input ends.

A standalone program in its own session: it survives a rehearsal that is killed.
"""

import subprocess
import sys
import time

_ATTEMPTS = 20


def main(engine: str, label: str) -> int:
    """Wait for the end of input, then remove everything with the label, including containers that
    are still starting.
    """
    sys.stdin.buffer.read()
    for _ in range(_ATTEMPTS):
        containers = _run(
            engine, "ps", "--all", "--quiet", "--filter", f"label={label}"
        ).stdout.split()
        if containers:
            _run(engine, "rm", "--force", "--volumes", *containers)
        networks = _run(
            engine, "network", "ls", "--quiet", "--filter", f"name={label}"
        ).stdout.split()
        if not networks or _run(engine, "network", "rm", label).returncode == 0:
            return 0

        time.sleep(0.5)

    return 1


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the user's engine


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
