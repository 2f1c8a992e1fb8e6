"""The tables of the rules, made from what the rules say of themselves.

The second paragraph of a rule's docstring is its identity:

    PTC106 tiny-memory-limit: error at run (fails), by kubelet.
    Needs: limits memory

That is its code and its name, which is the module's with hyphens; the severity, the stage and the
authority of its findings; in parentheses what they lead to unless the stage says so
(`ptcompile/diagnostics/terms.py`); and the words that it needs (`ptcompile/linter/needs.py`; no
line, no words). ptcompile reads tables, so that no rule is imported that a file does not need:
`rules.json` of each family, and the codes and effects of `ptcompile/diagnostics/codes.json`. Rows
of that file for codes without a rule are written by hand.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ptcompile.linter import FAMILIES
from ptcompile.linter.pages import CODE_PAGES

PACKAGE = Path(__file__).resolve().parents[1] / "ptcompile"
CODES = Path("diagnostics/codes.json")
"""The table of codes and effects, in the package."""

_FORM = "PTC123 its-name: SEVERITY at STAGE (EFFECT), by AUTHORITY. Needs: WORDS"
_IDENTITY = re.compile(
    r"(?P<code>PTC\d{3}) (?P<name>[a-z0-9-]+): (?P<severity>\w+) at (?P<stage>\w+)"
    r"(?: \((?P<effect>\w+)\))?, by (?P<authority>[\w-]+)\.(?: Needs: (?P<needs>.+))?"
)
_PAIR = re.compile(r'\[\s+("[^"]*"),\s+("[^"]*")\s+\]')


class Identity(NamedTuple):
    """What a rule's docstring says of the rule."""

    code: str
    name: str
    severity: str
    stage: str
    effect: str | None
    authority: str
    needs: str | None


def identity_of(docstring: str) -> Identity:
    """Read the second paragraph of a rule's docstring. Raises ValueError if it has another form."""
    _, *paragraphs = docstring.split("\n\n", 2)
    found = _IDENTITY.fullmatch(" ".join(paragraphs[0].split())) if paragraphs else None
    if found is None:
        raise ValueError(f"the second paragraph is not of the form `{_FORM}`")

    return Identity(**found.groupdict())


def identities_in(folder: Path) -> dict[str, Identity]:
    """Return the identities of the rules in a family's folder, keyed by module, in the order of
    their names. Raises ValueError, with the file, if a rule has none or has another one's name.
    """
    identities = {}
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if "check" not in {getattr(statement, "name", None) for statement in tree.body}:
            continue

        try:
            identity = identity_of(ast.get_docstring(tree) or "")
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

        if identity.name != path.stem.replace("_", "-"):
            raise ValueError(f"{path}: the rule is called {identity.name}")
        identities[path.stem] = identity

    return identities


def tables(package: Path = PACKAGE) -> dict[Path, str]:
    """Return the text of every table of a package with the folders of ptcompile's families."""
    families = sorted({family for families in FAMILIES.values() for family in families})
    texts = {}
    every: list[Identity] = []
    for family in families:
        folder = package.joinpath(*family.split("."))
        identities = identities_in(folder)
        texts[folder / "rules.json"] = _rows(identities)
        every += identities.values()

    current = json.loads((package / CODES).read_text(encoding="utf-8"))
    text = json.dumps(_codes(current, every), indent=2)
    texts[package / CODES] = _PAIR.sub(r"[\1, \2]", text) + "\n"

    return texts


def _rows(identities: Mapping[str, Identity]) -> str:
    rows = (
        f"  {json.dumps(module)}: {json.dumps(_row(rule))}" for module, rule in identities.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _row(rule: Identity) -> dict[str, str]:
    return {
        "severity": rule.severity,
        "stage": rule.stage,
        "authority": rule.authority,
        "needs": rule.needs or "",
    }


def _codes(current: Mapping[str, Any], rules: Iterable[Identity]) -> dict[str, Any]:
    """Return the table of codes with these rules instead of those that it has. A row keeps its
    place; new ones are last in the family of their hundred.
    """
    codes = {rule.name: rule.code for rule in rules}
    effects = {rule.name: rule.effect for rule in rules if rule.effect}
    families = {
        title: {
            name: codes.get(name, code)
            for name, code in family.items()
            if name in codes or name in CODE_PAGES
        }
        for title, family in current["families"].items()
    }
    placed = {name for family in families.values() for name in family}
    for name in sorted(codes.keys() - placed):
        families[_title_of(codes[name], families)][name] = codes[name]

    by_hand = {name: effect for name, effect in current["effects"].items() if name in CODE_PAGES}
    ordered = [name for family in families.values() for name in family]
    known = {**by_hand, **effects}

    return {
        "families": families,
        "sentences": current["sentences"],
        "effects": {name: known[name] for name in ordered if name in known},
    }


def _title_of(code: str, titles: Iterable[str]) -> str:
    hundred = f"{code[3]}xx:"
    return next(title for title in titles if title.startswith(hundred))
