"""Apply the fixes of findings to the text of a file.

Comments, order, quotes and line breaks elsewhere stay byte for byte. The edited text is parsed
again and must match the fix; a fix that fails this check is skipped and reported.

`syntax_tree` has the position of every token, `changes` computes the data changes, `blocks` and
`flows` write them in YAML's two styles, and `rounds` applies fixes in rounds until none is left.
"""

from __future__ import annotations

from ptcompile.fixer.rounds import FixedText, FixResult, Skipped, apply, fix_in_rounds

__all__ = ["FixResult", "FixedText", "Skipped", "apply", "fix_in_rounds"]
