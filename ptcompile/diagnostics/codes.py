"""The code of every name, and what its findings lead to. A code is given once and never reused or
renumbered.

`codes.json` has the codes by family, and what the findings of a name lead to unless their stage
already says that. `python schemas/update.py --rules` writes the rows of rules, from their pages.
"""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Effect

_TABLE = load_table("diagnostics/codes.json")

CODES: dict[str, str] = {}
"""Codes by name."""
for _family in _TABLE["families"].values():
    CODES.update(_family)

EFFECTS: dict[str, Effect] = _TABLE["effects"]
"""What a finding leads to, by name."""

SENTENCES: dict[Effect, list[str]] = _TABLE["sentences"]
"""What an effect is called if it is certain, and if it is not."""
