"""Codes are given once; names are words; families are what the module says."""

from __future__ import annotations

import re

from ptcompile.findings.codes import CODES


def test_a_code_is_given_once() -> None:
    assert len(set(CODES.values())) == len(CODES)


def test_codes_and_names_are_spelt_alike() -> None:
    for name, code in CODES.items():
        assert re.fullmatch(r"PTC[0-9]{3}", code), code
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name), name


def test_these_codes_are_never_given_to_another() -> None:
    """DESIGN section 8, rule 12: codes and names are never reused. This table only grows."""
    given = {
        "yaml-syntax": "PTC001", "duplicate-key": "PTC003", "no-documents": "PTC009", "unknown-kind": "PTC010",
        "spec-unknown-field": "PTC021", "spec-missing-field": "PTC022", "spec-wrong-type": "PTC023",
        "spec-invalid-value": "PTC024", "spec-conflict": "PTC025", "unsupported-by-target": "PTC026",
        "name-too-long": "PTC027", "unknown-target": "PTC028", "request-above-limit": "PTC101",
        "gpu-request-differs-from-limit": "PTC102", "more-processes-than-gpus": "PTC103", "idle-gpus": "PTC104",
        "queued-differently": "PTC206",
        "shm-above-memory-limit": "PTC301", "reserved-env": "PTC401", "unknown-field": "PTC501", "wrong-type": "PTC502",
        "required-value": "PTC510", "invalid-value": "PTC511", "webhook-refusal": "PTC551",
    }  # fmt: skip
    assert given.items() <= CODES.items()
