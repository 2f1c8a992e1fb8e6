"""The outline of a text, and the inlay hints and code lenses of its jobs."""

from __future__ import annotations

import pytest
from lsprotocol.types import DocumentSymbol, Position, Range

from ptcompile.api.options import LintOptions
from ptcompile.diagnostics.selection import selection
from ptcompile.server.document import OpenDocument
from ptcompile.server.lenses import code_lenses, inlay_hints, manifests, page, pods
from ptcompile.server.symbols import symbols
from ptcompile.server.workspace import FileSettings
from tests.server.making import POD, SPEC, opened

EVERYWHERE = Range(Position(0, 0), Position(1000, 0))


def _names(symbols_of_file: list[DocumentSymbol]) -> dict[str, object]:
    return {one.name: _names(list(one.children or [])) for one in symbols_of_file}


def test_each_object_has_a_tree() -> None:
    outline = symbols(opened(f"{SPEC}---\n{POD}"))
    assert [symbol.name for symbol in outline] == ["TrainingJob/train", "Pod/train"]
    pod = _names(outline)["Pod/train"]
    assert isinstance(pod, dict)
    assert pod["spec"] == {
        "restartPolicy": {},
        "containers": {
            "main": {
                "name": {},
                "image": {},
                "command": {},
                "volumeMounts": {"data": {"name": {}, "mountPath": {}}},
            }
        },
        "volumes": {"data": {"name": {}, "emptyDir": {}}},
    }


def test_a_symbol_is_within_its_parent() -> None:
    def check(one: DocumentSymbol) -> None:
        assert _at(one.range.start) <= _at(one.selection_range.start)
        assert _at(one.selection_range.end) <= _at(one.range.end)
        for inner in one.children or ():
            assert (
                _at(one.range.start)
                <= _at(inner.range.start)
                <= _at(inner.range.end)
                <= _at(one.range.end)
            )
            check(inner)

    text = POD.replace(
        "{name: data, mountPath: /data}", "&m {name: data, mountPath: /data}\n    - *m"
    )
    for symbol in symbols(opened(text)):
        check(symbol)


def _at(position: Position) -> tuple[int, int]:
    return position.line, position.character


def test_objects_of_a_list_are_symbols() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- {POD}".replace("\n", "\n  ").rstrip(" ") for _ in range(2)
    )
    assert [symbol.name for symbol in symbols(opened(text))] == ["Pod/train", "Pod/train"]


@pytest.mark.parametrize(
    "entry",
    [
        "HF_TOKEN: hunter2",
        "HF_TOKEN: {valeu: hunter2}",
        "HF_TOKEN: [hunter2]",
        "A: 'curl -u me:hunter2 x'",
        f"hf_{'hunter2' * 5}: 1",
    ],
)
def test_secrets_are_not_in_the_outline(entry: str) -> None:
    outline = symbols(opened(SPEC.replace("NCCL_DEBUG: INFO", entry)))
    assert outline
    assert "hunter2" not in str(outline)


def test_a_hint_shows_the_size_of_a_job() -> None:
    (hint,) = inlay_hints(opened(SPEC), EVERYWHERE)
    assert hint.label == "4 pods, 32 processes, 32 GPUs"
    assert (hint.position.line, hint.position.character) == (1, 17)
    assert not inlay_hints(opened(SPEC), Range(Position(5, 0), Position(9, 0)))
    assert [one.label for one in inlay_hints(opened(POD), EVERYWHERE)] == ["1 pod, 1 process"]


def test_a_spec_that_does_not_compile_has_no_size() -> None:
    assert not inlay_hints(opened(SPEC.replace("nodes: 4", "nodes: many")), EVERYWHERE)


def test_code_lenses_have_their_titles() -> None:
    titles = [lens.command.title for lens in code_lenses(opened(SPEC)) if lens.command is not None]
    assert titles == ["show manifests for volcano", "show manifests for ...", "what each pod sees"]
    titles = [lens.command.title for lens in code_lenses(opened(POD)) if lens.command is not None]
    assert titles == ["what each pod sees"]
    assert not code_lenses(opened("apiVersion: v1\nkind: ConfigMap\n"))


def test_a_lens_shows_the_manifests() -> None:
    shown = manifests(opened(SPEC), 0, "jobset")
    assert shown is not None
    assert shown.name == "train-jobset.yaml"
    assert "kind: JobSet\n" in shown.text


def test_missing_manifests_are_explained() -> None:
    shown = manifests(opened(SPEC.replace("nodes: 4", "nodes: many")), 0, None)
    assert shown is not None
    assert shown.text.startswith("# No manifests for ")
    assert "spec.nodes" in shown.text
    assert all(line.startswith("#") for line in shown.text.splitlines())


def test_a_lens_shows_the_pods() -> None:
    shown = pods(opened(SPEC), 0)
    assert shown is not None
    assert "train-master-0" in shown.text
    assert pods(opened("a: 1\n"), 0) is None
    assert manifests(opened(SPEC), 5, None) is None


def test_the_page_keeps_the_manifests_of_the_last_version_that_compiled() -> None:
    notice = "The manifests and pods are those of the last version that compiled."
    broken = SPEC.replace("nodes: 4", "nodes: [")
    assert notice not in page(opened(broken)).text
    first = opened(SPEC)
    assert notice not in page(first).text
    second = OpenDocument("", "/w/a.yaml", broken, compiled_page=first.compiled_page)
    assert notice in page(second).text
    assert 'id="volcano-lines"' in page(second).text
    assert second.compiled_page is first.compiled_page


def test_the_page_follows_the_settings() -> None:
    text = SPEC.replace("NCCL_DEBUG", "NCCL_DEBG")
    assert "misspelt-env" in page(opened(text)).text
    assert (
        "misspelt-env"
        not in page(
            opened(text, settings=FileSettings(LintOptions(selection=selection(None, ["PTC815"]))))
        ).text
    )


def test_a_lens_shows_the_page() -> None:
    shown = page(opened(SPEC))
    assert shown.language == "html"
    assert "<title>train" in shown.text
