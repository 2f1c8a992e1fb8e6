"""The meaning of a plain YAML scalar to kubectl, and which strings must be quoted so that every
reader agrees.

kubectl implements neither YAML 1.1 nor 1.2 but the table of kubernetes-sigs/yaml
`goyaml.v2/resolve.go`, and passes the result through JSON. Every row here was checked against
kubectl 1.32 (`kubectl label --local -o json`).
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern

Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(
        ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False
    ),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
"""Words that kubectl does not read as strings, with their meaning."""
# words that some reader does not read as strings, in any case; `=` and `<<` have a meaning in YAML
# 1.1
_QUOTED_WORDS = frozenset(word.lower() for word in WORDS) | {"=", "<<"}

_INT64 = 2**63
_NUMBER_START = "0123456789+-."

# Go's `ParseInt` in bases 2, 8, 16 and 10; Python itself limits the number of decimal digits
_whole_number = Pattern(
    r"(?P<sign>[-+]?)(?:0[bB]([01]+)|0[oO]?([0-7]+)|0[xX]([0-9a-fA-F]+)|(0|[1-9][0-9]{0,19}))"
).fullmatch
_BASES = {2: 2, 3: 8, 4: 16, 5: 10}
"""The base of each group of digits."""
_decimal = Pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch

# a number that begins with a point follows Go's rule: underscores only between digits
_point_first = Pattern(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?").fullmatch
# go-yaml reads 0b-1 as -1, by accident
_signed_binary = Pattern(r"0b(?P<digits>[-+][01]{1,63})").fullmatch


def resolve(text: str) -> Scalar:
    """Return what a plain scalar means to kubectl: `on` is true, `0777` is 511, `08` and `1e3` are
    numbers, `12:30` is a string.

    Numbers are returned as kubectl's JSON has them: integers within 64 bits as `int`, others as
    `float`. `.inf` and `.nan` are floats too, for which kubectl rejects the file ("unsupported
    value").
    """
    value = _go_value(text)
    if isinstance(value, float):
        return through_json(value)
    if type(value) is int and value >= _INT64:
        return float(value)
    return value


def _go_value(text: str) -> Scalar:
    """Return what go-yaml makes of a plain scalar, before JSON: integers from -2^63 to 2^64-1,
    other numbers as floats.
    """
    if text in WORDS:
        return WORDS[text]
    if (
        text[0] not in _NUMBER_START
        or _is_option(text)
        or (text[0] == "." and not _point_first(text))
    ):
        return text

    plain = text.replace("_", "")
    if (integer := _integer(plain)) is not None:
        return integer
    if _decimal(plain):
        number = float(plain)
        return text if number - number != 0 else number
    if plain.startswith(("0b-", "0b+")) and (match := _signed_binary(plain)):
        return int(match["digits"], 2)

    return text


def _is_option(text: str) -> bool:
    """Return whether a plain scalar begins like a command line option, such as `--epochs`, and
    so not like a number.
    """
    return text[0] == "-" and (text[1:2] == "-" or text[1:2].isalpha())


def _integer(text: str) -> int | None:
    """Return an integer that Go's `ParseInt` or, without a sign, `ParseUint` accepts in 64 bits,
    or None.
    """
    match = _whole_number(text)
    if match is None or match.lastindex is None:
        return None
    sign = match["sign"]
    value = int(match[match.lastindex], _BASES[match.lastindex])
    if sign == "-":
        return -value if value <= _INT64 else None
    return value if value < (_INT64 if sign else 2 * _INT64) else None


def through_json(number: float) -> int | float:
    """Return a number as kubectl's JSON writes it: 1000.0 becomes `1000`, which is read as an
    integer.
    """
    if not number.is_integer() or abs(number) >= 2 * _INT64:
        return number
    if abs(number) < 2**53:
        return int(number)
    # Go writes the shortest digits that identify this float, then zeros; these are not the float's
    # exact digits
    digits, _, power = repr(number).partition("e")
    whole, _, fraction = digits.partition(".")
    value = int(whole + fraction) * 10 ** (int(power) - len(fraction)) if power else int(whole)
    return value if -_INT64 <= value < _INT64 else number


def key(text: str) -> str | None:
    """Return the string that kubectl makes of a plain scalar used as a key: `n` becomes "false",
    `1.0` becomes "1".

    None if kubectl rejects the file: a null key, or an integer from 2^63 to 2^64-1.
    """
    value = _go_value(text)
    if isinstance(value, str):
        return value
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_key(value)

    return str(value) if value < _INT64 else None


def _float_key(number: float) -> str:
    """Return Go's `FormatFloat(number, 'g', -1, 32)`, and `.inf` for infinities, as kubectl
    writes float keys.
    """
    import math

    if math.isnan(number):
        return ".nan"

    import struct

    try:
        single = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        single = math.copysign(math.inf, number)

    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"

    digits = next(
        p
        for p in range(1, 18)
        if struct.pack("f", float(f"{single:.{p}g}")) == struct.pack("f", single)
    )
    mantissa, _, exponent = f"{single:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if -4 <= power < 6:
        return f"{single:.{max(digits - 1 - power, 0)}f}"

    return f"{mantissa}e{exponent}"


# numbers and dates to any reader; versions and addresses (1.2.3) are strings to all of them and
# stay plain
_numberish = Pattern(
    r"[-+]?(?:[0-9][0-9_.:eE+-]*|[._][0-9_][0-9_.:eE+-]*|_|0[xX][0-9a-fA-F_]*|0[oO][0-7_]*|0[bB][-+01_]*)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?"
).fullmatch
_dotted = Pattern(r"[0-9]+(?:\.[0-9]+){2,}").fullmatch
# most strings: quoted only if they are a word such as `yes`
_simple = Pattern(
    r"(?:--?(?=[A-Za-z]))?[A-Za-z_/$(][A-Za-z0-9_./$()=+*@%,;~^&|<>!?\\'\"\[\]{}-]*"
).fullmatch
_indicator = Pattern(r"[\s,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)|---|\.\.\.").match
_breaking = Pattern(
    r": |:$| "
    r"#|\s$|[\x00-\x1f\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\uffff]"
    r"|[\ud800-\udfff]"
).search


def needs_quotes(text: str) -> bool:
    """Return whether a string must be quoted in block style so that YAML 1.1, YAML 1.2 and kubectl
    all read it as this string.

    True if any of them reads the plain text as something else, or if it cannot be plain at all.
    """
    if _simple(text):
        return text.lower() in _QUOTED_WORDS
    if not text or text.lower() in _QUOTED_WORDS or _indicator(text) or _ends_plain_scalar(text):
        return True
    return text[0] in _NUMBER_START and _numberish(text) is not None and not _dotted(text)


def _ends_plain_scalar(text: str) -> bool:
    """Return whether a string contains something that ends a plain scalar, or invisible
    characters.
    """
    if text.isascii() and text.isprintable():
        return ": " in text or " #" in text or text[-1] in ": "
    return _breaking(text) is not None
