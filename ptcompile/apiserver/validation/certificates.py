"""CertificateSigningRequest.

Source: Kubernetes 1.36 `pkg/apis/certificates/validation`, in its order and words.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_SECONDS_MIN: Final = 600
_SIGNER_NAME_MAX: Final = 571
_USAGES: Final = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_find_pem_block = Pattern(r"(?s)-----BEGIN ([^\n-]*)-----[ \t]*\r?\n(.*?)\n?-----END \1-----").search
_ENCODED_LENGTH: Final = 0x80
"""Bit of a DER length that is written in further bytes."""


def check_signing_request(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check a CertificateSigningRequest, except its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    request = spec.get("request") or ""
    if type(request) is str and (why := _why_not_request(request)):
        help = "write the output of openssl req -new, in base64"
        f.invalid(problems, (*path, "request"), request, why, help)
    _check_usages(spec.get("usages"), (*path, "usages"), problems)
    _check_signer(spec.get("signerName"), (*path, "signerName"), problems)
    seconds = spec.get("expirationSeconds")
    if type(seconds) is int and seconds < _SECONDS_MIN:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        f.invalid(problems, (*path, "expirationSeconds"), seconds, why, f"use {_SECONDS_MIN} or more")


def _why_not_request(text: str) -> str | None:
    """Return why a base64 text is not a certificate request, or None. The request is decoded up to its outer sequence,
    and not in its parts.
    """
    import base64

    try:
        block = _find_pem_block(base64.b64decode(text).decode("latin-1"))
        if block is None or block[1] != "CERTIFICATE REQUEST":
            return "PEM block type must be CERTIFICATE REQUEST"
        der = base64.b64decode("".join(block[2].split()), validate=True)
    except ValueError:  # not base64
        return "PEM block type must be CERTIFICATE REQUEST"
    return None if _is_der_sequence(der) else "asn1: structure error: tags don't match"


def _is_der_sequence(der: bytes) -> bool:
    """Return whether the bytes are one DER sequence and nothing after it."""
    if len(der) < 2 or der[0] != 0x30:
        return False
    length, start = der[1], 2
    if length & _ENCODED_LENGTH:
        start += length & ~_ENCODED_LENGTH
        length = int.from_bytes(der[2:start])
    return len(der) == start + length


def _check_usages(usages: Any, path: Path, problems: f.Problems) -> None:
    if not usages:
        f.required(problems, path, help="list the usages, such as client auth")
    seen: set[str] = set()
    for index, usage in f.indexed_texts(usages):
        f.check_choice(problems, (*path, index), usage, _USAGES)
        if usage in seen:
            f.duplicate(problems, (*path, index), usage, "keep one of the two")
        seen.add(usage)


def _check_signer(name: Any, path: Path, problems: f.Problems) -> None:
    if f.is_empty(name):
        f.required(problems, path, help="name the signer, such as kubernetes.io/kube-apiserver-client")
    elif name == _LEGACY_SIGNER:
        f.invalid(problems, path, name, "the legacy signerName is not allowed via this API version")
    elif type(name) is str and len(name) > _SIGNER_NAME_MAX:
        f.too_long(problems, path, _SIGNER_NAME_MAX)
    elif type(name) is str and (why := _why_not_signer(name)):
        f.invalid(problems, path, name, why, "write it as example.com/signer-name")


def _why_not_signer(name: str) -> str | None:
    domain, *paths = name.split("/")
    if len(paths) != 1:
        return "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    for label in domain.split("."):
        if why := names.why_not_dns_label(label):
            return f'validating label "{label}": {why}'
    if "." not in domain:
        return "should be a domain with at least two segments separated by dots"
    for label in paths[0].split("."):
        if why := names.why_not_dns_subdomain(label):
            return f'validating label "{label}": {why}'
    return None
