"""What removes the containers and the network of a rehearsal when its standard input ends, whichever process ended.

A program of its own, in a session of its own: it outlives a rehearsal that is killed.
"""

import subprocess
import sys
import time

_TRIES = 20


def main(engine: str, label: str) -> int:
    """Wait, then remove all that has the label, what was starting meanwhile included."""
    sys.stdin.buffer.read()
    for _ in range(_TRIES):
        found = _run(engine, "ps", "--all", "--quiet", "--filter", f"label={label}").stdout.split()
        if found:
            _run(engine, "rm", "--force", "--volumes", *found)
        there = _run(engine, "network", "ls", "--quiet", "--filter", f"name={label}").stdout.split()
        if not there or _run(engine, "network", "rm", label).returncode == 0:
            return 0
        time.sleep(0.5)
    return 1


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - the user's engine


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
