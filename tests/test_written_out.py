"""Where plain code stands for an expression, so that a clean manifest needs no `re`: both take the same texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from ptcompile.documents.schema_files import load
from ptcompile.documents.source import _separators
from ptcompile.kubernetes import names, quantity, scalars, wrappers
from ptcompile.kubernetes.images import why_not_image
from ptcompile.linting import foreign, torchrun, words
from ptcompile.linting.launch import bad_launch_number, literal_variable, unknown_host
from ptcompile.validate import structure_scalars

SCHEMAS = Path(__file__).parents[1] / "schemas"
_INTEGER = re.compile(r"0b[-+][01]{1,63}|[-+]?(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_HOSTS = re.compile(r"(?<![\w./@$-])[a-z][a-z0-9-]*-[0-9]+\.[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*(?![\w/-])")
_SHELL = re.compile(r"(?<!\$)\$(?:\{([A-Z][A-Z0-9_]+)\}|([A-Z][A-Z0-9_]+))")


def _whole(expression: str) -> Callable[[str], bool]:
    taken = re.compile(expression).fullmatch
    return lambda text: taken(text) is not None


def _is_scalar_number(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None or _FLOAT.fullmatch(text) is not None


def _needs_quotes(text: str) -> bool:
    simple = r"(?:--?(?=[A-Za-z]))?[A-Za-z_/$(][A-Za-z0-9_./$()=+*@%,;~^&|<>!?\\'\"\[\]{}-]*"
    indicator = r"[\s,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)|---|\.\.\.|[^\x20-\x7e].*\s$"
    if re.fullmatch(simple, text):
        return text.lower() in scalars._QUOTED_WORDS
    if re.fullmatch("[0-9]+", text) or text.lower() in scalars._QUOTED_WORDS:
        return True
    if re.match(indicator, text) or scalars._breaks(text):
        return True
    number = text[0] in scalars._NUMBER_START and scalars._numberish(text)
    return bool(number) and not scalars._dotted(text)


TAKEN: dict[str, tuple[Callable[[str], bool], Callable[[str], bool], str, int]] = {
    "a quantity": (
        lambda text: (
            text.strip(" ") != ""
            and _whole(r"[+-]?[0-9]*(?:\.[0-9]*)?(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,18})?")(text.strip(" "))
        ),
        quantity.valid,
        "01.+-eEKimé ",
        4,
    ),
    "a plain quantity": (_whole(r"[0-9]+(?:[KMGTPE]i|[numkMGTPE])?"), quantity.is_plain, "01.eEKim٣", 4),
    "a number in YAML": (
        _is_scalar_number,
        lambda text: not isinstance(scalars.resolve(text), str),
        "018+.eExXbBoaF",
        4,
    ),
    "a text that needs quotes": (_needs_quotes, scalars.needs_quotes, "-?:.,{#%@ \nAe0_+xé\u2028", 4),
    "a tag": (_whole(r"(?a)\w[\w.-]{0,127}"), lambda text: why_not_image(f"a:{text}") is None, "aZ0_.-+é", 4),
    "a key of an old server's environment": (
        _whole(r"[-._a-zA-Z][-._a-zA-Z0-9]*"),
        lambda text: "only letters" not in (names.why_not_classic_env_name(text) or ""),
        "aZ0_.-+é٣",
        4,
    ),
    "seconds": (
        _whole(r"(?a)\s*\+?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"),
        bad_launch_number._is_fraction,
        "1.+-eE_ \x1c٣",
        5,
    ),
    "Python": (_whole(r"(?:python|pypy)[0-9.]*"), lambda text: wrappers._is_python(f"{text}"), "3.x", 3),
}


def _texts(alphabet: str, most: int) -> Iterator[str]:
    for length in range(1, most + 1):
        yield from map("".join, product(alphabet, repeat=length))


@pytest.mark.parametrize("what", TAKEN)
def test_it_takes_what_the_expression_takes(what: str) -> None:
    expression, code, alphabet, most = TAKEN[what]
    beginnings = ("python", "pypy", "Python") if what == "Python" else ("",)
    texts = [beginning + text for beginning in beginnings for text in _texts(alphabet, most)]
    assert [text for text in texts if expression(text) != bool(code(text))] == []
    assert {*map(expression, texts)} == {True, False}


def test_a_plain_quantity_is_one_of_a_crd() -> None:
    plain = [text for text in _texts("01.eEKim", 4) if quantity.is_plain(text)]
    assert [text for text in plain if not structure_scalars._CRD_QUANTITY(text)] == []
    assert len(plain) > 30


FOUND: dict[str, tuple[Callable[[str], object], Callable[[str], object], tuple[str, ...], int]] = {
    "references": (
        re.compile(r"(?<!\$)\$\(([A-Z][A-Z0-9_]*)\)").findall,
        lambda text: [*literal_variable._references(text)],
        ("$", "$(", ")", "A", "0", "_", "a"),
        5,
    ),
    "hosts": (
        _HOSTS.findall,
        lambda text: [*unknown_host._named(text)],
        ("a", "-0", ".", ".c", "/", "@", "$", " ", "A", "é", "a-0.b"),
        5,
    ),
    "lines of dashes": (
        lambda text: [one.span() for one in re.finditer(r"(?m)^---([^\n]*)(?:\n|\Z)", text)],
        lambda text: [*_separators(text)],
        ("---", "-", "\n", "\r", "a", " "),
        6,
    ),
    "words joined": (
        lambda text: re.search(r"(?a)\$(?<=\w\$)|\)[\w$]|\}[\w$]", text) is not None,
        words._joined_unquoted,
        ("$", "(", ")", "{", "}", "a", "é", " ", "_"),
        4,
    ),
    "beginnings of placeholders": (
        lambda text: [re.search(one, text) is not None for one in (r"\$[{A-Za-z_]", r"__[A-Z]", r"<[A-Za-z]")],
        lambda text: [foreign._begins(text, *one) for one in foreign._BEGINS],
        ("$", "_", "<", "{", "a", "A", "é"),
        5,
    ),
    "variables of a shell": (
        lambda text: _SHELL.search(text) is not None and "$" not in text.replace("$(", ""),
        lambda _text: False,
        ("$", "$(", "{", "}", "AB", ")"),
        5,
    ),
}


@pytest.mark.parametrize("what", FOUND)
def test_it_finds_what_the_expression_finds(what: str) -> None:
    expression, code, parts, most = FOUND[what]
    texts = ["".join(one) for length in range(1, most + 1) for one in product(parts, repeat=length)]
    assert [text for text in texts if expression(text) != code(text)] == []


@pytest.mark.parametrize("host", ["a.b", "[::1]", "127.0.0.1", "a b", "", "[]", "é", "a_b", "x/y"])
def test_a_host_has_characters_of_hosts(host: str) -> None:
    inside = host.removeprefix("[").removesuffix("]")
    taken = re.fullmatch(r"(?a)[\w.:-]+", inside) is not None
    assert (bool(inside) and not inside.strip(torchrun._HOST)) == taken


@pytest.mark.parametrize("path", sorted(SCHEMAS.rglob("*.json")), ids=lambda path: str(path.relative_to(SCHEMAS)))
def test_a_schema_is_read_as_json_reads_it(path: Path) -> None:
    assert load(path.relative_to(SCHEMAS).as_posix()) == json.loads(path.read_text(encoding="utf-8"))
