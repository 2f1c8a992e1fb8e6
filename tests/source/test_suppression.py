"""Comments that say which findings are meant."""

from __future__ import annotations

import pytest

import ptcompile

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


def lint(old: str = "", new: str = "", **given: list[str]) -> tuple[list[tuple[str, int | None]], int]:
    report = ptcompile.lint(POD.replace(old, new, 1) if old else POD, **given)  # type: ignore[arg-type]
    return [(d.name, d.span.line if d.span else None) for d in report.diagnostics], len(report.meant)


def test_it_is_found_without_a_comment() -> None:
    assert lint() == ([("missing-shm", 8)], 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302] the loader runs in one process"),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[missing-shm]"),
        ("name: pytorch", "name: pytorch  # ptcompile:ignore[PTC3]"),
        ("      image", "      # more\n      image"),
        ("    - name: pytorch", "    # ptcompile: ignore[PTC302] why\n    # more\n\n    - name: pytorch"),
        ("train.py]", "train.py]  # ptcompile: ignore[PTC302] within the span of the finding"),
        ("# head", "# ptcompile: ignore-file[PTC302] why"),
        ("# head", "# head\n\n# ptcompile: ignore-file[PTC302,PTC501]"),
        ("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302]\r"),
    ],
)
def test_a_comment_takes_it_away(old: str, new: str) -> None:
    wanted = [("missing-shm", 8)] if "more\n      image" in new else []
    assert lint(old, new) == (wanted, 0 if wanted else 1)


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
def test_a_comment_that_covers_nothing_is_a_finding(old: str, new: str, name: str, line: int) -> None:
    found, meant = lint(old, new)
    assert (name, line) in found
    assert "missing-shm" in dict(found)
    assert meant == 0


@pytest.mark.parametrize(
    "text",
    [
        '"a # ptcompile: ignore[PTC302]"',
        "'a # ptcompile: ignore[PTC302]'",
        "|\n      # ptcompile: ignore[PTC302]\n      b",
    ],
)
def test_text_that_looks_like_a_comment_is_none(text: str) -> None:
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n    a: {text}\n"
    assert ptcompile.lint(config).diagnostics == ()


def test_an_unused_comment_is_not_told_where_its_rule_is_not_asked() -> None:
    assert lint("kind: Pod", "kind: Pod  # ptcompile: ignore[PTC301]", ignore=["PTC301"])[0] == [("missing-shm", 8)]
    assert lint("kind: Pod", "kind: Pod  # ptcompile: ignore[PTC301]", ignore=["PTC9"])[0] == [("missing-shm", 8)]


def test_refusals_can_be_meant_too() -> None:
    text = POD.replace("  restartPolicy", "  restrtPolicy")
    found = {d.name for d in ptcompile.lint(text).diagnostics}
    assert "unknown-field" in found
    said = text.replace("restrtPolicy: Never", "restrtPolicy: Never  # ptcompile: ignore[PTC501] read by our webhook")
    assert "unknown-field" not in {d.name for d in ptcompile.lint(said).diagnostics}


def test_many_comments_take_time_in_proportion() -> None:
    many = "".join(f"# ptcompile: ignore[PTC302] {i}\n" for i in range(3000))
    assert len(ptcompile.lint(many + POD).diagnostics) <= 3001
