"""The pages of the site that are made from the code, by their path below docs/."""

from __future__ import annotations

import re

from ptcompile.api.reference import targets, version_rows
from ptcompile.hardware import tables
from website import cli, codes, documents, messages, python, schemas


def made_pages() -> dict[str, str]:
    """Every page that is not written by hand, as Markdown."""
    return {
        **codes.pages(),
        **messages.pages(),
        **schemas.pages(),
        **documents.pages(),
        "reference/cli.md": cli.page(),
        "reference/python.md": python.page(),
        "reference/targets.md": _targets(),
        "reference/machines.md": _machines(),
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
            "What each target can express, by compiling a spec for each row; and for each software the newest release",
            "that is modeled, and the newest whose recorded answers the tests replay. `ptcompile targets` prints both.",
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


def _machines() -> str:
    head = [
        "# Machines",
        "",
        "The machine types of each accelerator, by cloud; [Machines and fabrics](../guide/machines.md) explains what",
        "is checked against them. `ptcompile targets --accelerators` prints this table; `--format json` adds labels,",
        "MIG slices and topologies, variables and the source of each row.",
        "",
        "`left to pods` does not account for DaemonSets; on EKS it is a range, because it depends on the hypervisor's",
        "share (up to 7.5%) and on the kubelet's maximum number of pods. `?` means that no public source gives the",
        "value.",
        "",
        tables.markdown(),
    ]
    return "\n".join(head)
