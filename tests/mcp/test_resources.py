"""The pages that the MCP server offers."""

from __future__ import annotations

import pytest

from ptcompile import init
from ptcompile.diagnostics.codes import CODES
from ptcompile.mcp.inputs import CallError
from ptcompile.mcp.resources import FAMILIES, PAGES, read_page


def test_every_page_has_a_text() -> None:
    assert all(read_page(address) for address in PAGES)
    assert read_page("ptcompile://spec/starter") == init()
    assert "elastic  (mapping)" in read_page("ptcompile://spec")


def test_every_code_has_a_page() -> None:
    for name, code in CODES.items():
        assert read_page(f"ptcompile://rules/{code}") == read_page(f"ptcompile://rules/{name}")


@pytest.mark.parametrize(
    "address", ["", "ptcompile://", "file:///etc/passwd", *FAMILIES, "ptcompile://rules/../spec"]
)
def test_an_unknown_address_has_no_page(address: str) -> None:
    with pytest.raises(CallError):
        read_page(address)
