"""Recorded verdicts of a real API server 1.36, row by row, compared with the field rules.

Everything that its field validation rejected must be rejected; everything that it accepted must be accepted. Rows that
failed decoding or a CRD's schema belong to the structure checks.
"""

from __future__ import annotations

from typing import Any

from ptcompile.apiserver.kinds import BUILT_IN
from ptcompile.apiserver.validation import built_in_problems, metadata_problems
from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.kubernetes.requests import ApiServer
from tests.recorded import changed, manifests, rows

STRUCTURE = ("cannot be handled as", " in body ", "Checked value", "<nil>", "strict decoding")
CONTEXT = ApiServer()
# this Pod without containers counts as accepted: the server rejected its unknown PriorityClass first
UNJUDGED = "stackrox/kube-linter tests/checks/priority-class-name.yaml"


def refused(manifest: dict[str, Any], stages: tuple[str, ...], under: list[Any]) -> bool:
    kind = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
    if kind in BUILT_IN:
        problems = list(built_in_problems(manifest, CONTEXT))
    else:
        problems = metadata_problems(manifest)
        problems += template_problems(manifest, CONTEXT)
    problems = [p for p in problems if p.authority == "kube-apiserver"]
    return any(p.stage in stages and list(p.path[: len(under)]) == under for p in problems)


def agrees(
    manifest: dict[str, Any], answer: dict[str, Any], stages: tuple[str, ...], under: list[Any]
) -> bool:
    message = answer["message"]
    if not answer["accepted"] and any(part in message for part in STRUCTURE):
        return True
    built_in = (manifest.get("apiVersion", ""), manifest.get("kind", "")) in BUILT_IN
    if not answer["accepted"] and not under and not built_in and "metadata." not in message:
        return True  # the rule belongs to the CRD
    return bool(answer["accepted"]) != refused(manifest, stages, under)


def test_verdicts_on_published_manifests_agree_with_the_server() -> None:
    wrong = {
        r["source"] for r in rows("apiserver/real") if not agrees(r["manifest"], r, ("apply",), [])
    }
    assert wrong == {UNJUDGED}


def test_verdicts_on_pods_of_templates_agree_with_the_server() -> None:
    bases = manifests("apiserver/real")
    both = ("apply", "pod")
    wrong = [
        r["id"]
        for r in rows("apiserver/pods")
        if not agrees(bases[r["id"]], r, both, r["template"])
    ]
    assert wrong == []


def test_verdicts_on_mutants_agree_with_the_server() -> None:
    bases = manifests("apiserver/real")
    wrong = []
    for row in rows("apiserver/mutants"):
        manifest = changed(bases[row["base"]], row)
        pod = row.get("pod")
        good = agrees(manifest, row, ("apply",), [])
        if not good or (pod and not agrees(manifest, pod, ("apply", "pod"), pod["template"])):
            wrong.append((row["base"], row["op"], row["path"], row["value"]))
    assert wrong == []
