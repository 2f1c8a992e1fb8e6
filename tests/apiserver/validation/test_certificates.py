"""CertificateSigningRequest, as kube-apiserver 1.36 validates it."""

from __future__ import annotations

import base64

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind


def pem(der: bytes, label: str = "CERTIFICATE REQUEST") -> str:
    """Return a PEM block in base64, as the field `request` holds it."""
    text = f"-----BEGIN {label}-----\n{base64.b64encode(der).decode()}\n-----END {label}-----\n"
    return base64.b64encode(text.encode()).decode()


GOOD = {
    "request": kind(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        spec={"request": pem(b"\x30\x02\x05\x00"), "usages": ["client auth"], "signerName": "a.io/b"},
    )
}
INVALID = "spec.request: Invalid value"
ROWS: list[Row] = [
    ("request", "metadata.name", "csr/x", "metadata.name: Invalid value"),
    ("request", "metadata.name", "CSR_x:y", ""),
    ("request", "metadata.finalizers", ["x"], "metadata.finalizers[0]: Invalid value"),
    ("request", "spec.request", "", INVALID),
    ("request", "spec.request", "YWJj", INVALID),
    ("request", "spec.request", pem(b"\x30\x00").replace("=", "").ljust(80, "A")[:77], "spec.request: must be base64"),
    ("request", "spec.request", base64.b64encode(b"-----BEGIN A-----\n!\n-----END A-----").decode(), INVALID),
    ("request", "spec.request", pem(b"\x30\x00", "CERTIFICATE"), INVALID),
    ("request", "spec.request", pem(b"\x02\x01\x05"), INVALID),
    ("request", "spec.request", pem(b"\x30\x81\x02\x05\x00"), ""),
    ("request", "spec.request", pem(b"\x30\x03\x05\x00"), INVALID),
    ("request", "spec.usages", [], "spec.usages: Required value"),
    ("request", "spec.usages", ["any", "any"], 'spec.usages[1]: Duplicate value: "any"'),
    ("request", "spec.usages", ["x"], "spec.usages[0]: Unsupported value"),
    ("request", "spec.signerName", "", "spec.signerName: Required value"),
    ("request", "spec.signerName", f"{'a.' * 90}io/{'b.' * 200}c", "spec.signerName: Too long"),
    ("request", "spec.signerName", "a", 'spec.signerName: Invalid value: "a": must be a fully qualified domain'),
    ("request", "spec.signerName", "a.io/b/c", "spec.signerName: Invalid value"),
    ("request", "spec.signerName", "a/b", "spec.signerName: Invalid value"),
    ("request", "spec.signerName", "A.io/b", "spec.signerName: Invalid value"),
    ("request", "spec.signerName", "a.io/B", "spec.signerName: Invalid value"),
    ("request", "spec.signerName", "kubernetes.io/legacy-unknown", "spec.signerName: Invalid value"),
    ("request", "spec.expirationSeconds", 599, "spec.expirationSeconds: Invalid value: 599: may not specify"),
    ("request", "spec.expirationSeconds", 600, ""),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}"[:60])
def test_rule(row: Row) -> None:
    check_row(GOOD, row)
