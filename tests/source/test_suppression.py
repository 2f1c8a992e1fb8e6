"""Comments that suppress findings."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.source import suppression
from ptcompile.source.suppression import add_ignores

POD = """\
# head
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [torchrun, --nproc-per-node, "8", train.py]
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
"""


def lint(
    old: str = "", new: str = "", **given: list[str]
) -> tuple[list[tuple[str, int | None]], int]:
    report = ptcompile.lint(POD.replace(old, new, 1) if old else POD, **given)  # type: ignore[arg-type]
    return [(d.name, d.span.line if d.span else None) for d in report.diagnostics], len(
        report.meant
    )


def test_the_finding_appears_without_a_comment() -> None:
    assert lint() == ([("missing-shm", 8)], 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "name: pytorch",
            "name: pytorch  # ptcompile: ignore[PTC302] the loader runs in one process",
        ),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[missing-shm]"),
        ("name: pytorch", "name: pytorch  # ptcompile:ignore[PTC3]"),
        ("      image", "      # more\n      image"),
        (
            "    - name: pytorch",
            "    # ptcompile: ignore[PTC302] why\n    # more\n\n    - name: pytorch",
        ),
        ("train.py]", "train.py]  # ptcompile: ignore[PTC302] within the span of the finding"),
        ("gpu: 8}}", "gpu: 8}}  # ptcompile: ignore[PTC302] on the last line of the finding"),
        ("# head", "# ptcompile: ignore-file[PTC302] why"),
        ("# head", "# head\n\n# ptcompile: ignore-file[PTC302,PTC501]"),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302]\r"),
    ],
)
def test_a_comment_suppresses_the_finding(old: str, new: str) -> None:
    expected = [("missing-shm", 8)] if "more\n      image" in new else []
    assert lint(old, new) == (expected, 0 if expected else 1)


@pytest.mark.parametrize(
    ("old", "new", "name", "line"),
    [
        ("kind: Pod", "kind: Pod  # ptcompile: ignore[PTC302]", "unused-ignore", 3),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC301]", "unused-ignore", 8),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore", "bad-ignore", 8),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[]", "bad-ignore", 8),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC999]", "bad-ignore", 8),
        ("kind: Pod", "# ptcompile: ignore-file[PTC302]\nkind: Pod", "bad-ignore", 3),
    ],
)
def test_a_comment_that_covers_nothing_is_a_finding(
    old: str, new: str, name: str, line: int
) -> None:
    reported, suppressed = lint(old, new)
    assert (name, line) in reported
    assert "missing-shm" in dict(reported)
    assert suppressed == 0


@pytest.mark.parametrize(
    "text",
    [
        '"a # ptcompile: ignore[PTC302]"',
        "'a # ptcompile: ignore[PTC302]'",
        "|\n      # ptcompile: ignore[PTC302]\n      b",
    ],
)
def test_text_that_looks_like_a_comment_is_not_one(text: str) -> None:
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n    a: {text}\n"
    assert ptcompile.lint(config).diagnostics == ()


def test_an_unused_comment_is_not_reported_if_its_rule_is_disabled() -> None:
    assert lint("kind: Pod", "kind: Pod  # ptcompile: ignore[PTC301]", ignore=["PTC301"])[0] == [
        ("missing-shm", 8)
    ]
    assert lint("kind: Pod", "kind: Pod  # ptcompile: ignore[PTC301]", ignore=["PTC9"])[0] == [
        ("missing-shm", 8)
    ]


def test_rejections_can_be_suppressed() -> None:
    text = POD.replace("  restartPolicy", "  restrtPolicy")
    names = {d.name for d in ptcompile.lint(text).diagnostics}
    assert "unknown-field" in names
    changed = text.replace(
        "restrtPolicy: Never",
        "restrtPolicy: Never  # ptcompile: ignore[PTC501] read by our webhook",
    )
    assert "unknown-field" not in {d.name for d in ptcompile.lint(changed).diagnostics}


SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: img:1
  script: train.py
"""
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("  gpus: 8", "PTC021"),
        ("  nodes: x", "PTC023"),
        ("  target: none", "PTC028"),
        ("  script: again.py", "PTC003"),
        ("  resources: {gpu: 0.5}", ""),
        ("  env: {A: [1]}", ""),
        ("  args: [a", "PTC001"),
    ],
)
def test_errors_that_prevent_compilation_cannot_be_ignored(line: str, code: str) -> None:
    text = f"{SPEC}{line}\n"
    (first, *_) = ptcompile.compile(text).diagnostics
    assert (first.severity, first.code) == ("error", code or first.code)
    for comment in ("ignore", "ignore-file"):
        mark = f"# ptcompile: {comment}[{first.code}] why"
        commented = f"{mark}\n{text}" if comment == "ignore-file" else f"{SPEC}{line}  {mark}\n"
        for report in (ptcompile.lint(commented), ptcompile.compile(commented)):
            assert {d.name for d in report.diagnostics} >= {first.name, "bad-ignore"}
            assert not report.ok
            assert report.meant == ()
    ignored = ptcompile.lint(text, ignore=[first.code], select=["PTC8"])
    assert first.name in {d.name for d in ignored.diagnostics}
    assert not ignored.ok
    assert ignored.meant == ()
    assert add_ignores(text, ignored.diagnostics) == (text, 0)


