"""Record the schema of SARIF from the npm package that has it: `npm pack @microsoft/jest-sarif`,
then `--from FILE`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.recorded.recording import arguments, finish, header

RECORDER = "tests.recorded.sarif.record"


def main() -> int:
    """Record the schema, or compare it. Returns the exit status."""
    parser = arguments(RECORDER, __doc__)
    parser.add_argument(
        "--from", dest="file", type=Path, required=True, metavar="FILE", help="the JSON Schema"
    )
    options = parser.parse_args()
    row = json.loads(options.file.read_text(encoding="utf-8"))
    (name,) = options.sets
    version = row["title"].partition("Version ")[2].partition(" ")[0]
    return finish(
        name, header(RECORDER, {"sarif": version}), [row], tuple(row), check=options.check
    )


if __name__ == "__main__":
    sys.exit(main())
