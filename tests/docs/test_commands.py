"""Commands and programs in the README and docs/: each runs and prints what the page shows.

To update a page, run `python -m website.refresh PAGE`, which inserts the current output, and review the change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from website.blocks import PAGES, ROOT, blocks, run


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_show_the_actual_output(path: Path, tmp_path: Path) -> None:
    mismatches = list(run(path.read_text(encoding="utf-8"), tmp_path / "page"))
    assert [
        f"$ {mismatch.command}{mismatch.happened}\n-- but the page shows\n{mismatch.shown}"
        for mismatch in mismatches
    ] == []


def page(*parts: str) -> str:
    return "\n".join(f"{part}\n```" for part in parts) + "\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (page("```console\n$ echo a\na"), []),
        (page("```console\n$ echo a\nb"), ["a\n"]),
        (page("```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nc"), []),
        (page("```console\n$ printf 'a\\nb\\nc\\n'\nb\n...\nc"), ["a\nb\nc\n"]),
        (page("```console\n$ false"), ["exit status 1\n"]),
        (page("<!-- exit 1 -->\n```console\n$ false"), []),
        (page("<!-- not run: no cluster -->\n```console\n$ false"), []),
        (page('```yaml title="a/b.txt"\nx', "```console\n$ cat a/b.txt\nx"), []),
        (page("```python\nprint(1 + 1)", "<!-- output -->\n```text\n3"), ["2\n"]),
        (page("```python\nassert False"), ["exit status 1"]),
        (page("```sh\ncat missing"), ["exit status 1"]),
        (page("```sh\necho a: b | kubectl apply -f -"), ["exit status 1"]),
        (page("```sh\necho 'kind: Pod' | kubectl apply -f -"), []),
    ],
)
def test_wrong_pages_are_reported(text: str, wrong: list[str], tmp_path: Path) -> None:
    happened = [one.happened for one in run(text, tmp_path / "page")]
    assert len(happened) == len(wrong)
    assert all(one.startswith(start) for one, start in zip(happened, wrong, strict=True))


def test_every_block_that_is_not_run_has_a_reason() -> None:
    for path in PAGES:
        for block in blocks(path.read_text(encoding="utf-8")):
            assert not block.note.startswith("not run") or len(block.note.split()) > 3, (
                path,
                block.text,
            )
