"""Secrets inside a text, and occurrences of known ones."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.secret_formats import format_intervals, has_secret_format
from ptcompile.source.secrets.commands import HINTS, command_intervals
from ptcompile.source.secrets.names import (
    FIELDS,
    MASK,
    is_plain,
    is_searched,
    is_secret,
    normalize_name,
)

TextInterval = tuple[int, int]
"""Offsets of a secret in a text: its first character, and one after its last."""

# each repetition is bounded or ends at a character that cannot start it, so matching is linear in
# the text
_HINTS = (
    "://", "@", "token", "key", "secret", "pwd", "credential", "bearer", "dsn", "_pat", "webhook", "conn", *HINTS
)  # fmt: skip
"""Texts in lower case of which each text with a secret contains one, unless the secret has a
known format.
"""
_url = Pattern(
    r"(?:\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,15}))?://(?P<user>[^\s/@:'\"]{0,256})(?P<rest>:[^\s/@'\"]{0,1024})?@"
)
_login = Pattern(
    r"(?<![\w.+-])[\w.+-]{1,64}:(?P<value>[^\s/@:'\"$]{3,256})@(?!sha\d)(?=[\w-]{1,63}(?P<address>[.:/])|\w)"
)
"""A user and a password before a host; in `run:best@epoch3`, a plain word before a bare name,
there is no password.
"""
_VALUE = r"(?P<value>\\?\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"'&;|,)}\]]+)"
_assignment = Pattern(
    rf"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{{0,80}})\\?[\"']?\]?[ \t]{{0,3}}(?P<sign>=|:(?!/))[ "
    rf"\t]{{0,3}}{_VALUE}"
)
_call = Pattern(
    rf"\b(?:putenv|setenv|setdefault)\([ \t]{{0,3}}\\?[\"'](?P<name>\w{{1,80}})\\?[\"'],[ "
    rf"\t]{{0,3}}{_VALUE}"
)
"""`os.environ.setdefault("HF_TOKEN", "...")`."""
_option = Pattern(
    rf"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{{0,80}})(?P<sign>=|[ \t]{{1,8}}(?!-)){_VALUE}"
)
_header = Pattern(
    r"(?i)\b(?:(?:proxy-)?authorization|x-[a-z-]{0,40}(?:token|key|auth))\\?[\"']?[ \t]{0,3}[:=][ "
    r"\t]{0,3}\\?[\"']?"
    r"(?:(?:bearer|basic|token|digest)[ \t]{1,4})?(?P<value>[^\s\"'\\]+)"
    r"|\b(?:bearer|basic)[ \t]{1,4}(?P<alone>[A-Za-z0-9._~+/=-]{8,})"
)
_pem = Pattern(r"-----BEGIN [A-Z ]{0,30}KEY-----(?P<value>[^-]+)")
_BARE = frozenset({"KEY", "KEYS", "AUTH", "PASS", "PAT", "PWD"})
"""Words of programs and configuration that name a secret only as part of a longer name."""
_REFERENCES = ("$", "<", "os.environ", "os.getenv", "%(", "{{", MASK)


def secret_parts(text: str) -> list[TextInterval]:
    """Return the intervals of secrets in a text, in order and disjoint."""
    if len(text) < 4 or not _may_have_parts(text):
        return []
    intervals = [*format_intervals(text)]
    if _has_hint(text):
        intervals += _secret_intervals(text)
    return merge_intervals(intervals)


def _has_hint(text: str) -> bool:
    return any(map(text.lower().__contains__, _HINTS))


@bounded_cache(16384)
def _may_have_parts(text: str) -> bool:
    """Return whether a text needs a closer look for secrets. Cached: manifests share most of
    their texts.
    """
    return has_secret_format(text) or _has_hint(text)


def merge_intervals(intervals: Iterable[TextInterval]) -> list[TextInterval]:
    """Return the intervals in order, with touching ones merged."""
    merged: list[TextInterval] = []
    done = -1
    for start, end in sorted((start, end) for start, end in intervals if start < end):
        if start <= done:
            start, _ = merged.pop()
        done = max(done, end)
        merged.append((start, done))
    return merged


def without_parts(text: str, intervals: Iterable[TextInterval], mask: Callable[[str], str]) -> str:
    """Return the text with each interval replaced by its mask. `intervals` are in order."""
    pieces = []
    done = 0
    for start, end in intervals:
        pieces += [text[done:start], mask(text[start:end])]
        done = end
    return "".join([*pieces, text[done:]])


def option_name(argument: object) -> str | None:
    """Return the name in an argument such as `--hf-token`, whose value is the next argument, or
    None for any other.
    """
    if not isinstance(argument, str) or not argument.startswith("-") or len(argument) > 80:
        return None
    name = argument.lstrip("-")
    if name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        return name
    return None


def gives_secret(name: str, value: str) -> bool:
    """Return whether an option or an assignment in a text gives a secret: `--token X`, not
    `--sort-key name`.
    """
    if (
        value.startswith(_REFERENCES)
        or not is_secret(name, value)
        or normalize_name(name) in _BARE
        or (name in FIELDS and not name.islower())
    ):
        return False
    return is_searched(name, value)


def _secret_intervals(text: str) -> Iterator[TextInterval]:
    if "@" in text:
        yield from _logins(text)
    yield from _named_values(text)
    for match in _header.finditer(text):
        group = "value" if match["value"] is not None else "alone"
        # a plain word such as "basic preprocessing" is not a scheme with a token
        is_word = group == "alone" and is_plain(match[group])
        if not is_word and not match[group].startswith(_REFERENCES):
            yield match.span(group)

    for start, end in command_intervals(text):
        if not text.startswith(_REFERENCES, start):
            yield start, end
    for match in _pem.finditer(text):
        yield match.span("value")


def _named_values(text: str) -> Iterator[TextInterval]:
    """Yield the values of assignments, options and calls whose name is that of a secret."""
    for pattern in (_assignment, _option, _call):
        for match in pattern.finditer(text):
            start, end = match.span("value")
            is_whole = (
                pattern is _option
                and match["sign"] == "="
                and match.start() == 0
                and match.end() < len(text)
            )
            quoted = match["value"].lstrip("\\")[:1] in ("'", '"')
            if gives_secret(match["name"], match["value"].strip("\\'\"")):
                if is_whole and not quoted and "\n" not in text:
                    yield start, len(text)
                else:
                    yield _without_quotes(text, start, end)


def _without_quotes(text: str, start: int, end: int) -> TextInterval:
    """Return the interval without the quotes around the value."""
    while start < end and text[start] in "\\'\"":
        start += 1
    while end > start and text[end - 1] in "\\'\"":
        end -= 1
    return start, end


def _logins(text: str) -> Iterator[TextInterval]:
    """Yield passwords of URLs and registries; also the user of an http URL without a password,
    which may be a token.
    """
    for match in _url.finditer(text):
        name = "rest" if match["rest"] else "user"
        start, end = match.span(name)
        start += name == "rest"
        is_plain_user = name == "user" and (match["scheme"] or "").lower() not in ("http", "https")
        if not is_plain_user and not text[start:end].startswith(_REFERENCES):
            yield start, end

    for match in _login.finditer(text):
        if match["address"] or not is_plain(match["value"]):
            yield match.span("value")


MIN_SEARCHED = 4
"""Minimum length of a secret that is masked wherever it occurs; a shorter one is masked only at
its own path.
"""
_CUT = 24
"""Characters of a long value that a message that shortens it still shows."""


def occurrences(secrets: Iterable[str]) -> Callable[[str], list[TextInterval]] | None:
    """Return a function that finds every secret in a text, also quoted or cut short, or None
    without secrets.
    """
    all_forms = {
        form for secret in secrets for form in quoted_forms(secret) if len(form) >= MIN_SEARCHED
    }
    find = finder(all_forms)

    def locate(text: str) -> list[TextInterval]:
        intervals: list[TextInterval] = []
        done = 0
        for start, end in find(text):
            if start >= done:
                intervals.append((start, end))
                done = end
        return intervals

    return locate if all_forms else None


def finder(secrets: Iterable[str]) -> Callable[[str], Iterator[TextInterval]]:
    """Return a function that yields the intervals of secrets, or of the beginnings of long ones: at
    each offset the longest.

    Intervals may overlap. Time grows with the text, however many secrets there are: short ones are
    looked up by their length, long ones by their beginning.
    """
    distinct = {secret for secret in secrets if secret}
    head = min(MIN_SEARCHED, min(map(len, distinct), default=1))
    lengths: dict[str, set[int]] = {}
    long: dict[str, list[str]] = {}
    for secret in sorted(distinct):
        lengths.setdefault(secret[:head], set()).add(min(len(secret), _CUT + 1))
        if len(secret) > _CUT:
            long.setdefault(secret[:_CUT], []).append(secret)

    sizes = {start: sorted(sizes_at, reverse=True) for start, sizes_at in lengths.items()}

    def find(text: str) -> Iterator[TextInterval]:
        offset = 0
        while offset < len(text):
            start = offset
            offset += 1
            for size in sizes.get(text[start : start + head], ()):
                if size > _CUT:
                    if (candidates := long.get(text[start : start + _CUT])) is not None:
                        end = start + _longest_prefix(candidates, text, start)
                        # skip offsets inside the match: in a run of one letter, each of them
                        # would match to the same end
                        offset = max(offset, end - _CUT)
                        yield start, end
                        break
                elif (occurrence := text[start : start + size]) in distinct:
                    # at the end of the text, a shorter secret
                    yield start, start + len(occurrence)
                    break

    return find


def quoted_forms(secret: str) -> tuple[str, ...]:
    """Return a value as written, and as Python and JSON quote it."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]


def _longest_prefix(secrets: Sequence[str], text: str, offset: int) -> int:
    """Return the number of characters from `offset` that begin one of `secrets`, which are sorted
    and share `_CUT` characters.
    """
    size = _CUT
    while True:
        size *= 2
        prefix = text[offset : offset + size]
        position = bisect_left(secrets, prefix)
        common = max(
            _common_prefix(secret, prefix)
            for secret in secrets[max(0, position - 1) : position + 1]
        )
        if common < size:
            return common


def _common_prefix(a_text: str, b_text: str) -> int:
    """Return the length of the common prefix of two texts."""
    both = zip(a_text, b_text, strict=False)
    return next(
        (index for index, (a, b) in enumerate(both) if a != b), min(len(a_text), len(b_text))
    )
