"""A YAML library's words for a mistake, as one sentence of ours and a way to fix it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CANNOT_START: Final[dict[str, tuple[str, str]]] = {
    "\t": ("a tab cannot indent YAML", "indent with spaces"),
    "@": ("a plain value cannot begin with '@'", "put the value in double quotes"),
    "`": ("a plain value cannot begin with '`'", "put the value in double quotes"),
    "%": ("a plain value cannot begin with '%'", "put the value in double quotes"),
}

# What the parser says (a part of it), what we say, and what helps. The first that matches counts.
_SENTENCES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "mapping values are not allowed",
        "a ':' is where a key cannot be",
        "quote a value that contains ': ', or fix the indentation of this line",
    ),
    (
        "could not find expected ':'",
        "this line is not 'key: value' and does not continue the value above",
        "write 'key: value', or indent the line under the value that it belongs to",
    ),
    (
        "while parsing a block mapping",
        "this does not belong to the mapping around it",
        "give all keys of one mapping the same indentation, and quote values that begin with an indicator",
    ),
    (
        "while parsing a block collection",
        "this does not belong to the list around it",
        "give all '-' of one list the same indentation",
    ),
    ("expected ',' or ']'", "a list that begins with '[' is not closed", "add the ',' or the ']'"),
    ("expected ',' or '}'", "a mapping that begins with '{' is not closed", "add the ',' or the '}'"),
    ("unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("unexpected document indicator", "a quoted text is not closed", "add the closing quote"),
    (
        "unknown escape character",
        "this escape is not known between double quotes",
        "write a backslash as '\\\\', or use single quotes",
    ),
    ("hexdecimal", "this escape needs hexadecimal digits", "write a backslash as '\\\\', or use single quotes"),
    ("invalid Unicode", "this escape is not a character", "write the character itself instead of surrogate escapes"),
    ("tab character", "a tab cannot indent YAML", "indent with spaces"),
    ("block sequence entries are not allowed", "a list item cannot begin here", "put the '-' on a line of its own"),
    ("expected node content", "a value is missing here", "write a value, or close the bracket"),
    (
        "expected <document start>",
        "the document has ended before this, or a directive is not followed by '---'",
        "indent the line as the ones above, or separate documents with a line '---'",
    ),
    ("incompatible YAML", "kubectl reads YAML 1.1 only", "remove the %YAML line"),
    ("directive", "this is not a YAML directive", "remove the line that begins with '%'"),
    ("anchor", "an anchor or alias needs a name of letters, digits, '-' and '_'", "quote a value with '&' or '*'"),
    ("alias", "an anchor or alias needs a name of letters, digits, '-' and '_'", "quote a value with '&' or '*'"),
    ("tag", "this is not a YAML tag", "quote a value that begins with '!'"),
    ("undefined tag", "this tag is not declared", "remove the tag"),
    ("block scalar", "the first line of a text block is malformed", "write '|' or '>' alone, then indent the text"),
    ("indentation", "the indentation of this text block is malformed", "indent all its lines alike, with spaces"),
)


def describe(context: str, problem: str, character: str) -> tuple[str, str]:
    """The sentence and the help for a parser's error; `character` is what stands at its position."""
    if "cannot start any token" in problem and character in _CANNOT_START:
        return _CANNOT_START[character]
    said = f"{problem} {context}"
    for part, message, cure in _SENTENCES:
        if part in said:
            return message, cure
    return "this cannot be read as YAML", "quote the value, or fix the indentation"
