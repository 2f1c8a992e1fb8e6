"""Write `targets.json`: what each target can express, by compiling a small spec for each word and each target."""

from __future__ import annotations

import json
from pathlib import Path

from ptcompile.requirements.capabilities import capability_table

if __name__ == "__main__":
    Path(__file__).with_suffix(".json").write_text(json.dumps(capability_table(), indent=2) + "\n", encoding="utf-8")
