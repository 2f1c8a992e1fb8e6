"""Passwords in scripts that no assignment and no name of an option announces: `curl -u`, `wandb
login`, netrc.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.source.secrets.names import is_secret

HINTS = ("curl", "mysql", "mariadb", "redis-cli", "login", "sshpass", "auth", "pass", "configure")
"""Texts in lower case of which each text with such a password contains one."""

_QUOTE = r"\\?[\"']?"
_PASSWORD = rf"{_QUOTE}(?P<value>[^\s\"'\\]+)"
_command = Pattern(
    r"(?:^|[\s;|&(\"'`/=])(?P<program>curl|mysql[a-z]{0,9}|mariadb[a-z-]{0,9}|redis-cli|sshpass|wandb|vault|docker|podman"
    r"|nerdctl|buildah|skopeo|oras|crane|helm)"
    r"(?P<arguments>$|[ \t\\](?:\"[^\"\n]*\"|'[^'\n]*'|\\(?:.|\n)|&[^&\n]|[^\n;|&\\])*)"
)
"""A program with its arguments, up to the end of the command."""
_curl_user = Pattern(
    rf"(?:^|\s){_QUOTE}(?:-[A-Za-z]{{0,8}}[uU]|--(?:proxy-)?user)[ "
    rf"\t=]{{0,4}}{_QUOTE}[^\s:\"']{{0,128}}:"
    r"(?P<value>[^\s\"'\\]+)"
)
_joined_option = Pattern(rf"(?:^|\s){_QUOTE}-p{_PASSWORD}")
_option = Pattern(rf"(?:^|\s)(?:-p|-a)[ \t=]{{0,4}}{_PASSWORD}")
_argument = Pattern(rf"(?:^|\s){_PASSWORD}")
_here_string = Pattern(rf"\blogin\b[^\n<]{{0,256}}<<<[ \t]{{0,4}}{_PASSWORD}")
_READS_INPUT = r"(?:\blogin\b|--password-stdin|--with-token|\bsudo[ \t]{1,4}-S\b)"
_piped = Pattern(
    rf"\b(?:echo|printf)[ \t]{{1,4}}(?:-[neE]{{1,3}}[ \t]{{1,4}})?{_QUOTE}"
    rf"(?P<value>[^\s\"'\\;|&][^\n;|&\"'\\]{{0,255}}){_QUOTE}(?:n{_QUOTE})?"
    rf"[ \t]{{0,4}}\|[^\n;|&]{{0,256}}?{_READS_INPUT}"
)
"""`echo PASSWORD | docker login --password-stdin`."""
_GAP = r"(?:\s|\\n){1,8}"
_netrc = Pattern(
    rf"\b(?:machine|login|default){_GAP}(?:[^\s\\]{{1,256}}{_GAP}){{0,3}}password{_GAP}(?P<value>[^\s\"'\\]+)"
)
_python_login = Pattern(
    r"\bwandb\.login\([^)\n]{0,128}?\bkey[ \t]{0,2}=[ \t]{0,2}\\?[\"'](?P<value>[^\"'\\\n]+)"
)
_aws_configure = Pattern(
    rf"\baws[ \t]{{1,4}}configure[ \t]{{1,4}}set[ \t]{{1,4}}(?:[\w.-]{{1,64}}\.)?"
    rf"aws_(?:secret_access_key|session_token)[ \t]{{1,4}}{_PASSWORD}"
)
_registry_login = Pattern(
    rf"\b(?:auth|identitytoken|registrytoken){_QUOTE}[ \t]{{0,3}}:[ "
    rf"\t]{{0,3}}{_QUOTE}(?P<value>[^\s\"'\\,}}]{{4,}})"
)
"""The login of a registry in Docker's config.json, in which `auth` is the user and the password
in Base64.
"""


def command_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the intervals of passwords and tokens that a script hands to a program, also
    references to variables.
    """
    for match in _command.finditer(text):
        offset = match.start("arguments")
        yield from (
            (offset + start, offset + end)
            for start, end in _arguments(match["program"], match["arguments"])
        )

    patterns = [_here_string, _piped, _netrc, _python_login, _aws_configure]
    if "auths" in text:
        patterns.append(_registry_login)
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield match.start("value"), match.start("value") + len(match["value"].rstrip())


def is_program(word: str) -> bool:
    """Return whether a word is a program whose arguments may have a password."""
    match = _command.search(word)
    return match is not None and match.end() == len(word) and not match["arguments"]


def _arguments(program: str, arguments: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the passwords in a program's arguments."""
    if program == "curl":
        yield from (match.span("value") for match in _curl_user.finditer(arguments))
    elif program.startswith(("mysql", "mariadb")):
        yield from (match.span("value") for match in _joined_option.finditer(arguments))
    elif program in ("sshpass", "redis-cli"):
        yield from (match.span("value") for match in _option.finditer(arguments))
    elif (login := arguments.find("login")) >= 0:
        offset = login + len("login")
        rest = arguments[offset:]
        if program in ("wandb", "vault"):
            words = _argument.finditer(rest)
            matches = [match for match in words if not _is_option(match["value"])][:1]
        else:
            matches = [*_option.finditer(rest)]
        for match in matches:
            yield offset + match.start("value"), offset + match.end("value")


def _is_option(word: str) -> bool:
    """Return whether an argument of `wandb login` is an option, its address or a redirection,
    and not the key.
    """
    return word.startswith(("-", "<", ">")) or "://" in word or "=" in word


_script_assignment = Pattern(
    r"(?<![\w$])([A-Za-z_]\w{1,60}|[A-Za-z_])=(?:\"([^\"\n]{1,400})\"|'([^'\n]{1,400})'|([^\s;&|\"']{1,400}))"
).findall


def script_secrets(text: str) -> dict[str, str]:
    """Return the values of secrets that a shell script assigns, by variable, also if another
    variable has the value.
    """
    values: dict[str, str] = {}
    for name, *quoted in map(tuple[str, ...], _script_assignment(text)):
        values.setdefault(name, "".join(quoted))
    secrets: dict[str, str] = {}
    for name, written in values.items():
        value = values.get(written.strip("${}"), written) if written.startswith("$") else written
        if is_written_secret(name, value):
            secrets[name] = value
    return secrets


def is_written_secret(name: str, value: str) -> bool:
    """Return whether a variable of a script has a secret that is written there, and long enough
    to be masked.
    """
    return "$" not in value and len(value) > _SHORTEST_SECRET and is_secret(name, value)


_SHORTEST_SECRET = 3
"""A value of at most as many characters occurs in every text."""
