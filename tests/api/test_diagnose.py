"""`diagnose`: what it takes, and what its result never shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import ptcompile
from tests.diagnosis.test_cases import CASES
from tests.making import smallest

SCHEMA = ptcompile.schema("diagnosis")
ERROR = "[rank1]: KeyError: 'lr'"
TOKEN = "hf_" + "a" * 34


def checked(diagnosis: ptcompile.Diagnosis) -> dict[str, Any]:
    data = diagnosis.to_dict()
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    return data


def test_the_json_form_matches_its_schema() -> None:
    for case in CASES[::3]:
        checked(ptcompile.diagnose(case["files"], case["manifest"]))
    checked(ptcompile.diagnose("all is well", smallest()))
    checked(ptcompile.diagnose(""))


def test_logs_are_accepted_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "train-1.log"
    path.write_text(ERROR, encoding="utf-8")
    for logs in (ERROR, ERROR.encode(), path, [path], {"a": path}, {"a": ERROR}):
        diagnosis = ptcompile.diagnose(logs)
        assert diagnosis.first is not None
        assert diagnosis.first.sighting.message.id == "py-traceback"
    assert ptcompile.diagnose([path]).files == (str(path),)


@pytest.mark.parametrize("logs", [3, None, [3], {"a": 3}])
def test_other_forms_are_type_errors(logs: Any) -> None:
    with pytest.raises(TypeError):
        ptcompile.diagnose(logs)


@pytest.mark.parametrize("source", ["kind: [", "- 1", "", "a: 1", "apiVersion: v1\nkind: Pod\n"])
def test_mistakes_in_the_manifest_never_raise(source: str) -> None:
    assert not ptcompile.diagnose(ERROR, source).ok


def test_a_profile_with_mistakes_is_told() -> None:
    assert ptcompile.diagnose(ERROR, smallest(), cluster="kind: x").diagnostics


_TOLERANT = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: c, image: i}]
"""
_FULL_NODES = (
    "pod/p FailedScheduling 0/6 nodes are available: 1 Insufficient nvidia.com/gpu, "
    "5 node(s) had untolerated taint(s)."
)


@pytest.mark.parametrize(
    "source",
    [
        _TOLERANT,
        _TOLERANT.replace("tolerations: [", "tolerations: &all ["),
        yaml.safe_load(_TOLERANT),
        json.dumps(yaml.safe_load(_TOLERANT)),
    ],
    ids=["text", "anchor", "data", "JSON"],
)
def test_a_taint_that_the_pods_tolerate_is_not_the_cause(source: Any) -> None:
    diagnosis = ptcompile.diagnose({"events.txt": _FULL_NODES}, source)
    assert diagnosis.first is not None
    assert diagnosis.first.sighting.message.id == "sched-insufficient"


def test_secrets_are_masked() -> None:
    manifest = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, env: [{name: DB_PASSWORD, value: correct-horse-battery}]}]}
"""
    line = (
        f"[rank1]: KeyError: 'x' token={TOKEN} password=hunter2hunter2 url=https://u:pw123456@h/ "
        "correct-horse-battery"
    )
    for source in (None, manifest):
        diagnosis = ptcompile.diagnose({f"{TOKEN}.log": line}, source)
        for text in (diagnosis.text(), json.dumps(diagnosis.to_dict()["first"]["text"])):
            assert not [
                secret for secret in (TOKEN, "hunter2hunter2", "pw123456") if secret in text
            ]
    assert "correct-horse-battery" not in diagnosis.text() + json.dumps(diagnosis.to_dict())


def test_text_is_escaped() -> None:
    text = ptcompile.diagnose(
        {"a\x1b[31m.log": "KeyError: \x1b]0;x\x07 \u202e ##vso[task] ok"}
    ).text()
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "##vso[" not in text


def test_logs_beyond_the_limit_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptcompile._internal import limits

    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=100)])
    diagnosis = ptcompile.diagnose({"a.log": "x\n" * 40, "b.log": "y\n" * 20 + ERROR})
    assert diagnosis.is_cut
    assert diagnosis.first is None
    assert "too long" in diagnosis.text()


def test_a_large_log_is_read_in_bounded_time_and_memory() -> None:
    """1.4 MB here; a line costs some three microseconds, one with a message ten. The memory is the
    same for three times as much.
    """
    import time
    import tracemalloc

    log = (
        "step 1000 loss 2.0310 lr 0.0003 tokens/s 12345\n" * 20 + ERROR + " \U0001f3d6\n"
    ).encode() * 1400
    ptcompile.diagnose({"a.log": ERROR})  # load the messages before measuring
    started = time.process_time()
    tracemalloc.start()
    assert not ptcompile.diagnose({"a.log": log}).ok
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - started < 7
    assert peak < 14 << 20
