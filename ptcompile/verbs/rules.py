"""The verb `rules` as a function: every rule with its page, as data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions


def rules(*, extensions: Extensions | None = None) -> list[dict[str, str]]:
    """Every rule that `lint` has, in the order of the codes: code, name, severity, stage, authority, and its page.

    The page is a title, then `what`, `why`, `bad` and `good` (YAML), `fix` and `source`. Those of
    `extensions` follow; their page is one text, `page`.
    """
    from ptcompile.linting import catalogue

    if extensions is None:
        return catalogue.as_dicts()
    from ptcompile.extending import pages

    return [*catalogue.as_dicts(), *pages.as_dicts(extensions)]
