"""`ptcompile lint FILE...` without an option, the most frequent command: what argparse would make of it, without it.

argparse, its expressions and the parser are a twentieth of a cold start.
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def bare(words: Sequence[str]) -> dict[str, Any] | None:
    """The options of `lint` with no word but files; None for any other command line, which the parser reads.

    `tests/cli/test_main.py` holds that they are the parser's own.
    """
    if words[:1] != ["lint"] or any(word.startswith("-") and word != "-" for word in words):
        return None
    absent = ("kubernetes_version", "config", "fail_on", "output_file", "cluster", "jobs", "cache_dir")
    switches = (
        "no_webhooks", "isolated", "exit_zero", "statistics", "add_ignore", "fix", "diff", "unsafe_fixes", "untrusted",
        "no_cache",
    )  # fmt: skip
    return {
        **dict.fromkeys(absent),
        **dict.fromkeys(switches, False),
        **{name: [] for name in ("schemas", "select", "extend_select", "ignore")},
        "unknown_kinds": "count",
        "output_format": "full",
        "paths": [*words[1:]],
    }
