"""Ask kubectl how it reads texts, and record what it answers.

`kubectl` and `kubectl-scalars` need no server: `kubectl label --local -o json` prints the objects
that it read. `kubectl-texts` has the verdicts of `kubectl create --validate=strict`, which asks the
API server of KUBECONFIG.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests import kubectl, recorded
from tests.recorded.recording import NAMESPACE, Json, arguments, connected, finish, header, owned

RECORDER = "tests.recorded.kubectl.record"
ANSWERS = ("data", "value", "accepted", "message")
HEAD = "apiVersion: v1\nkind: X\nmetadata: {name: a}\n"
LONGEST_MESSAGE = 200


def values(name: str) -> Iterator[Json]:
    """Yield values of `data:` as kubectl reads them."""
    rows = list(recorded.rows(name))
    objects = kubectl.objects("---\n".join(f"{HEAD}data: {row['text']}\n" for row in rows))
    yield from ({**row, "data": read["data"]} for row, read in zip(rows, objects, strict=True))


def scalars(name: str) -> Iterator[Json]:
    """Yield plain scalars as kubectl reads them."""
    rows = list(recorded.rows(name))
    (read,) = kubectl.objects(f"{HEAD}values:\n" + "".join(f"- {row['text']}\n" for row in rows))
    yield from ({**row, "value": value} for row, value in zip(rows, read["values"], strict=True))


def texts(name: str) -> Iterator[Json]:
    """Yield files, each with the verdict of `kubectl create` in a namespace of the recorder's own,
    as a dry run.
    """
    with connected(None) as server, owned(server), tempfile.TemporaryDirectory() as folder:
        for row in recorded.rows(name):
            path = Path(folder) / f"x.{row['ext']}"
            path.write_text(row["text"], encoding="utf-8")
            command = [
                "kubectl",
                "create",
                "--dry-run=server",
                "--validate=strict",
                "-n",
                NAMESPACE,
                "-f",
                path.name,
            ]
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
            )
            is_accepted = done.returncode == 0
            message = "" if is_accepted else done.stderr[:LONGEST_MESSAGE]
            yield {**row, "accepted": is_accepted, "message": message}


ASKED = {"kubectl": values, "kubectl-scalars": scalars, "kubectl-texts": texts}


def versions(name: str) -> dict[str, str]:
    """Return the releases of kubectl and, where a server is asked, of the server."""
    command = [
        "kubectl",
        "version",
        "-o",
        "json",
        *(() if name == "kubectl-texts" else ("--client",)),
    ]
    env = os.environ if name == "kubectl-texts" else {**os.environ, "KUBECONFIG": os.devnull}
    printed = json.loads(
        subprocess.run(command, capture_output=True, check=True, timeout=60, env=env).stdout
    )
    found = {"kubectl": printed["clientVersion"], "kubernetes": printed.get("serverVersion")}
    return {
        software: release["gitVersion"].removeprefix("v")
        for software, release in found.items()
        if release
    }


def main() -> int:
    """Record the named sets, or compare them. Returns the exit status."""
    options = arguments(RECORDER, __doc__).parse_args()
    status = 0
    for name in options.sets:
        rows = list(ASKED[name](name))
        status |= finish(name, header(RECORDER, versions(name)), rows, ANSWERS, check=options.check)
    return status


if __name__ == "__main__":
    sys.exit(main())
