"""The table of what moved, what stayed and why."""

from __future__ import annotations

import ptcompile
from ptcompile.converter.report import ConvertedFile, to_markdown
from tests.converter.jobs import Json, pytorchjob

KUEUE = {"kueue.x-k8s.io/queue-name": "research"}
CONFIG: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"hosts": "p-master-0"}}


def converted(name: str, *objects: Json) -> ConvertedFile:
    result = ptcompile.convert(list(objects), target="volcano")
    return ConvertedFile(name, objects, result.manifests, result.diagnostics)


def rows(*files: ConvertedFile) -> dict[tuple[str, str], tuple[str, str]]:
    lines = to_markdown(files, "volcano").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ") and "File" not in line]
    return {(file, title): (outcome, " ".join(why)) for file, title, outcome, *why in cells}


def test_each_job_moved_or_stayed() -> None:
    files = converted("a.yaml", pytorchjob(), CONFIG), converted("b.yaml", pytorchjob(labels=KUEUE))
    table = rows(*files)
    assert table["a.yaml", "PyTorchJob/p"][0] == "moved"
    assert table["a.yaml", "ConfigMap/c"][0] == "changed"
    outcome, why = table["b.yaml", "PyTorchJob/p"]
    assert outcome == "stayed"
    assert why.startswith("Kueue admits no jobs of Volcano: the queue research")
    assert "1 of 2 jobs moved" in to_markdown(files, "volcano")


def test_a_cell_has_no_separator_of_the_table() -> None:
    job = pytorchjob()
    job["metadata"]["name"] = "a|b"
    lines = to_markdown([ConvertedFile("x|y.yaml", [job], [], ())], "jobset").splitlines()
    assert lines[-1].startswith("| x\\|y.yaml | PyTorchJob/a\\|b |")


def test_a_file_without_objects_is_listed() -> None:
    assert (
        to_markdown([ConvertedFile("empty.yaml", [], [], ())], "jobset").splitlines()[-1]
        == "| empty.yaml |  | unread |  |"
    )
