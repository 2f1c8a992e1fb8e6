"""Run the cases with a real torchrun and record how they ended: one file per version of PyTorch."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import ptcompile
from ptcompile.rehearsal import Rehearsal, to_dict
from ptcompile.rehearsal.backends import find_torch
from tests.recorded.recording import header
from tests.recorded.torchrun.cases import CASES, Case, profile

FOLDER = Path(__file__).parent


def played(case: Case, python: str) -> Rehearsal:
    """Return the rehearsal of a case, compiled for the interpreter's PyTorch.

    Each pod runs one process unless the case sets another number.
    """
    return ptcompile.rehearse(
        case.source, target=case.target, cluster=profile(series(find_torch(python, None, ()))), faults=case.faults,
        python=python, limit=case.limit, restarts=False,
        progress=lambda line: print(f"    {line}", file=sys.stderr),
    )  # fmt: skip


def series(torch: str) -> str:
    """Return the minor release of a torch version: `2.5` for `2.5.1+cu124`."""
    return ".".join(torch.split("+")[0].split(".")[:2])


def row(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return the recorded part of a rehearsal: observations without predictions."""
    full = to_dict(rehearsal)
    return {
        "seen": full["verdict"]["seen"],
        "seconds": round(full["seconds"]),
        "limited": full["limited"],
        "pods": [_pod(pod) for pod in full["pods"]],
    }


def _pod(pod: dict[str, Any]) -> dict[str, Any]:
    """Return the recorded part of a pod.

    `meetings` has the world size and number of nodes of each rendezvous that its first process joined; `rank` is the
    last node rank.
    """
    least = min((one["rank"] for one in pod["rounds"]), default=None)
    meetings: list[list[int]] = []
    for join in pod["rounds"]:
        if [join["world"], join["nodes"]] not in meetings[-1:]:
            meetings.append([join["world"], join["nodes"]])
    return {
        "meetings": meetings,
        "rank": pod["rounds"][-1]["group"] if least is not None else None,
        "starts": pod["starts"],
        "exit": pod["exit"],
        "error": pod["error"],
    }


def main() -> int:
    """Run the named cases, or all, and save the results for this torch, or compare them with the predictions."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.recorded.torchrun.record", description=__doc__
    )
    parser.add_argument("names", nargs="*", metavar="CASE", help="only these")
    parser.add_argument("--python", required=True, help="the interpreter that has torch")
    parser.add_argument(
        "--check", action="store_true", help="write nothing: 1 where simulate claims otherwise"
    )
    options = parser.parse_args()
    differs = False
    for name in options.names or CASES:
        print(f"{name}:", file=sys.stderr)
        rehearsal = played(CASES[name], options.python)
        print(
            f"  {rehearsal.verdict.seen} {' '.join(rehearsal.verdict.differences)}", file=sys.stderr
        )
        differs |= bool(rehearsal.verdict.differences)
        if not options.check:
            write(name, rehearsal)
    return int(differs and options.check)


def write(name: str, rehearsal: Rehearsal) -> None:
    """Put the result of one case into the file of its torch."""
    path = FOLDER / f"{series(rehearsal.torch)}.json"
    rows: dict[str, Any] = {
        **header("tests.recorded.torchrun.record", {"torch": rehearsal.torch}),
        "cases": {},
    }
    if path.exists():
        rows["cases"] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    rows["cases"][name] = row(rehearsal)
    rows["cases"] = {case: rows["cases"][case] for case in CASES if case in rows["cases"]}
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
