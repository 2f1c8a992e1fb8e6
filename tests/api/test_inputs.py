"""What a verb was given: sources read once, and one answer to what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.api.inputs import File, Inputs, read_beside
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.index import Objects
from ptcompile.source import streams
from tests.making import smallest

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: a}\nspec: {}\n"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: runs.acme.io}
spec:
  group: acme.io
  scope: Namespaced
  names: {plural: runs, singular: run, kind: Run, listKind: RunList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


def names(inputs: Inputs) -> list[tuple[str, str]]:
    return [(diagnostic.name, diagnostic.severity) for diagnostic in inputs.diagnostics]


def test_objects_and_specs_of_all_files_are_in_order() -> None:
    texts = {"a.yaml": f"{POD}---\n{smallest(name='one')}", "b.yaml": smallest(name="two")}
    files = [File(streams.read(text, name), name) for name, text in texts.items()]
    inputs = Inputs(files)
    assert [item.manifest["kind"] for item in inputs.items] == ["Pod", "TrainingJob", "TrainingJob"]
    assert [item.file.name for item in inputs.specs] == ["a.yaml", "b.yaml"]
    assert [item.manifest["kind"] for item in inputs.objects] == ["Pod"]
    assert inputs.filename is None, "a finding about all files is not about one of them"


def test_an_item_of_a_list_has_its_path_and_its_line() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n"
    (item,) = Inputs.read(text, filename="a.yaml").items
    diagnostic = item.to_diagnostic(
        Problem("wrong-type", ("metadata", "name"), "metadata.name: no")
    )
    assert (diagnostic.path, diagnostic.resource) == (
        ("items", 0, "metadata", "name"),
        "ConfigMap/a",
    )
    assert diagnostic.span is not None
    assert diagnostic.span.line == 6


def test_a_compiled_manifest_stands_at_its_spec() -> None:
    inputs = Inputs.read(smallest(name="t"), filename="t.yaml")
    items, diagnostics = inputs.compile_specs("job")
    assert diagnostics == ()
    assert [(item.manifest["kind"], item.is_compiled, item.is_spec) for item in items] == [
        ("Job", True, False)
    ]
    diagnostic = items[0].to_diagnostic(
        Problem("never-admitted", ("spec", "image"), "spec.image: no")
    )
    assert (diagnostic.resource, diagnostic.filename) == ("TrainingJob/t", "t.yaml")
    assert diagnostic.span is not None


def test_a_spec_compiles_for_its_own_target_before_the_fallback() -> None:
    inputs = Inputs.read(f"{smallest('target: jobset', 'own')}---\n{smallest(name='free')}")
    kinds = [item.manifest["kind"] for item in inputs.compile_specs(fallback="pytorchjob").items]
    assert kinds == ["JobSet", "PyTorchJob"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_a_source_without_a_document_is_one_finding(text: str) -> None:
    assert names(Inputs.read(text)) == [("no-documents", "error")]


def test_all_mistakes_are_in_one_order() -> None:
    inputs = Inputs.read(
        f"{smallest()}---\na: [\n",
        cluster="kind: ClusterProfile\nspec: {gpus: 1}\n",
        overrides=[("spec.[", 1)],
    )
    assert [name for name, _ in names(inputs)] == [
        "spec-unknown-field",
        "spec-invalid-value",
        "yaml-syntax",
    ]
    assert inputs.has_wrong_settings


def test_a_duplicate_key_is_an_error_only_where_a_spec_may_be() -> None:
    twice = POD + "spec: {}\n"
    assert names(Inputs.read(twice)) == [("duplicate-key", "warning")]
    assert not Inputs.read(twice).has_error
    assert ("duplicate-key", "error") in names(Inputs.read(smallest("image: img:2")))


def test_a_profile_among_the_files_is_not_read_in_silence() -> None:
    assert names(Inputs.read(f"{POD}---\n{PROFILE}")) == [("unknown-kind", "warning")]
    assert names(Inputs.read(f"{POD}---\n{PROFILE}", cluster=PROFILE)) == []


def test_overrides_change_specs_and_a_name_only_one() -> None:
    text = f"{POD}---\n{smallest(name='a')}---\n{smallest(name='b')}"
    inputs = Inputs.read(text, overrides=[("spec.nodes", 3)])
    assert [item.manifest["spec"]["nodes"] for item in inputs.specs] == [3, 3]
    assert inputs.objects[0].overridden is None

    named = Inputs.read(text, name="run")
    assert [item.manifest["metadata"]["name"] for item in named.specs] == ["run"]
    assert names(named) == [("spec-conflict", "error")]


def test_a_problem_that_an_override_causes_is_the_overrides() -> None:
    (spec,) = Inputs.read(smallest(), filename="a.yaml", overrides=[("spec.nodes", 0)]).specs
    diagnostic = spec.to_diagnostic(
        Problem("spec-invalid-value", ("spec", "nodes"), "spec.nodes: no")
    )
    assert diagnostic.filename == "overrides[0]"


def test_a_spec_without_a_place_for_an_override_is_left_out() -> None:
    inputs = Inputs.read(smallest(), overrides=[("spec.args[4]", "x")])
    assert inputs.specs == []
    assert inputs.has_error


def test_kinds_are_defined_by_schemas_by_files_and_by_other_files(tmp_path: Path) -> None:
    path = tmp_path / "crd.yaml"
    path.write_text(CRD, encoding="utf-8")
    for inputs in (
        Inputs.read(CRD),
        Inputs.read(POD, beside=[CRD]),
        Inputs.read(POD, schemas=[path]),
    ):
        assert inputs.definitions is not None
        assert ("acme.io/v1", "Run") in inputs.definitions.kinds
    assert Inputs.read(POD).definitions is None


def test_objects_of_other_files_are_read_once() -> None:
    beside = read_beside([POD, {"apiVersion": "v1", "kind": "ConfigMap"}])
    assert [manifest["kind"] for manifest in beside] == ["Pod", "ConfigMap"]
    assert read_beside(beside) is beside
    assert Inputs.read(POD, beside=beside).related is beside
    assert Inputs.read(POD).beside is None
    assert [*Inputs.read(POD).related] == [*Objects()]
    with pytest.raises(TypeError, match="beside must be a list, not str"):
        read_beside(POD)


def test_text_is_read_as_the_kubectl_of_the_profile_reads_it() -> None:
    profile = PROFILE.replace("spec: {}", 'spec: {versions: {kubernetes: "1.34"}}')
    assert Inputs.read(POD, cluster=profile).versions.kubernetes == (1, 34)
    assert Inputs.read(POD, cluster=profile, kubernetes="1.33").versions.kubernetes == (1, 33)


def test_an_override_of_a_spec_in_a_list_is_an_error() -> None:
    """Otherwise the spec would compile without the change."""
    spec = smallest().replace("\n", "\n  ")
    inputs = Inputs.read(
        f"apiVersion: v1\nkind: List\nitems:\n- {spec}\n", overrides=[("spec.nodes", 3)]
    )
    assert inputs.specs == []
    assert names(inputs) == [("spec-conflict", "error")]


def test_a_wrong_profile_is_not_advised_again() -> None:
    inputs = Inputs.read(f"{POD}---\n{PROFILE}", cluster="kind: ClusterProfile\nspec: {gpus: 1}\n")
    assert [name for name, _ in names(inputs)] == ["spec-unknown-field"]
