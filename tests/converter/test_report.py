"""The table of what moved, what stayed and why."""

from __future__ import annotations

import ptcompile
from ptcompile.converter.report import ConvertedFile, to_markdown
from ptcompile.kubernetes.selectors import Chosen
from tests.converter.jobs import Json, pytorchjob

KUEUE = {"kueue.x-k8s.io/queue-name": "research"}
CONFIG: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c"},
    "data": {"hosts": "p-master-0"},
}


def converted(name: str, *objects: Json) -> ConvertedFile:
    result = ptcompile.convert(list(objects), target="volcano")
    return ConvertedFile(name, objects, result.manifests, result.diagnostics)


def rows(*files: ConvertedFile) -> dict[tuple[str, str], tuple[str, str]]:
    lines = to_markdown(files, "volcano").splitlines()
    cells = [
        line.strip("| ").split(" | ")
        for line in lines
        if line.startswith("| ") and "File" not in line
    ]
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


def test_causes_come_first_and_only_jobs_count() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}]},
    }
    unrendered = pytorchjob()
    unrendered["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = "$NUM_NODES"
    files = (
        converted("a.yaml", unrendered, service),
        converted("b.yaml", pytorchjob(labels=KUEUE), service),
    )
    lines = to_markdown(files, "volcano").splitlines()
    assert lines[2] == "0 of 2 jobs moved"
    causes = lines[4 : lines.index("| File | Object | Result | Why |") - 1]
    assert causes[0] == "- not rendered yet: PyTorchJob/p in a.yaml"
    assert all("Kueue" in line for line in causes[1:])
    assert rows(*files)["a.yaml", "PyTorchJob/p"] == ("stayed", "not rendered yet: $NUM_NODES")


def test_reasons_name_no_path_of_a_spec() -> None:
    result = ptcompile.convert([pytorchjob()], target="volcano")
    text = (
        "in the spec that it imports to: spec.roles.worker: 'worker' is the name of a training role"
    )
    error = (
        ptcompile.convert([pytorchjob(labels=KUEUE)], target="volcano")
        .diagnostics[0]
        ._replace(message=text)
    )
    assert result.ok
    file = ConvertedFile("a.yaml", [pytorchjob()], [], [error._replace(severity="error")])
    assert rows(file)["a.yaml", "PyTorchJob/p"] == (
        "stayed",
        "worker: 'worker' is the name of a training role",
    )


def test_jobs_that_are_not_chosen_are_not_counted() -> None:
    chosen = Chosen(labels=frozenset({("team", "vision")}))
    text = to_markdown([ConvertedFile("a.yaml", [pytorchjob()], [], (), chosen)], "volcano")
    assert "0 of 0 jobs moved" in text
    assert "| PyTorchJob/p | unchanged |" in text


def test_only_chosen_jobs_are_converted() -> None:
    other = pytorchjob(labels={"team": "vision"})
    other["metadata"]["name"] = "o"
    kinds = {"kinds": ["Job"]}, {"labels": {"team": "vision"}}, {"kinds": ["PyTorchJob"]}
    results = [
        ptcompile.convert([pytorchjob(), other], target="volcano", **chosen) for chosen in kinds
    ]
    written = [sorted(manifest["kind"] for manifest in result.manifests) for result in results]
    assert written == [[], ["Job", "PyTorchJob"], ["Job", "Job"]]
