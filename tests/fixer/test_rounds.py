"""Rounds of fixes: overlapping fixes wait, bad fixes are undone, and the rounds end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic, Edit
from ptcompile.fixer import fix_in_rounds, rounds
from ptcompile.source.documents import read
from tests.fixer.making import finding

Judge = Callable[[bytes], list[Diagnostic]]


def judged(*rules: Callable[[dict[str, object]], list[Diagnostic]]) -> Judge:
    """Return a judge that runs these rules on the first document."""
    return lambda content: [
        diagnostic for rule in rules for diagnostic in rule(read(content).documents[0].data)
    ]


def test_waiting_fixes_apply_in_the_next_round() -> None:
    def grows(data: dict[str, object]) -> list[Diagnostic]:
        there = data.get("l") or []
        assert isinstance(there, list)
        return [finding(Edit("append", ("l",), n)) for n in range(3) if n not in there]

    mended = fix_in_rounds(b"a: 1\n", judged(grows), unsafe=False)
    assert mended.content == b"a: 1\nl:\n- 0\n- 1\n- 2\n"
    assert len(mended.applied) == 3
    assert mended.skipped == ()


def test_a_fix_that_causes_a_new_finding_is_undone_and_others_apply() -> None:
    def bad(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(Edit("set", ("a",), 2), name="idle-gpus")] if data["a"] == 1 else []

    def comes(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(name="reserved-env")] if data["a"] == 2 else []

    def good(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(Edit("set", ("b",), 2))] if data["b"] == 1 else []

    mended = fix_in_rounds(b"a: 1 # one\nb: 1 # two\n", judged(bad, comes, good), unsafe=False)
    assert mended.content == b"a: 1 # one\nb: 2 # two\n"
    assert [(s.diagnostic.name, s.why, s.fault) for s in mended.skipped] == [
        ("idle-gpus", "PTC302 reserved-env would appear instead", True)
    ]


def test_a_finding_beyond_the_end_of_a_cut_report_keeps_no_fix_from_applying() -> None:
    def judge(content: bytes) -> list[Diagnostic]:
        several = [
            finding(Edit("set", ("a",), 2))._replace(document=document.index)
            for document in read(content).documents
            if document.data["a"] == 1
        ]
        return several if len(several) <= 2 else [*several[:2], finding(name="too-large")]

    fixed = fix_in_rounds(b"---\na: 1\n" * 7, judge, unsafe=False)
    assert fixed.content == b"---\na: 2\n" * 7
    assert fixed.skipped == ()


def test_an_unsafe_fix_that_reveals_a_finding_is_undone_without_being_a_bug() -> None:
    text = (
        b"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\nspec:\n"
        b"  schedulerName: volcano\n  policies: [{event: PodFailed, action: RestartJob}]\n  tasks:\n  - name: trainer\n"
        b"    template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: b:1, command: [train]}]}}\n"
    )
    fixed = fix_in_rounds(text, lambda content: ptcompile.lint(content).diagnostics, unsafe=True)
    skipped = {skip.diagnostic.name: skip for skip in fixed.skipped}
    assert skipped["task-without-replicas"].why.endswith("would appear instead")
    assert not skipped["task-without-replicas"].fault


def test_a_fix_that_does_not_help_is_undone() -> None:
    mended = fix_in_rounds(b"a: 1\n", lambda _: [finding(Edit("set", ("a",), 2))], unsafe=False)
    assert mended.content == b"a: 1\n"
    assert [(s.why, s.fault) for s in mended.skipped] == [("it would not remove the finding", True)]


def test_fixes_that_all_fail_take_a_limited_number_of_attempts() -> None:
    text = "".join(f"k{n}: 1\n" for n in range(200)).encode()
    attempts = []

    def judge(content: bytes) -> list[Diagnostic]:
        attempts.append(content)
        return [finding(Edit("set", (f"k{n}",), 2)) for n in range(200)]

    result = fix_in_rounds(text, judge, unsafe=False)
    assert result.content == text
    assert len(attempts) < 70
    assert {skip.why for skip in result.skipped} == {
        "it would not remove the finding", "many other fixes of the file failed"
    }  # fmt: skip
    assert len(result.skipped) == 200


def test_a_fix_that_another_one_obstructs_is_tried_again() -> None:
    def rejection(data: dict[str, object]) -> list[Diagnostic]:
        return (
            []
            if (data["a"], data["b"]) == (2, 2)
            else [finding(Edit("set", ("a",), 2), stage="apply")]
        )

    def advice(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(Edit("set", ("b",), 2), name="idle-gpus")] if data["b"] == 1 else []

    result = fix_in_rounds(b"a: 1\nb: 1\n", judged(rejection, advice), unsafe=False)
    assert (result.content, result.skipped) == (b"a: 2\nb: 2\n", ())


def test_a_value_that_would_still_be_rejected_is_not_changed() -> None:
    text = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  restartPolicy: on # what?\n  containers: []\n"
    mended = fix_in_rounds(text, lambda content: ptcompile.lint(content).diagnostics, unsafe=False)
    assert mended.content == text
    assert [(s.why, s.fault) for s in mended.skipped] == [
        ("the value would still be rejected", False)
    ]


def test_a_finding_that_an_error_hid_does_not_undo_the_fix() -> None:
    def refusal(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(Edit("rename", ("A",), "a"), stage="apply")] if "A" in data else []

    def hidden(data: dict[str, object]) -> list[Diagnostic]:
        return [finding(Edit("set", ("a",), 2), name="idle-gpus")] if data.get("a") == 1 else []

    assert (
        fix_in_rounds(b"A: 1\nb: 1\n", judged(refusal, hidden), unsafe=False).content
        == b"a: 2\nb: 1\n"
    )


def test_rounds_end_if_two_rules_contradict_each_other() -> None:
    def up(data: dict[str, object]) -> list[Diagnostic]:
        wrong = finding(Edit("set", ("a",), 2), name="idle-gpus", stage="apply")
        return (
            [wrong]
            if data["a"] == 1
            else [finding(Edit("set", ("a",), 1), name="reserved-env", stage="apply")]
        )

    assert len(fix_in_rounds(b"a: 1\n", judged(up), unsafe=False).applied) <= 10


def test_a_clean_file_is_judged_once_and_not_reread(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []

    def judge(content: bytes) -> list[Diagnostic]:
        calls.append(content)
        return []

    monkeypatch.setattr("ptcompile.fixer.rounds.read", lambda _: pytest.fail("read"))
    assert fix_in_rounds(b"a: 1\n", judge, unsafe=True).content == b"a: 1\n"
    assert calls == [b"a: 1\n"]


def test_hundreds_of_findings_in_a_file_are_fixed_in_a_few_rounds() -> None:
    env = "".join(f"    - {{name: A{n}, value: {n}}} # {n}\n" for n in range(500))
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers:\n  - name: a\n    env:\n{env}"
    rounds: list[bytes] = []

    def judge(content: bytes) -> tuple[Diagnostic, ...]:
        rounds.append(content)
        return ptcompile.lint(content, select=["PTC502"]).diagnostics

    mended = fix_in_rounds(text.encode(), judge, unsafe=False)
    assert len(mended.applied) == 500
    quoted = "".join(f'    - {{name: A{n}, value: "{n}"}} # {n}\n' for n in range(500))
    assert mended.content.decode() == text.replace(env, quoted)
    assert len(rounds) == 2


def test_a_skipped_fix_is_retried_after_its_finding_moves() -> None:
    """The first x0 is shared until the first x1 is removed, and so on."""
    head, pair = (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
        b"x0: &x0 [a]\nx1: &x1 [*x0]\nx2: &x2 [*x1]\n",
    )
    mended = fix_in_rounds(
        head + pair * 5, lambda content: ptcompile.lint(content).diagnostics, unsafe=True
    )
    assert mended.content == head + pair
    assert mended.skipped == ()


def test_a_key_too_long_for_yaml_is_left_unfixed() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "k" * 1025: 1,
        "metadata": {"name": "p"},
        "spec": {"contaners": []},
    }
    text = json.dumps(pod)
    mended = fix_in_rounds(
        text.encode(), lambda content: ptcompile.lint(content).diagnostics, unsafe=True
    )
    assert mended.content == text.encode()
    assert {one.why for one in mended.skipped} == {"a key has more than 1,024 characters"}


def test_repeated_keys_inside_repeated_entries_take_one_attempt_a_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Removing an entry removes those inside it, so both together would overlap and be tried in halves."""
    attempts: list[int] = []
    write = rounds._Round.write

    def counted(self: rounds._Round, plans: Sequence[rounds._Plan]) -> bytes:
        attempts.append(len(plans))
        return write(self, plans)

    monkeypatch.setattr(rounds._Round, "write", counted)
    inner = "".join(f"    b: {n}\n" for n in range(8))
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    fixed = ptcompile.fix(f"{head}data:\n" + f"  a:\n{inner}" * 8, unsafe=True)
    assert fixed.text == f"{head}data:\n  a:\n    b: 7\n"
    assert len(attempts) <= 6


def test_fixes_of_an_unreadable_document_are_skipped_without_fault() -> None:
    fixed = rounds.fix_in_rounds(b"\xff", lambda _: [finding(Edit("set", ("a",), 2))], unsafe=False)
    assert [(skipped.why, skipped.fault) for skipped in fixed.skipped] == [
        ("the document cannot be read", False)
    ]
