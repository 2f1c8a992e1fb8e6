"""The verbs as functions of the package."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiler.reader import load_profile
from ptcompile.spec.base import Metadata
from ptcompile.spec.training_job import JobSpec, Spec
from tests.making import profile, smallest

MAPPING = yaml.safe_load(smallest("nodes: 2\nvolumes: [{name: v, emptyDir: {}}]"))
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
BAD_POD = POD.replace("image: i", "imag: i")
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {defaults: {labels: {team: ml}}}\n"


def test_public_names_exist_once() -> None:
    assert sorted(ptcompile.__all__) == sorted(set(ptcompile.__all__))
    for name in ptcompile.__all__:
        assert getattr(ptcompile, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = ptcompile.nothing


FORMS: list[Any] = [
    smallest("nodes: 2"),
    smallest("nodes: 2").encode(),
    yaml.safe_load(smallest("nodes: 2")),
]


@pytest.mark.parametrize("form", FORMS, ids=["text", "bytes", "mapping"])
def test_any_form_of_a_spec_gives_the_same_result(form: Any) -> None:
    result = ptcompile.compile(form)
    assert result.ok
    assert result.diagnostics == ()
    assert result.unwrap() == result.manifests == ptcompile.compile(FORMS[0]).manifests


def test_a_spec_built_in_python_compiles_like_its_yaml() -> None:
    spec = Spec(metadata=Metadata(name="train"), spec=JobSpec(image="img:1", script="train.py"))
    assert ptcompile.compile(spec).unwrap() == ptcompile.compile(smallest()).unwrap()


def test_mistake_in_a_spec_built_in_python_is_a_finding() -> None:
    spec = Spec(metadata=Metadata(name="A B"), spec=JobSpec(image="img:1", script="train.py"))
    (diagnostic,) = ptcompile.compile(spec).diagnostics
    assert (diagnostic.path, diagnostic.span) == (("metadata", "name"), None)


@pytest.mark.parametrize(
    "form",
    [
        PROFILE,
        PROFILE.encode(),
        yaml.safe_load(PROFILE),
        profile({"defaults": {"labels": {"team": "ml"}}}),
    ],
)
def test_a_profile_is_accepted_in_any_form(form: Any) -> None:
    (pod,) = ptcompile.compile(smallest(), cluster=form).unwrap()
    assert pod["metadata"]["labels"] == {"team": "ml"}


@pytest.mark.parametrize(
    "bad",
    ["", "a: [", "[]", {"kind": "ClusterProfile", "spec": {"x": 1}}, PROFILE + "---\n" + PROFILE],
)
def test_bad_profile_gives_no_manifest(bad: Any) -> None:
    result = ptcompile.compile(smallest(), cluster=bad)
    assert not result.ok
    assert result.manifests == ()


def test_a_profile_is_found_among_other_documents() -> None:
    cluster_profile, problems = load_profile(smallest() + "---\n" + PROFILE)
    assert cluster_profile is not None
    assert problems == []


def test_input_is_not_changed() -> None:
    data = copy.deepcopy(MAPPING)
    first = ptcompile.compile(data, target="pytorchjob")
    for manifest in first.manifests:
        spoil(manifest)
    assert data == MAPPING
    assert ptcompile.compile(data, target="pytorchjob") == ptcompile.compile(
        MAPPING, target="pytorchjob"
    )


def test_editing_the_manifests_does_not_change_the_profile() -> None:
    cluster = profile({"defaults": {"imagePullSecrets": [{"name": "r"}]}})
    before = cluster.model_dump_json()
    for manifest in ptcompile.compile(smallest(), cluster=cluster).unwrap():
        spoil(manifest)
    assert cluster.model_dump_json() == before


def spoil(value: Any) -> None:
    for below in list(value.values()) if isinstance(value, dict) else value:
        if isinstance(below, dict | list):
            spoil(below)
    value.clear()


def test_text_overrides_match_the_command_line() -> None:
    texts: list[Any] = [
        ('metadata.annotations."a.b/c"', "x"),
        ("spec.args[1]", "c"),
        ("spec.nodes", 2),
    ]
    paths: list[Any] = [
        (("metadata", "annotations", "a.b/c"), "x"),
        (("spec", "args", 1), "c"),
        (("spec", "nodes"), 2),
    ]
    for given in (texts, paths):
        made = ptcompile.compile(smallest("args: [a, b]"), overrides=given).unwrap()[-1]
        assert made["metadata"]["annotations"] == {"a.b/c": "x"}
        assert made["spec"]["template"]["spec"]["containers"][0]["args"] == ["a", "c"]


@pytest.mark.parametrize(
    "where", ["spec..nodes", "", 'spec."a', "spec.a=b", ".".join("a" * 65), ("a",) * 65]
)
def test_unreadable_override_path_is_a_finding(where: Any) -> None:
    result = ptcompile.compile(smallest(), overrides=[("spec.nodes", 2), (where, 1)])
    assert not result.ok
    assert result.manifests == ()
    assert [(diagnostic.name, diagnostic.filename) for diagnostic in result.diagnostics] == [
        ("spec-invalid-value", "overrides[1]")
    ]


def test_findings_of_an_override_point_at_it() -> None:
    result = ptcompile.compile(
        smallest(), filename="job.yaml", overrides=[("spec.nodes", 2), ("spec.nods", 1)]
    )
    assert [
        (diagnostic.name, diagnostic.filename, diagnostic.span) for diagnostic in result.diagnostics
    ] == [("spec-unknown-field", "overrides[1]", None)]


def test_overrides_apply_to_each_document() -> None:
    result = ptcompile.compile(smallest(), overrides=[("spec.args.0", "x")])
    assert not result.ok, "args is no list yet, and only a number in brackets makes one"
    result = ptcompile.compile(smallest(), overrides=[("spec.args[0]", "x")])
    assert result.unwrap()[0]["spec"]["containers"][0]["args"] == ["x"]
    result = ptcompile.compile(
        smallest("args: [a]"), overrides=[(("spec", "nodes"), 3), (("spec", "args", 0), "x")]
    )
    assert result.unwrap()[1]["spec"]["completions"] == 3


def test_error_in_one_document_does_not_stop_the_others() -> None:
    result = ptcompile.compile(smallest(name="a") + "---\n" + smallest("nods: 1", name="b"))
    assert [manifest["metadata"]["name"] for manifest in result.manifests] == ["a"]
    (diagnostic,) = result.diagnostics
    assert (diagnostic.document, diagnostic.resource) == (1, "TrainingJob/b")
    with pytest.raises(ptcompile.CompileError, match="PTC021") as caught:
        result.unwrap()
    assert caught.value.diagnostics == result.diagnostics


def test_yaml_and_json_read_back_as_the_manifests() -> None:
    result = ptcompile.compile(MAPPING)
    assert list(yaml.safe_load_all(result.yaml())) == list(result.manifests)
    assert json.loads(json.dumps(result.manifests)) == list(result.manifests)


def test_unknown_target_is_a_finding_with_a_suggestion() -> None:
    (diagnostic,) = ptcompile.compile(smallest(), target="volcanoo").diagnostics
    assert (diagnostic.name, diagnostic.help) == ("unknown-target", "did you mean volcano?")


def test_finding_has_all_documented_fields() -> None:
    (diagnostic,) = ptcompile.compile(smallest("nods: 1"), filename="x.yaml").diagnostics
    assert (diagnostic.code, diagnostic.name, diagnostic.severity) == (
        "PTC021",
        "spec-unknown-field",
        "error",
    )
    assert (diagnostic.path, diagnostic.filename, diagnostic.document) == (
        ("spec", "nods"),
        "x.yaml",
        0,
    )
    assert diagnostic.span == (7, 3, 7, 7)
    assert (diagnostic.stage, diagnostic.authority) == ("apply", "ptcompile")


LINTED: list[tuple[Any, int, int]] = [
    (POD, 1, 0), (POD.encode(), 1, 0), (yaml.safe_load(POD), 1, 0), (BAD_POD, 1, 1), (POD + "---\n" + BAD_POD, 2, 1),
    (smallest(), 1, 0), (smallest("nods: 1"), 1, 1), (PROFILE, 1, 0), (PROFILE.replace("labels", "label"), 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("source", "documents", "errors"), LINTED)
def test_lint_counts_the_documents_and_errors_of_any_source(
    source: Any, documents: int, errors: int
) -> None:
    report = ptcompile.lint(source)
    assert report.documents == documents
    assert report.ok == (errors == 0)
    assert bool(report.diagnostics) == bool(errors)


def test_items_of_a_list_keep_their_paths() -> None:
    items = [yaml.safe_load(POD), yaml.safe_load(BAD_POD)]
    report = ptcompile.lint({"apiVersion": "v1", "kind": "List", "items": items})
    assert {diagnostic.path[:2] for diagnostic in report.diagnostics} == {("items", 1)}
    assert {diagnostic.resource for diagnostic in report.diagnostics} == {"Pod/p"}


def test_item_that_is_not_an_object_is_reported() -> None:
    """Nothing is skipped silently (CONTRIBUTING.md#house-rules)."""
    report = ptcompile.lint(
        {"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(POD), "x", None]}
    )
    assert not report.ok


def test_unknown_kind_is_counted_or_rejected() -> None:
    source = POD.replace("v1\nkind: Pod", "x.y/v1\nkind: Foo")
    report = ptcompile.lint(source)
    assert report.ok
    assert report.unchecked == ("x.y/v1 Foo/p",)
    assert not ptcompile.lint(source, unknown_kinds="error").ok


@pytest.mark.parametrize(
    "source", ["", "---\n", "# x\n", "a: [", "\x00", b"\xff\xfe\xff", "- a", "x", {}, {"kind": 5}]
)
def test_nothing_raises(source: Any) -> None:
    """No input makes it raise (CONTRIBUTING.md#laws 7)."""
    assert not ptcompile.compile(source).ok
    ptcompile.lint(source)


def test_compile_is_repeatable() -> None:
    assert ptcompile.compile(MAPPING) == ptcompile.compile(MAPPING)
    assert ptcompile.lint(BAD_POD) == ptcompile.lint(BAD_POD)


def test_the_name_of_a_run_replaces_that_of_the_job() -> None:
    made = ptcompile.compile(
        smallest("nodes: 2", name="sft"), target="jobset", name="run-7"
    ).unwrap()
    assert made[-1]["metadata"]["name"] == "run-7"
    assert "sft" not in str(made)
    wrong = ptcompile.compile(smallest(), filename="job.yaml", name="Run_7")
    assert [
        (diagnostic.path, diagnostic.filename, diagnostic.span) for diagnostic in wrong.diagnostics
    ] == [(("metadata", "name"), "name=", None)]
    two = ptcompile.compile(smallest(name="a") + "---\n" + smallest(name="b"), name="run-7")
    assert [
        (diagnostic.name, diagnostic.filename, diagnostic.document)
        for diagnostic in two.diagnostics
    ] == [("spec-conflict", "name=", 1)]


GPUS = "nodes: 2\nresources: {gpu: 8}"
ERROR = {"best-effort-gpus": "error"}


def test_a_rule_s_error_removes_the_manifests_of_its_document_unless_it_is_ignored() -> None:
    assert ptcompile.compile(smallest(GPUS)).manifests
    refused = ptcompile.compile(smallest(GPUS), severity=ERROR)
    assert refused.manifests == ()
    assert not refused.ok
    assert [d.severity for d in refused.diagnostics] == ["error"]
    ignored = ptcompile.compile(
        smallest(GPUS + "  # ptcompile: ignore[best-effort-gpus]"), severity=ERROR
    )
    assert ignored.ok
    assert ignored.diagnostics == ()
    assert ignored.manifests == ptcompile.compile(smallest(GPUS), lint=False).manifests
    both = ptcompile.compile(smallest(GPUS, "a") + "---\n" + smallest("", "b"), severity=ERROR)
    assert {manifest["metadata"]["name"] for manifest in both.manifests} == {"b"}
    assert ptcompile.compile(smallest(GPUS), lint=False).diagnostics == ()


def test_only_a_result_with_one_job_has_a_handle() -> None:
    result = ptcompile.compile(smallest("nodes: 2"))
    assert result.handle == result.handles[0]
    assert result.handle.job.name == "train"
    two = ptcompile.compile(smallest("", "a") + "---\n" + smallest("", "b"))
    assert [handle.job.name for handle in two.handles] == ["a", "b"]
    with pytest.raises(ValueError, match="the result has 2 jobs; `handles` has one for each"):
        _ = two.handle
    with pytest.raises(ptcompile.CompileError):
        _ = ptcompile.compile(smallest("nods: 2")).handle


def test_explain_runs_the_rules_unless_it_is_told_not_to() -> None:
    explained = ptcompile.explain(smallest(GPUS), severity=ERROR)
    assert [d.severity for d in explained.diagnostics] == ["error"]
    assert not explained.ok
    assert explained.causes
    assert ptcompile.explain(smallest(GPUS), lint=False).diagnostics == ()
    assert ptcompile.explain(smallest(GPUS), ignore=["best-effort-gpus"]).diagnostics == ()
    with pytest.raises(ValueError, match="no rule"):
        ptcompile.explain(smallest(), select=["nothing"])
