"""llms.txt and the skill: what assistants read of the project."""

from __future__ import annotations

import re
from typing import Any

import yaml

from ptcompile._internal.about import SITE
from ptcompile.mcp.tools import TOOLS
from website import llms
from website.blocks import ROOT, SKILL
from website.pages import made_pages


def site() -> tuple[dict[str, Any], str]:
    """Return the configuration of the site, and the file."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    made = made_pages()

    def page(path: str) -> str:
        return made[path] if path in made else (ROOT / "docs" / path).read_text(encoding="utf-8")

    return config, llms.text(
        config["site_name"], config["site_description"], config["site_url"], config["nav"], page
    )


def test_every_page_of_the_navigation_is_listed_once_with_a_sentence() -> None:
    config, text = site()
    paths = re.findall(r"[\w/-]+\.md", str(config["nav"]))
    links = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\): .+$", text, re.MULTILINE)
    assert len(links) == len(paths) == text.count("\n- ")
    addresses = [address for _, address in links]
    assert len(set(addresses)) == len(addresses)
    assert {SITE, f"{SITE}guide/lint/", f"{SITE}codes/", f"{SITE}reference/spec/"} <= set(addresses)
    assert text.startswith(f"# ptcompile\n\n> {config['site_description']}\n\n## ")
    assert text.index("## Optional") > text.index("## Reference")


def test_the_skill_has_the_head_that_assistants_read() -> None:
    _, head, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    data = yaml.safe_load(head)
    assert set(data) == {"name", "description"}
    assert data["name"] == SKILL.parent.name
    assert 0 < len(data["description"]) <= 1024
    assert {"## Write a spec", "## Read a finding", "## Move PyTorchJob v1 to TrainJob v2"} <= set(
        body.splitlines()
    )


def test_the_page_lists_every_tool() -> None:
    text = (ROOT / "docs" / "guide" / "assistants.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", text.partition("## Tools")[2], re.MULTILINE)
    assert re.findall(r"\w+", " ".join(rows)) == list(TOOLS)
