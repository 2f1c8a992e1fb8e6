"""What Kubernetes accepts as a name: labels, subdomains, keys, ports and environment variables,
with their lengths.

Each form has a test (`is_dns_label`) and a reason (`why_not_dns_label`, or None if the text is
valid). The rules are those of Kubernetes 1.36 `apimachinery/pkg/util/validation`; the sentences are
ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.lazy import Pattern

DNS_LABEL_MAX = 63
"""Characters in a DNS label: container, volume, port and Service names, each part of a host
name.
"""

DNS_SUBDOMAIN_MAX = 253
"""Characters in a DNS subdomain: the names of most objects."""

LABEL_VALUE_MAX = 63
"""Characters in the value of a label."""

QUALIFIED_NAME_MAX = 63
"""Characters in the part of a label or annotation key after the slash; the prefix is a DNS
subdomain.
"""

PORT_NAME_MAX = 15
"""Characters in the name of a container's port (RFC 6335)."""

CONFIG_KEY_MAX = 253
"""Characters in a key of a ConfigMap or Secret."""

_SMALL = "abcdefghijklmnopqrstuvwxyz"
_of_label = frozenset(f"{_SMALL}0123456789-").issuperset
_of_key = frozenset(f"{_SMALL}{_SMALL.upper()}0123456789-_.").issuperset
_is_classic_env_name = Pattern(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_is_http_path = Pattern(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch

_ENDS = "start and end with a letter or a digit"
_LOWER = f"must have only lower case letters, digits and '-', and {_ENDS}"
_MIXED = f"must have only letters, digits, '-', '_' and '.', and {_ENDS}"


def _too_long(text: str, limit: int) -> str | None:
    # the server counts bytes, which differ only in texts that the character rules reject anyway
    if len(text) > limit:
        return f"must be no more than {limit} characters (it has {len(text)})"
    return None


def is_label(text: str) -> bool:
    """Return whether a text is a DNS label (RFC 1123), ignoring the length limit: `[a-z0-9-]`, no
    hyphen at either end.
    """
    return _of_label(text) and text.strip("-") == text != ""


def _is_subdomain(text: str) -> bool:
    return all(map(is_label, text.split(".")))


def _is_1035(text: str) -> bool:
    return is_label(text) and not text[0].isdigit()


def _is_name_part(text: str) -> bool:
    """Return whether a text is `[A-Za-z0-9._-]` with a letter or digit at both ends."""
    return _of_key(text) and text.strip("-_.") == text != ""


def is_dns_label(text: str) -> bool:
    """Return whether a text is a DNS label: `[a-z0-9-]`, no hyphen at either end, 1 to 63
    characters (RFC 1123).
    """
    return len(text) <= DNS_LABEL_MAX and is_label(text)


def why_not_dns_label(text: str) -> str | None:
    """Return why a text is not a DNS label, or None."""
    if is_dns_label(text):
        return None
    letters = None
    if not is_label(text):
        letters = "must not contain dots" if _is_subdomain(text) else _LOWER
    return " and ".join(filter(None, (_too_long(text, DNS_LABEL_MAX), letters)))


def is_dns_1035_label(text: str) -> bool:
    """Return whether a text is a DNS label that begins with a letter (RFC 1035): Service names
    before Kubernetes 1.36.
    """
    return len(text) <= DNS_LABEL_MAX and _is_1035(text)


def why_not_dns_1035_label(text: str) -> str | None:
    """Return why a text is not a DNS label that begins with a letter, or None."""
    if long := _too_long(text, DNS_LABEL_MAX):
        return long
    if _is_1035(text):
        return None
    return (
        "must have only lower case letters, digits and '-', start with a letter, and end with a "
        "letter or a digit"
    )


def is_dns_subdomain(text: str) -> bool:
    """Return whether a text is a DNS subdomain: labels joined by dots, 1 to 253 characters (RFC
    1123).
    """
    return len(text) <= DNS_SUBDOMAIN_MAX and _is_subdomain(text)


def first_label(host: str) -> str:
    """Return the first label of a host name: `worker-0` for `worker-0.train.ns.svc`."""
    label, _, _ = host.partition(".")
    return label


def mask_dash(prefix: str) -> str:
    """Return a name prefix with a final dash replaced, together with the character before it, as
    the API server does: the generated name will not end with it.
    """
    if len(prefix) > 1 and prefix[-1] == "-":
        return prefix[:-2] + "a"
    return prefix


def why_not_dns_subdomain(text: str) -> str | None:
    """Return why a text is not a DNS subdomain, or None."""
    if is_dns_subdomain(text):
        return None
    if long := _too_long(text, DNS_SUBDOMAIN_MAX):
        return long
    return f"must have only lower case letters, digits, '-' and '.', and each part must {_ENDS}"


def is_label_value(text: str) -> bool:
    """Return whether a text may be the value of a label: empty, or `[A-Za-z0-9._-]` up to 63
    characters.
    """
    return not text or (len(text) <= LABEL_VALUE_MAX and _is_name_part(text))


def why_not_label_value(text: str) -> str | None:
    """Return why a text may not be the value of a label, or None."""
    if long := _too_long(text, LABEL_VALUE_MAX):
        return long
    if is_label_value(text):
        return None
    return f"must be empty, or {_MIXED.removeprefix('must ')}"


def is_qualified_name(text: str) -> bool:
    """Return whether a text may be the key of a label or annotation, or the name of a resource:
    `[prefix/]name`.
    """
    return why_not_qualified_name(text) is None


def why_not_qualified_name(text: str) -> str | None:
    """Return why a text may not be the key of a label or annotation, or None."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return "must be a name with at most one prefix and one '/' (such as example.com/name)"
    if slash and not prefix:
        return "the prefix before '/' must not be empty"
    if slash and (reason := why_not_dns_subdomain(prefix)):
        return f"the prefix before '/' {reason}"

    part = "the name part " if slash else ""
    if not name:
        return f"{part}must not be empty"
    if long := _too_long(name, QUALIFIED_NAME_MAX):
        return part + long

    return None if _is_name_part(name) else part + _MIXED


def why_not_domain_prefixed_path(text: str) -> str | None:
    """Return why a text is not a domain and a path, or None."""
    domain, _, path = text.partition("/")
    if not domain or not path:
        return "must be a domain and a path (such as acme.io/foo)"
    if reason := why_not_dns_subdomain(domain):
        return f"the domain before '/' {reason}"
    if _is_http_path(path):
        return None
    return "the path after '/' must have only characters of a URL path"


def is_env_name(text: str) -> bool:
    """Return whether a text may name an environment variable: printable ASCII without `=`
    (Kubernetes 1.32 and later).
    """
    return text != "" and text.isascii() and text.isprintable() and "=" not in text


def why_not_env_name(text: str) -> str | None:
    """Return why a text may not name an environment variable, or None (Kubernetes 1.32 and
    later).
    """
    if is_env_name(text):
        return None
    if text:
        return "must have only printable ASCII characters other than '='"
    return "must not be empty"


def why_not_classic_env_name(text: str) -> str | None:
    """Return why servers before 1.32 and the Volcano webhook reject a text as an environment
    variable's name, or None.
    """
    if not _is_classic_env_name(text):
        return "must have only letters, digits, '_', '-' and '.', and not start with a digit"
    return _why_not_file_name(text)


def why_not_config_key(text: str) -> str | None:
    """Return why a text may not be a key of a ConfigMap or Secret, or None."""
    if long := _too_long(text, CONFIG_KEY_MAX):
        return long
    if not text or not _of_key(text):
        return "must have only letters, digits, '-', '_' and '.'"
    return _why_not_file_name(text)


def _why_not_file_name(text: str) -> str | None:
    """Return why a text may not be the name of a file in a volume, or None."""
    if text in (".", ".."):
        return f"must not be '{text}'"
    return "must not start with '..'" if text.startswith("..") else None


def why_not_port_name(text: str) -> str | None:
    """Return why a text may not name a container's port, or None."""
    if long := _too_long(text, PORT_NAME_MAX):
        return long
    if not text or not _of_label(text):
        return "must have only lower case letters, digits and '-'"
    if text.replace("-", "").isdigit() or not text.strip("-"):
        return "must have at least one letter"
    if "--" in text:
        return "must not have two '-' in a row"
    if text[0] == "-" or text[-1] == "-":
        return "must not start or end with '-'"
    return None


def longest_name(suffixes: Iterable[str]) -> int:
    """Return the maximum length of an object's name so that the name with each suffix is a DNS
    label.

    An operator appends the suffixes to name pods and Services (`-worker-0`, `-master-0`).
    """
    return max(0, DNS_LABEL_MAX - max(map(len, suffixes), default=0))
