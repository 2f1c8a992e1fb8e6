"""The pages of the site that are made from the code, by their path below docs/."""

from __future__ import annotations

import re

from ptcompile.api.reference import targets
from ptcompile.requirements.capabilities import version_rows
from website import cli, codes, documents, python, schemas


def made_pages() -> dict[str, str]:
    """Every page that is not written by hand, as Markdown."""
    return {
        **codes.pages(),
        **schemas.pages(),
        **documents.pages(),
        "reference/cli.md": cli.page(),
        "reference/python.md": python.page(),
        "reference/targets.md": _targets(),
    }


def _linked(cell: str) -> str:
    """A cell in which pages of facts are links."""
    return re.sub(r"facts/([\w-]+)", r"[\1](../facts/\1.md)", cell)


def _targets() -> str:
    rows = ["| " + " | ".join(map(_linked, row)) + " |" for row in version_rows()]
    return "\n".join(
        [
            "# Targets",
            "",
            "What each target can express. `ptcompile targets` makes this table by compiling a spec for each row.",
            "",
            f"```text\n{targets().text()}```",
            "",
            "*roughly* compiles with a warning that says what the operator does instead; *no* is an error.",
            "",
            "## What each release changed",
            "",
            "`ptcompile targets --versions`. The profile's `versions` say which release your cluster runs.",
            "",
            "| Software | Releases | What | Source |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )
