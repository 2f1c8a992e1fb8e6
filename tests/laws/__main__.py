"""Read what a change does to the findings of the corpus, and record which texts still break a law.

python -m tests.laws findings > before.txt
python -m tests.laws findings --against before.txt
python -m tests.laws ratchets
python -m tests.laws why LAW ID
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.laws import ratchets
from tests.laws.findings import finding_lines, lost_and_won
from tests.laws.laws import LAWS
from tests.laws.texts import every_text


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.laws",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    findings = commands.add_parser(
        "findings", help="print all findings, or those lost (-) and won (+)"
    )
    findings.add_argument("--against", type=Path, help="a file that this command wrote earlier")
    shorten = commands.add_parser(
        "ratchets", help="record which texts break a law; new ones are refused"
    )
    shorten.add_argument(
        "--grown", action="store_true", help="record new ones too: the corpus has grown"
    )
    why = commands.add_parser("why", help="print what breaks a law in one text")
    why.add_argument("law", choices=[*LAWS])
    why.add_argument("id")
    options = parser.parse_args()

    if options.command == "findings":
        _print_findings(options.against)
    elif options.command == "ratchets":
        sys.exit(_record(grown=options.grown))
    else:
        text = next(text for text in every_text() if text.id == options.id)
        print("\n".join(LAWS[options.law](text) or ["nothing"]))


def _print_findings(against: Path | None) -> None:
    lines = [*finding_lines()]
    if against is not None:
        lines = lost_and_won(against.read_text(encoding="utf-8").splitlines(), lines)
    for line in lines:
        print(line)


def _record(*, grown: bool) -> int:
    """Write the ratchets, print a line for each law, and return 1 if a text breaks a law that it kept before."""
    kept, new = ratchets.shortened(ratchets.measured(), grown=grown)
    ratchets.write(kept)
    print("\n".join([*ratchets.table(kept), *new]))
    return 1 if new and not grown else 0


if __name__ == "__main__":
    main()
