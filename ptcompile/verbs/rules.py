"""The verb `rules` as a function: every rule with its page, as data."""

from __future__ import annotations


def rules() -> list[dict[str, str]]:
    """Every rule that `lint` has, in the order of the codes: code, name, severity, stage, authority, and its page.

    The page is a title, then `what`, `why`, `bad` and `good` (YAML), `fix` and `source`.
    """
    from ptcompile.linting import catalogue

    return catalogue.as_dicts()
