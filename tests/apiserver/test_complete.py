"""Objects that `structure.is_complete` accepts: same findings with and without the shortcuts for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from ptcompile import apiserver as package
from ptcompile._internal.schema_files import load
from ptcompile.apiserver import roundtrip, validate, webhooks
from ptcompile.apiserver.kinds import CUSTOM, resolve
from ptcompile.apiserver.structure import checks, is_complete, structure_violations
from ptcompile.apiserver.webhooks import webhook_rejection
from ptcompile.kinds.model import Established
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.jobset import admission as jobset
from ptcompile.operators.table import kind_named, templates_of
from ptcompile.operators.trainer import admission as trainer
from ptcompile.operators.volcano import admission as volcano
from tests.conftest import thinned
from tests.oracle import rows
from tests.places import places, put

Json = dict[str, Any]
OPERATORS = ("pytorchjob", "volcano", "jobset", "trainjob")
NEWEST, OLD = (
    Versions(),
    Versions(kubernetes=(1, 33), volcano=(1, 12), jobset=(0, 8), trainer=(2, 1)),
)
SERVER = ".".join(map(str, NEWEST.kubernetes))
ODD: tuple[Any, ...] = (
    None,
    4.0,
    True,
    2**31,
    "",
    "1e1.5",
    {},
    [],
    [None],
    {"name": None},
    {"limits": {"cpu": "1e1.5"}},
)
"""Values that a schema accepts but Go rejects, values that are equal to others, and values that both reject."""


def variants(operator: str, step: int) -> Iterator[Json]:
    """Yield recorded manifests with an odd value at one path, and with one template in all places."""
    choose = random.Random(operator)  # noqa: S311
    for _, manifest in thinned(rows(operator), step):
        yield manifest
        spec = [path for path in places(manifest) if path[0] == "spec"]
        for path in choose.sample(spec, min(3, len(spec))):
            yield put(manifest, path, choose.choice(ODD))
        yield from twins(manifest, choose)


def twins(manifest: Json, choose: random.Random) -> Iterator[Json]:
    """Yield the manifest with one of its templates in all places, and then with an odd value in the last of them."""
    references = [
        reference for reference in templates_of(manifest) if isinstance(reference.template, dict)
    ]
    if len(references) < 2:
        return
    for reference in references[1:]:
        manifest = put(
            manifest, reference.path, put(references[0].template, (), references[0].template)
        )
    yield manifest
    inside = list(places(references[0].template))
    if inside:
        yield put(manifest, (*references[-1].path, *choose.choice(inside)), choose.choice(ODD))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("versions", [NEWEST, OLD])
def test_shortcuts_change_no_problem(
    operator: str, versions: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = list(variants(operator, 7))
    short = [validate(manifest, versions=versions) for manifest in manifests]
    monkeypatch.setattr(package, "is_complete", lambda *_: False)
    monkeypatch.setattr(package, "Established", lambda **_: Established())
    assert len(manifests) > 300
    for manifest, problems in zip(manifests, short, strict=True):
        assert validate(manifest, versions=versions) == problems, manifest


@pytest.mark.parametrize("operator", OPERATORS)
def test_go_leaves_a_complete_object_unchanged(operator: str) -> None:
    complete_objects = 0
    for manifest in variants(operator, 5):
        kind = kind_of(manifest)
        webhook = kind_named(kind)
        assert webhook.rejects
        defaulted = webhook.default(manifest, complete=True)
        if is_complete(defaulted, kind, SERVER):
            complete_objects += 1
            assert webhook.default(manifest) == defaulted
            assert not structure_violations(defaulted, kind, SERVER)
            assert not list(
                webhooks.decode_problems(defaulted.get("spec"), webhook_rejection("volcano"))
            )
    assert complete_objects > 100


@pytest.mark.parametrize(
    ("kind", "shape", "loose"),
    [
        (("batch.volcano.sh/v1alpha1", "Job"), volcano.SPEC, volcano.LOOSE),
        (("jobset.x-k8s.io/v1alpha2", "JobSet"), jobset.SPEC, jobset.LOOSE),
        (("trainer.kubeflow.org/v1alpha1", "TrainJob"), trainer.SPEC, trainer.LOOSE),
    ],
)
def test_fields_that_go_writes_and_the_schema_does_not_require(
    kind: tuple[str, str], shape: roundtrip.FieldShapes, loose: roundtrip.FieldShapes
) -> None:
    document = CUSTOM[kind]
    expected = set(not_required(document, load(document)["properties"]["spec"], shape, ()))
    assert expected == set(always_written(loose, ())), kind


def not_required(
    document: str, schema: Json, shape: Any, path: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """Yield the fields of a shape that Go always writes but the schema does not require."""
    name = ""
    while "$ref" in schema or "x-in-crd" in schema:
        document, name = resolve(document, schema.get("x-in-crd") or schema["$ref"])
        schema = load(document)["$defs"][name]
    if isinstance(shape, list):
        yield from not_required(document, schema["items"], shape[0], (*path, "*"))
    elif shape != roundtrip.STRINGS:
        for key in shape.get(roundtrip.ZERO, {}):
            if key not in schema.get("required", ()) and checks._ALWAYS_WRITTEN.get(name) != key:
                yield (*path, key)
        for key, inner in shape.items():
            if key and key in schema.get("properties", {}):
                yield from not_required(document, schema["properties"][key], inner, (*path, key))


def always_written(shape: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(shape, list):
        yield from always_written(shape[0], (*path, "*"))
    elif shape != roundtrip.STRINGS:
        yield from ((*path, key) for key in shape.get(roundtrip.ZERO, {}))
        for key, inner in shape.items():
            if key:
                yield from always_written(inner, (*path, key))


@pytest.mark.parametrize("kind", sorted(CUSTOM))
def test_checked_fields_match_the_schemas(kind: tuple[str, str]) -> None:
    """The fields that `decode_problems` checks are amounts and 32-bit numbers wherever a schema has them."""
    document, seen = CUSTOM[kind], set[int]()
    pending = [(document, load(document)["properties"]["spec"])]
    while pending:
        document, schema = pending.pop()
        while "$ref" in schema or "x-in-crd" in schema:
            document, name = resolve(document, schema.get("x-in-crd") or schema["$ref"])
            schema = load(document)["$defs"][name]
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        for word, field in schema.get("properties", {}).items():
            if word in webhooks._AMOUNT_FIELDS:
                assert field["additionalProperties"]["$ref"].endswith("/Quantity"), (kind, word)
            elif word in webhooks._PORT_FIELDS:
                assert field.get("format") == "int32" or field["$ref"].endswith(
                    ("/IntOrString", "/int32")
                ), (
                    kind,
                    word,
                )
            pending.append((document, field))
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                pending.append((document, schema[key]))


TASK: Json = {
    "replicas": 1,
    "name": "t",
    "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}},
}


def volcano_job(*tasks: Json) -> Json:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "x"},
        "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": list(tasks)},
    }


def test_pod_level_resources_are_checked_in_the_template() -> None:
    """The server sets missing limits in a Pod, so only the template's rules report this (Kubernetes 1.36)."""
    task = put(
        TASK,
        ("template",),
        {"spec": {**TASK["template"]["spec"], "resources": {"requests": {"hugepages-2Mi": "2Mi"}}}},
    )
    problems = validate(volcano_job(task), versions=NEWEST)
    assert {(problem.name, problem.path[-2:]) for problem in problems} >= {
        ("webhook-refusal", ("resources", "limits"))
    }


def test_old_servers_reject_a_port_that_go_cannot_decode() -> None:
    """Servers before 1.36 do not limit a CRD's int32 to 32 bits; JobSet's webhook decodes it."""
    container = {"name": "c", "image": "x", "livenessProbe": {"grpc": {"port": 2**31}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "x"},
        "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": template}}}]},
    }
    problems = validate(job, versions=Versions(kubernetes=(1, 33)))
    assert [(problem.path[-1], problem.stage, problem.authority) for problem in problems] == [
        ("port", "apply", "jobset")
    ]


def test_equal_templates_of_different_types() -> None:
    """4.0 == 4 in Python, so plain equality is only enough without fractions."""
    security = {"securityContext": {"runAsUser": -1}}
    first = put(
        TASK,
        ("template", "spec"),
        {**TASK["template"]["spec"], "securityContext": {"runAsUser": -1.0}},
    )
    second = put(
        {**TASK, "name": "u"}, ("template", "spec"), {**TASK["template"]["spec"], **security}
    )
    problems = validate(volcano_job(first, second), versions=NEWEST)
    assert ("spec", "tasks", 1, "template", "spec", "securityContext", "runAsUser") in [
        problem.path for problem in problems
    ]
