"""`python -m tests.laws findings [--against FILE]`: read what a change does to the findings of the corpus."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.laws.findings import finding_lines, lost_and_won


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.laws", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    findings = commands.add_parser("findings", help="print all findings, or those lost and won")
    findings.add_argument("--against", type=Path, help="a file that this command wrote earlier")
    options = parser.parse_args()

    lines = [*finding_lines()]
    if options.against is not None:
        lines = lost_and_won(options.against.read_text(encoding="utf-8").splitlines(), lines)
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