def test_an_error_of_a_profile_cannot_be_ignored() -> None:
    text = f"{PROFILE}colud: gke}}  # ptcompile: ignore[PTC021]\n"
    assert {d.name for d in ptcompile.lint(text, ignore=["PTC021"]).diagnostics} == {
        "spec-unknown-field",
        "bad-ignore",
    }


def test_errors_that_do_not_prevent_compilation_can_be_ignored() -> None:
    """`compile` then writes the manifests, so lint accepts the comment too."""
    text = f"{SPEC}  nodes: 2\n  env: {{NCCL_SOCKET_IFNAME: lo}}\n"
    diagnostics = [
        d
        for d in ptcompile.lint(text).diagnostics
        if d.severity == "error" and not d.blocks_compile
    ]
    for diagnostic in diagnostics:
        assert ptcompile.compile(text, ignore=[d.code for d in diagnostics]).manifests, diagnostic
        assert diagnostic.name not in {
            d.name for d in ptcompile.lint(text, ignore=[diagnostic.code]).diagnostics
        }
    assert diagnostics


def test_many_comments_take_linear_time() -> None:
    many = "".join(f"# ptcompile: ignore[PTC302] {i}\n" for i in range(3000))
    assert len(ptcompile.lint(many + POD).diagnostics) <= 3001


@pytest.mark.parametrize(
    ("text", "line", "commented"),
    [
        ("kind: x\nmetadata: {name: y}\n", 2, "metadata: {name: y}  # C"),
        ("kind: x\na: |\n  text\n\nmetadata: {name: y}\n", 5, "metadata: {name: y}  # C"),
        ("kind: x\na: |\n  text\n", 2, "# C\na: |"),
        ("kind: x\na: |\n  text\n", 3, ""),
        ("kind: x\na: 'more\n  text'\n", 3, ""),
    ],
)
def test_a_comment_can_follow_any_line_that_starts_outside_of_values(
    text: str, line: int, commented: str
) -> None:
    span = Span(line, 1, line, 2)
    finding = Diagnostic(
        "PTC576",
        "repeated-object",
        "error",
        "",
        None,
        (),
        span,
        "run",
        "ptcompile",
        resource="ConfigMap/y",
    )
    after, count = add_ignores(text, [finding])
    assert count == bool(commented)
    assert commented.replace("C", "ptcompile: ignore[PTC576]") in after


@pytest.mark.parametrize(
    "comment",
    [
        "ignore[PTC302] until 2027-03-31: the loader runs alone",
        "ignore[PTC302] until 2027-03-31",
        "ignore[missing-shm]  until  2027-03-31 why",
        "ignore[PTC302] until the image is rebuilt",
    ],
)
def test_a_comment_applies_through_its_last_day(
    comment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppression, "today", lambda: "2027-03-31")
    assert lint("name: pytorch", f"name: pytorch  # ptcompile: {comment}") == ([], 1)


@pytest.mark.parametrize("where", ["name: pytorch", "# head"])
def test_an_expired_comment_ignores_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppression, "today", lambda: "2027-04-01")
    keyword = "ignore-file" if where == "# head" else "ignore"
    comment = f"# ptcompile: {keyword}[PTC302] until 2027-03-31: why"
    text = POD.replace(where, f"{where}  {comment}" if keyword == "ignore" else comment)
    report = ptcompile.lint(text)
    assert sorted(d.name for d in report.diagnostics) == ["expired-ignore", "missing-shm"]
    (expired,) = [d for d in report.diagnostics if d.name == "expired-ignore"]
    assert expired.message == "the comment applied until 2027-03-31: it no longer ignores findings"
    assert expired.span is not None
    assert text.split("\n")[expired.span.line - 1][expired.span.column - 1 :].startswith(
        "# ptcompile:"
    )


def test_a_date_that_does_not_exist_is_a_bad_comment() -> None:
    assert lint(
        "name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302] until 2027-02-30: why"
    )[0] == [
        ("missing-shm", 8),
        ("bad-ignore", 8),
    ]


def test_names_in_comments_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(comments=3)])

    def names(comments: str) -> list[str]:
        return [
            diagnostic.name
            for diagnostic in ptcompile.lint(comments + "apiVersion: v1\nkind: Pod\n").diagnostics
        ]

    assert "too-large" not in names("# ptcompile: ignore[PTC3,PTC4]\n# ptcompile: ignore[PTC5]\n")
    assert "too-large" in names("# ptcompile: ignore[PTC3,PTC4]\n# ptcompile: ignore[PTC5,PTC6]\n")


def test_a_wrong_comment_has_its_help() -> None:
    pod = "apiVersion: v1\nkind: Pod\n# ptcompile: ignore%s\nmetadata: {name: a}\n"
    pod += "spec: {containers: [{name: c, image: 'i:1'}]}\n"
    helps = {"[PTC302]": "remove it", "[PTC9999]": "write # ptcompile: ignore[CODE] and why"}
    for selector, help in helps.items():
        (diagnostic,) = [
            finding
            for finding in ptcompile.lint(pod % selector).diagnostics
            if finding.span and finding.span.line == 3
        ]
        assert diagnostic.help == help
