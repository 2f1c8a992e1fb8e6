"""Sources to documents and objects, and problems to diagnostics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile.diagnostics import Diagnostic, Edit, Fix, Problem, Span
from ptcompile.diagnostics.selection import Selection
from ptcompile.source import documents as source, streams
from ptcompile.source.streams import (
    is_ours,
    limit_findings,
    no_documents,
    not_objects,
    objects_in,
    profile_documents,
    read,
    repeated_in_other_file,
    repeated_spec,
    resource_name,
    select,
    to_diagnostic,
)

Json = dict[str, Any]
SPEC: Json = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "a"},
    "spec": {},
}


def test_a_source_is_read_in_any_form(tmp_path: Path) -> None:
    text = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {}\n"
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    spec = ptcompile.Spec(metadata=ptcompile.Metadata(name="a"), spec=ptcompile.JobSpec())
    for form in (text, text.encode(), path, SPEC, [SPEC], spec):
        stream = read(form, None)
        assert [document.data for document in stream.documents] == [SPEC], form
        assert (stream.documents[0].span(("kind",)) is not None) is isinstance(
            form, str | bytes | Path
        )
    with pytest.raises(TypeError, match="cluster"):
        read(3, None, "cluster")


ITEMS: list[Any] = [{"kind": "A"}, 3, {"kind": "B"}]


@pytest.mark.parametrize(
    ("data", "paths", "bad"),
    [
        (
            {"apiVersion": "v1", "kind": "List", "items": ITEMS},
            [("items", 0), ("items", 2)],
            [("items", 1)],
        ),
        ({"apiVersion": "v1", "kind": "List", "items": {}}, [()], []),
        ({"apiVersion": "v2", "kind": "List", "items": ITEMS}, [()], [("items", 1)]),
        (
            {"apiVersion": "v1", "kind": "PodList", "items": ITEMS},
            [("items", 0), ("items", 2)],
            [("items", 1)],
        ),
        ({"apiVersion": "v1", "kind": "PodList", "items": {}}, [()], []),
        ({"apiVersion": "v1", "kind": "Pod", "items": ITEMS}, [()], []),
        ({"apiVersion": "v1", "kind": 3, "items": ITEMS}, [()], []),
        ({}, [()], []),
    ],
)
def test_objects_of_a_list_have_their_paths(data: Json, paths: list[Any], bad: list[Any]) -> None:
    assert [path for path, _ in objects_in(data)] == paths
    assert [problem.path for problem in not_objects(data)] == bad


def test_items_of_a_list_inherit_its_kind() -> None:
    items = [{"metadata": {"name": "a"}}, {"kind": "B"}, {"apiVersion": "v2"}]
    data = {"apiVersion": "v1", "kind": "ConfigMapList", "items": items}
    assert [item for _, item in objects_in(data)] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        {"kind": "B"},
        {"apiVersion": "v2"},
    ]
    assert [item for _, item in objects_in({**data, "kind": "List"})] == items


def test_text_is_read_as_by_the_given_kubectl() -> None:
    text = '{"a": 1}\n---\nb: 2\n'
    assert not read(text, None).problems
    assert [problem.name for problem in read(text, None, kubectl=(1, 32)).problems] == [
        "yaml-syntax"
    ]


def test_profiles_are_the_documents_of_that_kind_or_all() -> None:
    profile = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile"}
    for documents, expected in (
        ([profile, SPEC], [profile]),
        ([SPEC, {"spec": 1}], [SPEC, {"spec": 1}]),
    ):
        assert [
            document.data for document in profile_documents(source.from_data(documents))
        ] == expected


def test_only_ptcompile_s_own_kinds_are_ours() -> None:
    assert is_ours(SPEC)
    assert not is_ours({"apiVersion": "batch/v1"})
    assert not is_ours({})


def test_repeated_specs_are_errors() -> None:
    seen: set[tuple[str, str]] = set()
    other = {**SPEC, "metadata": {"name": "a", "namespace": "b"}}
    for data in (
        SPEC,
        other,
        {**SPEC, "kind": "ClusterProfile"},
        {**SPEC, "metadata": {}},
        {**SPEC, "metadata": 1},
    ):
        assert repeated_spec(data, seen) == []
    assert repeated_spec({**SPEC, "apiVersion": "other/v1"}, seen) == []
    (problem,) = repeated_spec(SPEC, seen)
    assert (problem.name, problem.severity, problem.stage) == ("repeated-object", "error", "run")
    assert problem.blocks_compile
    assert "an earlier document is also TrainingJob/a" in problem.message
    assert repeated_in_other_file("Job/a", "b.yaml").message.startswith(
        "metadata.name: b.yaml also compiles to Job/a"
    )


@pytest.mark.parametrize("blocks", [True, False])
def test_an_empty_stream_may_block_compile(blocks: bool) -> None:
    assert no_documents(blocks_compile=blocks).blocks_compile is blocks
    assert not no_documents().blocks_compile


def diagnostic(name: str = "missing-shm", line: int = 1, *, blocks: bool = False) -> Diagnostic:
    problem = Problem(name, (), "m", blocks_compile=blocks, span=Span(line, 1, line, 2))
    return to_diagnostic(problem, None, "f.yaml")


@pytest.fixture
def three_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(findings=3)])


def test_the_last_finding_names_the_limit(three_findings: None) -> None:
    diagnostics = [diagnostic(line=line) for line in range(1, 6)]
    assert limit_findings(diagnostics[:3], "f.yaml") == diagnostics[:3]
    *first, last = limit_findings(diagnostics, "f.yaml")
    assert first == diagnostics[:3]
    assert (last.name, last.filename, last.span and last.span.line) == ("too-large", "f.yaml", 4)
    assert "more than 3 findings" in last.message


def test_ignored_findings_are_kept_apart(three_findings: None) -> None:
    shm, other = diagnostic(), diagnostic("unknown-field")
    selection = Selection(ignore=frozenset({"missing-shm"}))
    assert select([shm, other, shm], selection, None) == ([other], [shm, shm])
    assert select([shm] * 5, selection, None) == ([], [shm] * 3)
    blocking = diagnostic(blocks=True)
    assert select([blocking], selection, None) == ([blocking], []), "the spec does not compile"


def test_diagnostics_may_be_below_a_path() -> None:
    (document,) = source.read(
        "kind: List\nitems:\n- kind: A\n  metadata: {name: b}\n  c: d\n"
    ).documents
    fix = Fix("remove it", (Edit("remove", ("c",)),), safe=True)
    item = document.data["items"][0]
    result = to_diagnostic(
        Problem("unknown-field", ("c",), "m", on_key=True, fix=fix),
        document,
        "f",
        ("items", 0),
        item,
    )
    assert (result.path, result.resource, result.document) == (("items", 0, "c"), "A/b", 0)
    assert result.span == Span(5, 3, 5, 4)
    assert result.fix is not None
    assert result.fix.edits == (Edit("remove", ("items", 0, "c")),)
    assert not result.masked
    assert (
        to_diagnostic(Problem("unknown-field", ("items",), "m", fix=fix), document, "f").fix == fix
    )
    assert (
        to_diagnostic(Problem("unknown-field", ("items",), "m"), document, "f").resource == "List"
    )
    assert to_diagnostic(Problem("unknown-field", (), "m"), None, None).document == 0
    assert to_diagnostic(
        Problem("unknown-field", ("c",), "m"), document, "f", ("items", 0)
    ).span == Span(5, 6, 5, 7)


def test_secrets_are_masked() -> None:
    (document,) = source.read("kind: A\nspec: {password: hunter22}\n").documents
    result = to_diagnostic(
        Problem("wrong-type", ("spec", "password"), "not hunter22"), document, None
    )
    assert result.message == "not ***"
    assert result.masked


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ({"kind": "A", "metadata": {"name": "b"}}, "A/b"),
        ({"kind": "A", "metadata": {"name": 1}}, "A"),
        ({"kind": "A", "metadata": []}, "A"),
        ({"kind": 1, "metadata": {"name": "b"}}, None),
        ({}, None),
    ],
)
def test_a_resource_is_named_by_kind_and_name(manifest: Json, name: str | None) -> None:
    assert resource_name(manifest) == name


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "nodes"), "spec.nodes"),
        (("spec", "containers", 0, "image"), "spec.containers[main].image"),
        (("spec", "containers", 0), "spec.containers[main]"),
        (("spec", "containers", 1, "image"), "spec.containers[1].image"),
        (("spec", "containers", 0, "env", 0, "value"), "spec.containers[main].env[A].value"),
        (("spec", "args", 0), "spec.args[0]"),
        (("spec", "containers", 9, "x"), "spec.containers[9].x"),
        (("spec", "named", "x"), "spec.named.x"),
        (("spec", "named", "x", 0), "spec.named.x[0]"),
    ],
)
def test_stable_paths_name_the_items_of_lists(path: tuple[str | int, ...], expected: str) -> None:
    manifest = {
        "spec": {
            "containers": [{"name": "main", "env": [{"name": "A"}]}, {"image": "x"}],
            "args": ["a"],
            "named": {"name": "n", "x": [1]},
        }
    }
    assert streams._stable_path(path, manifest) == expected


def test_labels_with_odd_keys_or_values_are_left_out() -> None:
    labels = {"a": "b", "c d": "e", "f": "g h", "i": 1, "j": "k" * 317, "l": "m" * 318}
    assert streams._labels({"labels": labels}) == (("a", "b"), ("j", "k" * 317))
    many = {f"l{number}": "x" for number in range(40)}
    assert len(streams._labels({"labels": many})) == 32


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, []),
        ({"kind": "Pod"}, [(("apiVersion",), "add apiVersion", False)]),
        ({"apiVersion": "v1"}, [(("kind",), "add kind", False)]),
        (
            {"apiVersion": "", "kind": 5},
            [(("apiVersion",), "add apiVersion", False), (("kind",), "add kind", False)],
        ),
        (
            {"apiversion": "v1", "kind": "Pod"},
            [(("apiversion",), "did you mean apiVersion?", True)],
        ),
        (
            {"apiVersion": "v1", "knd": "Pod", "metadata": {}},
            [(("knd",), "did you mean kind?", True)],
        ),
    ],
)
def test_every_object_has_an_api_version_and_a_kind(
    manifest: dict[str, Any], expected: list[tuple[tuple[str, ...], str, bool]]
) -> None:
    assert [(p.path, p.help, p.on_key) for p in streams.missing_keys(manifest)] == expected
