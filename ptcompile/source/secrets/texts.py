"""Secrets inside a text, and where known ones turn up."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.source.secrets.names import FIELDS, HIDDEN, is_searched, is_secret, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Interval = tuple[int, int]
"""Where a secret stands in a text: offsets of its first character and behind its last."""

# Each repetition is bounded or ends at a character that its start cannot hold: time is linear in the text.
_hint = Pattern(r"(?i)://|@|token|key|pass|secret|pwd|auth|credential|bearer|dsn|_pat\b|webhook|conn")
_url = Pattern(
    r"(?:\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,15}))?://(?P<user>[^\s/@:'\"]{0,256})(?P<rest>:[^\s/@'\"]{0,1024})?@"
)
_login = Pattern(r"(?<![\w.+-])[\w.+-]{1,64}:(?P<value>[^\s/@:'\"$]{3,256})@(?!sha\d)(?=\w)")
_VALUE = r"(?P<value>\\?\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"'&;|,)}\]]+)"
_assignment = Pattern(
    rf"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{{0,80}})\\?[\"']?[ \t]{{0,3}}(?P<sign>=|:(?!/))[ \t]{{0,3}}{_VALUE}"
)
_option = Pattern(rf"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{{0,80}})(?P<sign>=|[ \t]{{1,8}}(?!-)){_VALUE}")
_header = Pattern(
    r"(?i)\b(?:(?:proxy-)?authorization|x-[a-z-]{0,40}(?:token|key|auth))\\?[\"']?[ \t]{0,3}[:=][ \t]{0,3}\\?[\"']?"
    r"(?:(?:bearer|basic|token|digest)[ \t]{1,4})?(?P<value>[^\s\"'\\]+)"
    r"|\b(?:bearer|basic)[ \t]{1,4}(?P<alone>[A-Za-z0-9._~+/=-]{8,})"
)
_pem = Pattern(r"-----BEGIN [A-Z ]{0,30}KEY-----(?P<value>[^-]+)")
_BARE = frozenset({"KEY", "KEYS", "AUTH", "PASS", "PAT", "PWD"})
"""Words of programs and configuration, which name a secret only as part of a longer name."""
_REFERENCES = ("$", "<", "os.environ", "os.getenv", "%(", "{{", HIDDEN)


def parts(text: str) -> list[Interval]:
    """Where secrets stand in a text, in order and apart from each other."""
    if len(text) < 4 or _hint.search(text) is None:
        return []
    return merge_intervals(_found(text))


def merge_intervals(found: Iterable[Interval]) -> list[Interval]:
    """Parts in order, those that touch as one."""
    out: list[Interval] = []
    for start, end in sorted(one for one in found if one[0] < one[1]):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def without_parts(text: str, found: Iterable[Interval], mark: Callable[[str], str]) -> str:
    """The text with the marks of these parts in their place. `found` is in order."""
    out, done = [], 0
    for start, end in found:
        out += [text[done:start], mark(text[start:end])]
        done = end
    return "".join([*out, text[done:]])


def is_option(word: object) -> str | None:
    """The name in a word such as `--hf-token`, whose value is the next word; None of any other word."""
    if not isinstance(word, str) or not word.startswith("-") or len(word) > 80:
        return None
    name = word.lstrip("-")
    return name if name.replace("-", "").replace("_", "").replace(".", "").isalnum() else None


def gives_secret(name: str, value: str) -> bool:
    """Whether an option or an assignment in a text gives a secret: `--token X`, not `--sort-key name`."""
    if (
        value.startswith(_REFERENCES)
        or not is_secret(name, value)
        or normal(name) in _BARE
        or (name in FIELDS and not name.islower())
    ):
        return False
    return is_searched(name, value)


def _found(text: str) -> Iterator[Interval]:
    if "@" in text:
        yield from _logins(text)
    for pattern in (_assignment, _option):
        for match in pattern.finditer(text):
            start, end = match.span("value")
            whole = pattern is _option and match["sign"] == "=" and match.start() == 0 and match.end() < len(text)
            quoted = match["value"].lstrip("\\")[:1] in ("'", '"')
            inner = match["value"].strip("\\'\"")
            if gives_secret(match["name"], inner):
                yield (start, len(text)) if whole and not quoted and "\n" not in text else _unquoted(text, start, end)
    for match in _header.finditer(text):
        which = "value" if match["value"] is not None else "alone"
        if not match[which].startswith(_REFERENCES):
            yield match.span(which)
    for match in _pem.finditer(text):
        yield match.span("value")


def _unquoted(text: str, start: int, end: int) -> Interval:
    """The value without the quotes around it."""
    while start < end and text[start] in "\\'\"":
        start += 1
    while end > start and text[end - 1] in "\\'\"":
        end -= 1
    return start, end


def _logins(text: str) -> Iterator[Interval]:
    """Passwords of URLs and registries; the user of an http URL too, if it stands alone: a token is written so."""
    for match in _url.finditer(text):
        name = "rest" if match["rest"] else "user"
        start, end = match.span(name)
        start += name == "rest"
        alone = name == "user" and (match["scheme"] or "").lower() not in ("http", "https")
        if not alone and not text[start:end].startswith(_REFERENCES):
            yield start, end
    for match in _login.finditer(text):
        yield match.span("value")


SHORTEST: Final = 4
"""Characters: a shorter secret is hidden where it stands, and not wherever its letters turn up."""
_CUT: Final = 24
"""Characters of a long value that are shown at least, where a message shortens it."""


def occurrences(secrets: Iterable[str]) -> Callable[[str], list[Interval]] | None:
    """Return what finds every secret in a text, also if it is quoted or cut short, or None without secrets."""
    found = {form for one in secrets for form in forms(one) if len(form) >= SHORTEST}
    places = finder(found)

    def where(text: str) -> list[Interval]:
        out: list[Interval] = []
        for start, end in places(text):
            if not out or start >= out[-1][1]:
                out.append((start, end))
        return out

    return where if found else None


def finder(secrets: Iterable[str]) -> Callable[[str], Iterator[Interval]]:
    """Return what yields the places of secrets, or of the beginnings of long ones, in a text: the longest at each.

    Places may overlap. Time grows with the text, however many secrets there are: short ones are looked up by their
    length, long ones by their beginning.
    """
    known = {secret for secret in secrets if secret}
    head = min(SHORTEST, min(map(len, known), default=1))
    lengths: dict[str, set[int]] = {}
    long: dict[str, list[str]] = {}
    for secret in sorted(known):
        lengths.setdefault(secret[:head], set()).add(min(len(secret), _CUT + 1))
        if len(secret) > _CUT:
            long.setdefault(secret[:_CUT], []).append(secret)
    sizes = {start: sorted(some, reverse=True) for start, some in lengths.items()}

    def places(text: str) -> Iterator[Interval]:
        at = 0
        while at < len(text):
            start = at
            at += 1
            for size in sizes.get(text[start : start + head], ()):
                if size > _CUT:
                    if (several := long.get(text[start : start + _CUT])) is not None:
                        end = start + _common(several, text, start)
                        at = max(at, end - _CUT)  # in a run of one letter every place would be as long
                        yield start, end
                        break
                elif text[start : start + size] in known:
                    yield start, start + size
                    break

    return places


def forms(secret: str) -> tuple[str, ...]:
    """A value as it stands, and as Python and JSON quote it."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]


def _common(secrets: Sequence[str], text: str, at: int) -> int:
    """Return how many characters of `text` from `at` on begin one of `secrets`, which are sorted and share `_CUT`."""
    size = _CUT
    while True:
        size *= 2
        wanted = text[at : at + size]
        near = bisect_left(secrets, wanted)
        common = max(_shared(one, wanted) for one in secrets[max(0, near - 1) : near + 1])
        if common < size:
            return common


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    both = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))
