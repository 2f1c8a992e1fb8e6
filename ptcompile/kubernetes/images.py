"""Image references as the kubelet parses them before it pulls an image.

Source: Kubernetes 1.36, pkg/util/parsers; distribution/reference 0.6: the grammar of references and
their normalization, in which docker.io replaces a missing registry.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern

_MAX_REPOSITORY = 255
"""Maximum length of a repository name, in characters."""

_MAX_REFERENCE = 4096
"""Maximum number of characters of a reference that are examined."""

_host = Pattern(
    r"(?a)(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*"
    r"|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
).fullmatch
_path = Pattern(
    r"(?a)[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*"
).fullmatch
_tag = Pattern(r"(?a)\w[\w.-]{0,127}").fullmatch
_hexadecimal = Pattern(r"[a-f0-9]{64}").fullmatch
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""Digest algorithms, each with its number of hexadecimal digits."""

_placeholder = Pattern(
    r"(?a)<[^<>]*>|\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|\$[A-Za-z_]\w*"
).search


def is_placeholder(image: str) -> bool:
    """Return whether a reference must still be filled in: `<image>`, `${IMAGE}`, `$(IMAGE)`,
    `$IMAGE`, `{{ .image }}`.
    """
    may_match = "<" in image or "$" in image or "{{" in image
    return may_match and _placeholder(image[:_MAX_REFERENCE]) is not None


def why_not_image(image: str) -> str | None:
    """Return why the kubelet calls a reference an invalid name (InvalidImageName), or None."""
    if len(image) > _MAX_REFERENCE:
        return "the reference is too long"
    if len(image) == 64 and _hexadecimal(image):
        return "64 hexadecimal digits are an image's ID, not a name"

    name, at_sign, digest = image.partition("@")
    if at_sign and (why := _why_not_digest(digest)):
        return why

    # the first part is a registry if it has a dot, a colon or a capital letter, or is localhost
    first, slash, rest = name.partition("/")
    has_mark = "." in first or ":" in first or first == "localhost" or first != first.lower()
    is_registry = slash and has_mark
    path, colon, tag = (rest if is_registry else name).partition(":")

    if colon and not _tag(tag):
        return (
            f"the tag {tag!r} must have only letters, digits, '_', '.' and '-', and no more than "
            "128 of them"
        )
    if path != path.lower():
        return f"the repository {path!r} must have only lower case letters"
    if is_registry and not _host(first):
        return f"the registry {first!r} is not a host name"
    if not _path(path):
        return (
            f"the repository {path!r} must have only lower case letters and digits, with '.', "
            "'_', '__' or '-' between"
        )
    if len(path) > _MAX_REPOSITORY:
        return f"the repository has more than {_MAX_REPOSITORY} characters"

    return None


def _why_not_digest(digest: str) -> str | None:
    algorithm, _, value = digest.partition(":")
    length = _DIGESTS.get(algorithm)
    if length is None:
        return f"the digest {digest[:80]!r} must begin with sha256:, sha384: or sha512:"
    if len(value) != length or value.strip("abcdef0123456789"):
        return f"the digest must have {length} hexadecimal digits after {algorithm}:"
    return None
