"""What import says about an attempt: its proof, the remaining differences, and the comments of the spec."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Problem
from ptcompile.differ import ObjectDifference
from ptcompile.differ.model import Change, Fact
from ptcompile.importer.attempt import (
    Attempt,
    Proof,
    _candidate_specs,
    _rank_patches,
    comments,
    compile_errors,
    differences,
    import_object,
    inline_runtime,
    prove_spec,
    without_nulls,
)
from ptcompile.importer.candidate import Candidate
from ptcompile.kinds.reading import Read, ReadRole
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.growing import jobs
from tests.making import smallest, text

JOB = "Job/train"


def attempt(
    *objects: ObjectDifference,
    spec: dict[str, Any] | None = None,
    lifted: bool = False,
    words: tuple[str, ...] = (),
) -> Attempt:
    """Return an attempt with this proof, whose job starts with these words."""
    template = {
        "spec": {
            "containers": [{"name": "side", "args": ["a"]}, {"name": "main", "command": [*words]}]
        }
    }
    read = Read("job", (ReadRole("node", 1, template, None, "main", None),))
    return Attempt(
        Candidate({"spec": spec or {}}, None), Proof(objects, (), compiled=True), read, lifted
    )


def changed(*path: str, kind: Any = "changed") -> ObjectDifference:
    """Return an object with one changed field."""
    return ObjectDifference(JOB, JOB, changes=(Change(path, kind, 1, 2),))


@pytest.mark.parametrize(
    ("difference", "lifted", "sentences"),
    [
        (ObjectDifference(JOB, JOB), False, []),
        (ObjectDifference(None, "Service/a"), False, ["Service/a is new"]),
        (ObjectDifference("Service/a", None), False, ["Service/a is gone"]),
        (changed("spec", "suspend"), False, [f"{JOB}: spec.suspend is changed"]),
        (changed("spec", "a", kind="removed"), True, [f"{JOB}: spec.a is removed"]),
        (
            changed("spec", "containers", "[c]", "args", "[0]"),
            False,
            [f"{JOB}: spec.containers.[c].args.[0] is changed"],
        ),
        (changed("spec", "containers", "[c]", "args", "[0]"), True, []),
        (changed("spec", "containers", "[c]", "command"), True, []),
        (
            ObjectDifference(
                JOB, JOB, facts=(Fact("job", "pods", "1", "2"), Fact("rank 0", "env A", None, "x"))
            ),
            False,
            ["job: pods changes from 1 to 2", "rank 0: env A changes from absent to x"],
        ),
        (
            ObjectDifference(
                JOB,
                JOB,
                facts=(Fact("job", "env A", "x", None),),
                changes=(Change(("spec",), "moved"),),
            ),
            False,
            ["job: env A changes from x to absent"],
        ),
    ],
)
def test_each_difference_has_its_sentence(
    difference: ObjectDifference, lifted: bool, sentences: list[str]
) -> None:
    assert list(differences(attempt(difference, lifted=lifted))) == sentences


@pytest.mark.parametrize(
    ("objects", "compiled", "same_world", "same_manifest"),
    [
        ((), True, True, True),
        ((), False, False, False),
        ((ObjectDifference(JOB, JOB),), True, True, True),
        ((changed("spec"),), True, True, False),
        ((ObjectDifference(JOB, JOB, facts=(Fact("job", "pods", "1", "2"),)),), True, False, False),
        ((ObjectDifference(None, JOB),), True, False, False),
        ((ObjectDifference(JOB, None), ObjectDifference(JOB, JOB)), True, False, False),
    ],
)
def test_the_proof_tells_world_and_manifest_apart(
    objects: tuple[ObjectDifference, ...], compiled: bool, same_world: bool, same_manifest: bool
) -> None:
    proof = Proof(objects, (), compiled)
    assert (proof.same_world, proof.same_manifest) == (same_world, same_manifest)


def test_only_errors_keep_a_spec_from_compiling() -> None:
    error, warning = Problem("a", (), "m"), Problem("b", (), "m", severity="warning")
    proof = Proof((), (error, warning), compiled=False)
    assert list(compile_errors(attempt()._replace(proof=proof))) == [error]


def test_nulls_are_absent_as_a_server_decodes_them() -> None:
    data = {
        "a": None,
        "b": [None, {"c": None, "d": 1}],
        "e": ["x", None],
        "f": [None],
        "g": 0,
        "h": False,
    }
    assert without_nulls(data) == {
        "b": [{}, {"d": 1}],
        "e": ["x", ""],
        "f": [{}],
        "g": 0,
        "h": False,
    }


LONG = ["torchrun", *["--rdzv-conf=read_timeout=600"] * 3]
COMMENTS: list[tuple[dict[str, Any], dict[tuple[str, ...], str]]] = [
    (
        {"sharedMemory": False},
        {("sharedMemory",): "none in the manifest; delete this line to get one (PTC302)"},
    ),
    ({"sharedMemory": True}, {}),
    (
        {"runPolicy": {"backoffLimit": "Unlimited"}},
        {("runPolicy",): "no limit in the manifest: restarts forever (PTC717)"},
    ),
    ({"runPolicy": {"backoffLimit": 3}}, {}),
    (
        {"command": ["torchrun", "t.py"]},
        {("command",): "kept as is: script and elastic would not mean the same"},
    ),
    (
        {"command": ["python", "-m", "torch.distributed.run"]},
        {("command",): "kept as is: script and elastic would not mean the same"},
    ),
    ({"command": ["python", "t.py"]}, {}),
    ({"nodes": 2, "elastic": {"nnodes": "2:4"}}, {("nodes",): "at the start"}),
    ({"nodes": 2, "elastic": {"nnodes": 2}}, {}),
    ({"elastic": {"nnodes": "2:4"}}, {}),
    (
        {"elastic": {"maxRestarts": None}},
        {("elastic",): "null: left to torchrun, as in the manifest"},
    ),
    (
        {"elastic": {"rdzv": {"a": None}}},
        {("elastic",): "null: left to torchrun, as in the manifest"},
    ),
    ({"elastic": {"rdzv": {"a": 1}}}, {}),
    ({"names": {"container": "a"}}, {}),
    (
        {"names": {"container": "a", "master": "b"}},
        {("names",): "host names are derived from them"},
    ),
    ({"manifest": {}}, {("manifest",): "for this target only: no spec field expresses it"}),
    ({"env": {"A": None}}, {("env",): "null: not in the manifest"}),
    ({"env": {"A": ""}}, {}),
    ({"resources": {"requests": {"cpu": 1}}}, {("resources",): "requests without limits"}),
    ({"resources": {"requests": {"cpu": 1}, "limits": {"cpu": 1}}}, {}),
    (
        {"master": {"env": {"A": None}}, "worker": {"resources": {"requests": {"cpu": 1}}}},
        {
            ("master", "env"): "null: not in the manifest",
            ("worker", "resources"): "requests without limits",
        },
    ),
    ({"worker": 3}, {}),
]


@pytest.mark.parametrize(("spec", "expected"), COMMENTS)
def test_comments_name_what_a_reader_must_know(
    spec: dict[str, Any], expected: dict[tuple[str, ...], str]
) -> None:
    assert comments(attempt(spec=spec)) == {
        ("spec", *path): text for path, text in expected.items()
    }


@pytest.mark.parametrize(
    ("spec", "words", "comment"),
    [
        (
            {"script": "t.py"},
            ("torchrun", "--nnodes=2", "t.py", "--lr"),
            {("spec", "script"): "was: torchrun --nnodes=2"},
        ),
        ({"module": "m"}, ("torchrun", "-m", "m"), {("spec", "module"): "was: torchrun -m"}),
        (
            {"script": "t.py"},
            ("bash", "-c", "set -e\ntorchrun t.py a"),
            {("spec", "script"): "was: torchrun"},
        ),
        ({"script": "t.py"}, ("bash", "-c", "a\nb"), {("spec", "script"): "was: bash ..."}),
        ({"script": "t.py"}, tuple(LONG), {("spec", "script"): "was: torchrun ..."}),
        ({"script": "t.py"}, ("a" * 80, "t.py"), {("spec", "script"): f"was: {'a' * 80}"}),
        ({"script": "t.py"}, ("a" * 81, "t.py"), {("spec", "script"): f"was: {'a' * 81} ..."}),
        ({"script": "t.py"}, (), {("spec", "script"): "was: torchrun"}),
    ],
)
def test_a_comment_quotes_the_original_launch(
    spec: dict[str, Any], words: tuple[str, ...], comment: dict[Any, str]
) -> None:
    assert comments(attempt(spec=spec, lifted=True, words=words)) == comment


def job(*words: str, **fields: Any) -> dict[str, Any]:
    """Return a Job with one container."""
    container = {"name": "a", "image": "i:1", "command": [*words]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"template": template, **fields},
    }


@pytest.mark.parametrize(("exact", "lifted"), [(False, True), (True, False)])
def test_a_command_is_rewritten_unless_the_fields_must_stay(exact: bool, lifted: bool) -> None:
    manifest = job("torchrun", "--standalone", "train.py")
    best = import_object(manifest, Objects([manifest]), ClusterProfile(), exact=exact).best
    assert best is not None
    assert best.lifted is lifted
    assert best.proof.same_world
    assert ("command" in best.spec["spec"]) is not lifted
    assert list(differences(best)) == []


def test_a_field_without_a_spec_field_is_patched() -> None:
    manifest = job("python", "train.py", podReplacementPolicy="Failed")
    best = import_object(manifest, Objects([manifest]), ClusterProfile(), exact=False).best
    assert best is not None
    assert best.proof.same_manifest
    assert best.spec["spec"]["manifest"] == {"job": {"spec": {"podReplacementPolicy": "Failed"}}}


def test_a_rewritten_command_leaves_the_other_fields_to_a_patch() -> None:
    manifest = job("torchrun", "--standalone", "train.py", podReplacementPolicy="Failed")
    best = import_object(manifest, Objects([manifest]), ClusterProfile(), exact=False).best
    assert best is not None
    assert best.lifted
    assert best.spec["spec"]["manifest"] == {"job": {"spec": {"podReplacementPolicy": "Failed"}}}
    assert list(differences(best)) == []


def test_objects_of_the_same_name_elsewhere_are_neither_new_nor_gone() -> None:
    objects = list(
        ptcompile.compile(text("image: i:1\nscript: t.py\nnodes: 2"), target="job").manifests
    )
    (manifest,) = (one for one in objects if one["kind"] == "Job")
    (service,) = (one for one in objects if one["kind"] == "Service")
    namesake = {**service, "metadata": {**service["metadata"], "namespace": "elsewhere"}}
    for others, patches in (
        ([*objects, namesake], None),
        ([manifest, namesake], {"job/Service": None}),
    ):
        best = import_object(manifest, Objects(others), ClusterProfile(), exact=False).best
        assert best is not None
        assert best.proof.same_manifest
        assert best.spec["spec"].get("manifest") == patches
        assert not [one.after for one in best.proof.objects if one.before is None]
        assert [one.before for one in best.proof.objects if one.after is None] == []


def test_a_spec_without_a_runtime_has_nothing_to_write_out() -> None:
    assert inline_runtime({"spec": {}}, job("a"), Objects(()), ClusterProfile()) is None


def test_the_pods_of_a_runtime_are_written_out() -> None:
    manifests = ptcompile.compile(smallest("nodes: 2\nenv: {A: x}"), target="trainjob").manifests
    runtime, manifest = manifests
    spec = {"spec": {"runtimeRef": {"name": "r"}, "nodes": 9, "manifest": {"trainjob": {"a": 1}}}}
    assert inline_runtime(spec, manifest, Objects([manifest]), ClusterProfile()) is None
    inlined = inline_runtime(spec, manifest, Objects([runtime, manifest]), ClusterProfile())
    assert inlined is not None
    assert inlined["metadata"] == {"name": "train"}
    fields = {
        field: inlined["spec"][field]
        for field in ("image", "nodes", "env", "manifest", "restartPolicy")
    }
    assert fields == {
        "image": "img:1",
        "nodes": 2,
        "env": {"A": "x"},
        "manifest": {"trainjob": {"a": 1}},
        "restartPolicy": "Never",
    }
    assert "runtimeRef" not in inlined["spec"]


def test_a_spec_that_does_not_compile_proves_nothing() -> None:
    proof = prove_spec({"kind": "TrainingJob", "spec": {}}, job("a"), Objects(()), ClusterProfile())
    assert not proof.compiled
    assert not proof.same_world
    assert any(problem.severity == "error" for problem in proof.problems)


@pytest.mark.parametrize(
    ("value", "leaves"),
    [({}, 0), ({"a": [1, 2], "b": {"c": None, "d": []}}, 3), ("x", 1), (None, 1)],
)
def test_patched_fields_are_counted(value: object, leaves: int) -> None:
    assert _rank_patches({"spec": {"manifest": value}}) == leaves


@pytest.mark.parametrize(("policy", "specs"), [({}, 1), ({"minReplicas": 1, "maxReplicas": 2}, 2)])
def test_a_spec_without_the_torchrun_options_is_tried_last(
    policy: dict[str, int], specs: int
) -> None:
    container = {"name": "pytorch", "image": "i:1", "command": ["python", "t.py"]}
    worker = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    fields = {"pytorchReplicaSpecs": {"Worker": worker}, "elasticPolicy": policy}
    if not policy:
        fields = {"pytorchReplicaSpecs": {"Master": {**worker, "replicas": 1}, "Worker": worker}}
    manifest = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p"},
        "spec": fields,
    }
    read = next(iter(kind_named(kind_of(manifest)).read(manifest, Objects((manifest,)))))
    tried = list(
        _candidate_specs(manifest, read, Objects([manifest]), ClusterProfile(), exact=True)
    )
    assert len(tried) == specs
    assert not any(lifted for _, lifted in tried)
    assert ["elastic" in spec["spec"] for spec, _ in tried] == [True, False][2 - specs :]


def test_a_job_with_more_kinds_of_pods_than_a_spec_has_roles_is_refused_at_once() -> None:
    (refusal,) = ptcompile.import_manifests(jobs(300)).diagnostics
    assert refusal.code == "PTC602"
    assert "300 kinds of pods, and a spec has at most 256 roles" in refusal.message
