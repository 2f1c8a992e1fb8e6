"""Keys of a stream's objects, by which they are compared with other files of the folder."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.linter.repeated import object_key

POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}


def test_the_key_has_the_group_without_its_version() -> None:
    job = {**POD, "apiVersion": "batch/v1", "kind": "Job"}
    assert object_key(POD, None) == ("", "Pod", "default", "x")
    assert object_key(job, None) == ("batch", "Job", "default", "x")


@pytest.mark.parametrize(
    "metadata", [None, {}, "x", {"name": 3}, {"name": ""}, {"name": "x", "namespace": "${NS}"}]
)
def test_an_object_without_a_written_name_has_no_key(metadata: Any) -> None:
    assert object_key({**POD, "metadata": metadata}, None) is None


def test_kinds_of_given_definitions_have_keys(tmp_path: Any) -> None:
    crd = tmp_path / "crd.yaml"
    crd.write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.acme.io}\n"
        "spec:\n  group: acme.io\n  names: {kind: Thing, plural: things}\n  scope: Namespaced\n"
        "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
    )
    thing = "apiVersion: acme.io/v1\nkind: Thing\nmetadata: {name: x}\n"
    assert not ptcompile.lint(thing, earlier={}).objects
    ((key, digest),) = ptcompile.lint(thing, earlier={}, schemas=[crd]).objects
    assert (key, len(digest)) == (("acme.io", "Thing", "default", "x"), 32)


def test_only_the_first_of_two_objects_in_a_file_is_compared() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"
    report = ptcompile.lint(text, earlier={("", "Secret", "default", "x"): "a.yaml"})
    assert [
        (diagnostic.document, "a.yaml" in diagnostic.message) for diagnostic in report.diagnostics
    ] == [
        (0, True),
        (1, False),
    ]
    assert len(report.objects) == 1


def test_a_spec_has_a_key_whatever_its_name_means_elsewhere() -> None:
    spec = {"apiVersion": "ptcompile/v1", "metadata": {"name": "x"}, "spec": {}}
    assert object_key({**spec, "kind": "TrainingJob"}, None) == (
        "ptcompile",
        "TrainingJob",
        "default",
        "x",
    )
    assert object_key({**spec, "kind": "ClusterProfile"}, None) is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", 32),
        (
            "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: x}\nspec: {image: 'a:1', script: t.py}\n",
            0,
        ),
        ("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {}\n", 0),
    ],
)
def test_jobs_are_created_so_their_content_does_not_matter(text: str, length: int) -> None:
    ((_, digest),) = ptcompile.lint(text, earlier={}).objects
    assert len(digest) == length
