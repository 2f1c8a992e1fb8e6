"""The examples of rule pages: written whole, or as the lines that they change in a base.

An example is the diff of two YAML files, with all lines of both. `Example: pod.yaml with` makes it
a change of a file in `linter/bases/`:

- The first line says where: the lines replace the keys of the mapping, or the named items of the
  list, where the base first has its key.
- A key with lines below it changes those below the base's key in the same way. A line that the base
  has is there to show the place.
- A key that the base lacks comes after the line above it, or else before the one below it.
- A list whose items have no names is replaced.
- A document that begins with `apiVersion` is not a change: it is added.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent

from ptcompile._internal.schema_files import package_text

FINDING_MARK = "# <--"
"""Ends the example line that the finding is reported at."""
_GUTTER_COLUMNS = 2
"""Columns before an example's lines: `- ` in bad ones, `+ ` in good ones, spaces in shared ones."""

_find_key = re.compile(r" *(?P<key>- \{?name: [\w.-]+|[\w./-]+(?=:))").match


def example_files(section: str) -> tuple[str, str]:
    """Return the bad and the good file of a page's section `Example`. Raises ValueError if its base
    lacks the key of its first line.
    """
    head, _, text = section.partition("\n")
    lines = dedent(text).strip("\n").split("\n")
    bad, good = (
        "".join(f"{line[_GUTTER_COLUMNS:]}\n" for line in lines if line[:1] in ("", " ", sign))
        for sign in "-+"
    )
    if head:
        base = package_text(f"linter/bases/{head.removesuffix(' with')}")
        bad, good = _expand(base, bad), _expand(base, good)

    return bad, good.replace(f"  {FINDING_MARK}", "")


def _expand(base: str, text: str) -> str:
    """Return an example with each change applied to the base."""
    documents = (
        document if document.startswith("apiVersion:") else _changed_base(base, document)
        for document in text.split("---\n")
    )
    return "---\n".join(documents)


def _changed_base(base: str, change: str) -> str:
    key = _key_of(change)
    place = re.search(rf"^(?P<indent> *)(?=\S){re.escape(key)}(?=:|$)", base, re.MULTILINE)
    if place is None:
        raise ValueError(f"the base of an example has no key {key!r}")

    siblings = next(
        block
        for block in re.finditer(rf"(?:^{place['indent']}.*\n)+", base, re.MULTILINE)
        if block.end() > place.start()
    )
    return base[: siblings.start()] + _merge(siblings.group(), change) + base[siblings.end() :]


def _merge(base: str, change: str) -> str:
    """Return a mapping, or a list of named items, with the lines that change; at the depth of the
    base.
    """
    margin = " " * (len(base) - len(base.lstrip(" ")))
    old, new = _parts_of(dedent(base)), _parts_of(dedent(change))
    if not old or not new:
        return indent(dedent(change), margin)

    ordered = list(old)
    at = next((ordered.index(key) for key in new if key in old), len(ordered))
    for key, part in new.items():
        if key in old:
            at = ordered.index(key)
            old[key] = _merge_part(old[key], part)
        else:
            ordered.insert(at, key)
            old[key] = part
        at += 1

    return indent("".join(old[key] for key in ordered), margin)


def _merge_part(base: str, change: str) -> str:
    """Return a key or an item of the base with the lines of a change."""
    head, _, below = base.partition("\n")
    new_head, _, new_below = change.partition("\n")
    if below and new_below:
        below = _merge(below, new_below)
    elif new_head.removesuffix(f"  {FINDING_MARK}") != head:
        below = new_below

    return f"{new_head}\n{below}"


def _parts_of(text: str) -> dict[str, str]:
    """Return the text of each key or named item, or nothing if an item has no name."""
    texts = re.findall(r"^\S.*\n(?:(?: .*)?\n)*", text, re.MULTILINE)
    parts = {_key_of(part): part for part in texts}
    return {} if "" in parts else parts


def _key_of(text: str) -> str:
    """Return the key or the `- name: ITEM` that a text begins with, or ""; flow mappings are
    read alike.
    """
    match = _find_key(text)
    return match["key"].replace("{", "") if match else ""
