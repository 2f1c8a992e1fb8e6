"""The two most frequent commands as argparse would read them, without it.

`ptcompile lint FILE...`, and `ptcompile SPEC...` with or without `--no-lint`. argparse, re and the parser are a
fifth of their cold start.
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_COMPILE: Final[dict[str, Any]] = {
    **dict.fromkeys(("name", "output", "cluster", "jobs")),
    **dict.fromkeys(("check", "untrusted"), False),
    "format": "yaml",
    "output_format": "full",
}
_LINT: Final[dict[str, Any]] = {
    **dict.fromkeys(("kubernetes_version", "config", "fail_on", "output_file", "cluster", "jobs", "cache_dir")),
    **dict.fromkeys(("no_webhooks", "isolated", "exit_zero", "statistics", "add_ignore", "fix", "diff"), False),
    **dict.fromkeys(("unsafe_fixes", "untrusted", "no_cache"), False),
    "unknown_kinds": "count",
    "output_format": "full",
}


def bare(words: Sequence[str]) -> dict[str, Any] | None:
    """The options of such a command; None for any other command line, which the parser reads.

    `tests/cli/test_main.py` holds that they are the parser's own.
    """
    if words[:1] not in (["lint"], ["compile"]):
        return None
    lint = words[0] == "lint"
    paths = [word for word in words[1:] if lint or word != "--no-lint"]
    if any(word.startswith("-") and word != "-" for word in paths):
        return None
    if lint:
        return {**_LINT, **{name: [] for name in ("schemas", "select", "extend_select", "ignore")}, "paths": paths}
    return {**_COMPILE, "target": [], "set": [], "no_lint": len(paths) < len(words) - 1, "paths": paths}
