"""Fixes: what findings say about the data, written into the text.

Comments, order, quotes and line ends of all else stay byte for byte. What is written is read again, and has to be what
the fix says; a fix of which that cannot be is left alone, and said.

`syntax_tree` knows where everything stands, `changes` what becomes different, `blocks` and `flows` write it in the two
styles of YAML, and `rounds` makes the fixes of one round and repeats that until nothing is left to fix.
"""

from __future__ import annotations

from ptcompile.fixer.rounds import FixResult, Mended, Skipped, apply, mend

__all__ = ["FixResult", "Mended", "Skipped", "apply", "mend"]
