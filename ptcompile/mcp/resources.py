"""The pages that an assistant may read, by their address."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.mcp.inputs import CallError
from ptcompile.mcp.tools import explain_field, explain_rule


class Page(NamedTuple):
    """A page, or a family of pages whose address ends with a word."""

    title: str
    text: Callable[[str], str]
    """Return the text; the argument is the word, or "". Raises `CallError` for an unknown word."""


def _rules(_word: str) -> str:
    from ptcompile.linter.pages import rule_list

    return rule_list()


def _starter(_word: str) -> str:
    from ptcompile.api.reference import init

    return init()


PAGES = {
    "ptcompile://rules": Page(
        "All rules of lint: code, name, severity, stage and authority", _rules
    ),
    "ptcompile://spec": Page("The fields of a spec", lambda _: explain_field("spec")),
    "ptcompile://spec/starter": Page("A commented spec to start from", _starter),
    "ptcompile://cluster": Page(
        "The fields of a ClusterProfile", lambda _: explain_field("ClusterProfile.spec")
    ),
}
"""Single pages by address."""
FAMILIES = {
    "ptcompile://rules/": Page("The page of a rule, by its code or name", explain_rule),
    "ptcompile://fields/": Page(
        "The reference of a field, such as spec.elastic or Pod.spec.containers", explain_field
    ),
}
"""Families of pages by the start of their addresses."""


def read_page(address: str) -> str:
    """Return the text of a page. Raises `CallError` for an unknown address."""
    if address in PAGES:
        return PAGES[address].text("")
    for start, family in FAMILIES.items():
        if address.startswith(start):
            return family.text(address.removeprefix(start))
    raise CallError(f"no page {address[:200]!r}; the pages are {', '.join([*PAGES, *FAMILIES])}")
