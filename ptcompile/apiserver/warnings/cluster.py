"""Warnings about Nodes, ServiceAccounts, RuntimeClasses, TLS Secrets and CustomResourceDefinitions.

Source: Kubernetes 1.36, the strategies below pkg/registry/core and node; crypto/tls of Go:
X509KeyPair; apiextensions-apiserver/pkg/apiserver/validation/formats.go: GetUnrecognizedFormats.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.warnings.addresses import cidr_warnings
from ptcompile.apiserver.warnings.header import deprecated, warning
from ptcompile.apiserver.warnings.pods import deprecated_label_text
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import indexed_items, indexed_mappings, quote_value
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_string, nested_value

_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"
_FORMATS = frozenset(load_table("apiserver/warnings/formats.json")["formats"])
"""Formats that the server knows, without their hyphens."""


def node_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about a Node."""
    spec = nested_map(manifest, "spec")
    if spec.get("externalID"):
        text = "this field is deprecated, and is unused by Kubernetes"
        yield deprecated(("spec", "externalID"), text, "remove externalID")
    first = spec.get("podCIDR")
    ranges = spec.get("podCIDRs")
    if first and (type(ranges) is not list or ranges[:1] != [first]):
        yield from cidr_warnings(first, ("spec", "podCIDR"), server, field="spec.podCIDRs[0]")
        return

    for index, value in indexed_items(ranges):
        yield from cidr_warnings(value, ("spec", "podCIDRs", index), server)


def service_account_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning if an annotation limits a ServiceAccount's Secrets (Kubernetes 1.32 and
    later).
    """
    annotation_map = nested_map(manifest, "metadata", "annotations")
    if server.at_least(32) and annotation_map.get(_MOUNTABLE_SECRETS) is not None:
        text = (
            "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        )
        yield deprecated(
            ("metadata", "annotations", _MOUNTABLE_SECRETS),
            text,
            "use a namespace for each account",
        )


def runtime_class_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about the node labels of a RuntimeClass."""
    for label in nested_map(manifest, "scheduling", "nodeSelector"):
        if text := deprecated_label_text(label):
            path = ("scheduling", "nodeSelector", label)
            yield deprecated(path, text, "use the new label", field="scheduling.nodeSelector")


def secret_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning if a TLS Secret holds no certificate or no private key in PEM form. Their
    contents, and whether they belong together, are not checked.
    """
    if manifest.get("type") != "kubernetes.io/tls":
        return

    certificate = _secret_value(manifest, "tls.crt")
    key = _secret_value(manifest, "tls.key")
    for name, why in (("tls.crt", _why_no_certificate(certificate)), ("tls.key", _why_no_key(key))):
        if why is not None:
            if nested_value(manifest, "stringData", name) is not None:
                part = "stringData"
            else:
                part = "data"
            help = f"put the PEM text into {name}"
            yield warning("discouraged-value", (part, name), f"tls: {why}", help, field="")
            return


def _secret_value(manifest: Json, key: str) -> str:
    """Return a value of a Secret as text; `stringData` replaces `data`."""
    plain = nested_value(manifest, "stringData", key)
    if type(plain) is str:
        return plain

    try:
        return b64decode(nested_string(manifest, "data", key)).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""


def _pem_types(text: str) -> Iterator[str]:
    """Yield the type of each PEM block, such as CERTIFICATE."""
    begun: str | None = None
    for line in text.split("\n"):
        plain = line.rstrip()
        if plain.startswith("-----BEGIN ") and plain.endswith("-----"):
            begun = plain[len("-----BEGIN ") : -len("-----")]
        elif begun is not None and plain == f"-----END {begun}-----":
            yield begun
            begun = None


def _why_no_certificate(text: str) -> str | None:
    types = list(_pem_types(text))
    if "CERTIFICATE" in types:
        return None
    if not types:
        return "failed to find any PEM data in certificate input"
    if len(types) == 1 and types[0].endswith("PRIVATE KEY"):
        return (
            "failed to find certificate PEM data in certificate input, but did find a private "
            "key; PEM inputs may have been switched"
        )
    return f'failed to find "CERTIFICATE" PEM block in certificate input {_skipped_text(types)}'


def _why_no_key(text: str) -> str | None:
    types = list(_pem_types(text))
    if any(name == "PRIVATE KEY" or name.endswith(" PRIVATE KEY") for name in types):
        return None
    if not types:
        return "failed to find any PEM data in key input"
    if types == ["CERTIFICATE"]:
        return "found a certificate rather than a key in the PEM for the private key"
    return (
        'failed to find PEM block with type ending in "PRIVATE KEY" in key input '
        + _skipped_text(types)
    )


def _skipped_text(types: list[str]) -> str:
    return f"after skipping PEM blocks of the following types: [{' '.join(types)}]"


def definition_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning for each format in a CustomResourceDefinition that has no meaning: since 1.34
    those that the server does not know, since 1.36 also those of objects, lists and booleans.
    """
    if not server.at_least(34):
        return

    reported: set[str] = set()
    for index, version in indexed_mappings(nested_value(manifest, "spec", "versions")):
        path = ("spec", "versions", index, "schema", "openAPIV3Schema")
        for type_name, name, format_path in _formats(
            nested_map(version, "schema", "openAPIV3Schema"), path
        ):
            if type_name == "string":
                is_known = name.replace("-", "") in _FORMATS
            else:
                is_known = not server.at_least(36)
            if name not in reported and not is_known:
                reported.add(name)
                text = f"unrecognized format {quote_value(name)}"
                yield warning(
                    "discouraged-value", format_path, text, "use a pattern instead", field=""
                )


def _formats(root: Json, path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield each format in a schema, after its type and before its path, except those of
    numbers.
    """
    stack: list[tuple[Any, Path]] = [(root, path)]
    while stack:
        node, node_path = stack.pop()
        if type(node) is list:
            stack += [(item, (*node_path, index)) for index, item in enumerate(node)]
            continue
        if type(node) is not dict:
            continue

        type_name = node.get("type")
        name = node.get("format")
        if (
            type(type_name) is str
            and type(name) is str
            and name
            and type_name not in ("", "integer", "number")
        ):
            yield type_name, name, (*node_path, "format")

        for key in ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"):
            stack.append((node.get(key), (*node_path, key)))
        stack += [
            (child, (*node_path, "properties", name))
            for name, child in nested_map(node, "properties").items()
        ]
