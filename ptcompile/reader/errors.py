"""A YAML library's words for a mistake, as one sentence of ours and a way to mend it."""

from __future__ import annotations

from typing import Final

_CANNOT_START: Final[dict[str, tuple[str, str]]] = {
    "\t": ("a tab cannot indent YAML", "Indent with spaces."),
    "@": ("a plain value cannot begin with '@'", "Put the value in double quotes."),
    "`": ("a plain value cannot begin with '`'", "Put the value in double quotes."),
    "%": ("a plain value cannot begin with '%'", "Put the value in double quotes."),
}

# What the parser says (a part of it), what we say, and what helps. The first that matches counts.
_SENTENCES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "mapping values are not allowed",
        "a ':' stands where no key can be",
        "Quote a value that holds ': ', or mend the indentation of this line.",
    ),
    (
        "could not find expected ':'",
        "this line is no 'key: value', and it does not continue the value above",
        "Write 'key: value', or indent the line under the value that it belongs to.",
    ),
    (
        "while parsing a block mapping",
        "this does not fit the mapping around it",
        "Give all keys of one mapping the same indentation, and quote values that begin with an indicator.",
    ),
    (
        "while parsing a block collection",
        "this does not fit the list around it",
        "Give all '-' of one list the same indentation.",
    ),
    ("expected ',' or ']'", "a list that begins with '[' is not closed", "Add the ',' or the ']'."),
    ("expected ',' or '}'", "a mapping that begins with '{' is not closed", "Add the ',' or the '}'."),
    ("unexpected end of stream", "a quoted text is not closed", "Add the closing quote."),
    ("unexpected document indicator", "a quoted text is not closed", "Add the closing quote."),
    (
        "unknown escape character",
        "this escape is not known between double quotes",
        "Write a backslash as '\\\\', or use single quotes.",
    ),
    ("hexdecimal", "this escape needs hexadecimal digits", "Write a backslash as '\\\\', or use single quotes."),
    ("invalid Unicode", "this escape is no character", "Write the character itself instead of surrogate escapes."),
    ("tab character", "a tab cannot indent YAML", "Indent with spaces."),
    ("block sequence entries are not allowed", "a list item cannot begin here", "Put the '-' on a line of its own."),
    ("expected node content", "a value is missing here", "Write a value, or close the bracket."),
    (
        "expected <document start>",
        "the document has ended before this, or a directive is not followed by '---'",
        "Indent the line as the ones above, or separate documents with a line '---'.",
    ),
    ("incompatible YAML", "kubectl reads no other YAML than 1.1", "Remove the %YAML line."),
    ("directive", "this is no directive of YAML", "Remove the line that begins with '%'."),
    ("anchor", "an anchor or alias needs a name of letters, digits, '-' and '_'", "Quote a value with '&' or '*'."),
    ("alias", "an anchor or alias needs a name of letters, digits, '-' and '_'", "Quote a value with '&' or '*'."),
    ("tag", "this is no tag of YAML", "Quote a value that begins with '!'."),
    ("undefined tag", "this tag is not declared", "Remove the tag."),
    ("block scalar", "the first line of a text block is malformed", "Write '|' or '>' alone, then indent the text."),
    ("indentation", "the indentation of this text block is malformed", "Indent all its lines alike, with spaces."),
)


def describe(context: str, problem: str, character: str) -> tuple[str, str]:
    """The sentence and the help for a parser's error; `character` is what stands at its position."""
    if "cannot start any token" in problem and character in _CANNOT_START:
        return _CANNOT_START[character]
    said = f"{problem} {context}"
    for part, message, cure in _SENTENCES:
        if part in said:
            return message, cure
    return "this cannot be read as YAML", "Quote the value, or mend the indentation."
