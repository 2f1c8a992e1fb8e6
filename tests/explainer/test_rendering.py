"""Explanations as text and as JSON."""

from __future__ import annotations

import json

import jsonschema
import pytest

import ptcompile
from ptcompile.explainer.explanation import Explanation
from tests.conftest import ROOT, Case, pair_name, thinned
from tests.explainer.cases import SOME, explained
from tests.making import smallest
from tests.recordings import AGAIN, RECORDINGS, recorded

SCHEMA = json.loads((ROOT / "schemas" / "explanation.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

CLUSTER = """\
kind: ClusterProfile
spec:
  gpu:
    tolerations: [{key: nvidia.com/gpu, operator: Exists}]
"""


def _explain(body: str, target: str | None = None, cluster: str | None = None) -> Explanation:
    return ptcompile.explain(
        smallest(body),
        target=target,
        cluster=cluster,
        filename="job.yaml",
        cluster_filename="prod.yaml",
    )


def test_one_path_is_explained_with_its_lines() -> None:
    text = _explain("resources: {gpu: 2}", "pod", CLUSTER).text("tolerations")
    assert (
        text
        == """\
spec.tolerations[0].key: nvidia.com/gpu
spec.tolerations[0].operator: Exists
  written by  the pass tolerations
  rule        Pods that request an accelerator tolerate the taints of its nodes: the profile's, else the taint named \
after the resource. Spot jobs and resources with their own taints get tolerations too. Yours come first.
  value from  prod.yaml:4:25  spec.gpu.tolerations[0].{key, operator}
              4 | tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  there for   job.yaml:7:20  spec.resources.gpu
              7 | resources: {gpu: 2}
"""
    )


def test_profile_lines_count_from_the_start_of_the_file() -> None:
    beside = "kind: ConfigMap\ndata: {}\n---\n"
    text = _explain("resources: {gpu: 2}", "pod", beside + CLUSTER).text("tolerations")
    assert "value from  prod.yaml:7:25  spec.gpu.tolerations[0].{key, operator}" in text


def test_the_built_in_profile_has_values_and_no_lines() -> None:
    text = _explain("resources: {gpu: 2}", "pod").text("tolerations[0].key")
    assert "value from  the built-in profile  spec.gpu.resourceName: nvidia.com/gpu" in text
    other = _explain(
        "resources: {gpu: 2}", "pod", "kind: ClusterProfile\nspec: {queueSystem: kueue}\n"
    )
    shown = other.text("tolerations[0].key")
    assert "value from  the profile's default  spec.gpu.resourceName: nvidia.com/gpu" in shown


def test_a_value_without_an_input_line_says_so() -> None:
    assert "  value from  nothing in the spec or the profile\n" in _explain("").text("medium")


def test_several_objects_have_headings() -> None:
    text = _explain("nodes: 2", "job").text("kind")
    assert text.startswith("# Service/train\nkind: Service\n  written by  the target job\n")
    assert "\n\n# Job/train\nkind: Job\n" in text
    assert not _explain("", "pod").text("kind").startswith("#")


def test_many_lines_are_counted() -> None:
    variables = "\n".join(f"  A{i}: 'a'" for i in range(9))
    text = _explain(f"env:\n{variables}", "pod").text("env")
    assert text.count("written by") == 9
    explanation = _explain(f"env:\n{variables}", "pod")
    first = explanation.causes[0]
    inputs = tuple(line for cause in explanation.at("env") for line in cause.inputs)
    many = explanation._replace(causes=(first._replace(inputs=inputs),))
    assert "              and 3 lines more\n" in many.text(first.shown)


def test_decoded_input_has_paths_and_values_instead_of_lines() -> None:
    spec = {
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {"image": "i:1", "script": "t.py"},
    }
    assert "value from  the spec  spec.image: i:1\n" in ptcompile.explain(spec).text("image")


def test_the_trace_lists_what_each_pass_added() -> None:
    lines = _explain("nodes: 2\nresources: {cpu: 1}", "job").text().splitlines()
    assert lines[0] == "TrainingJob/train -> Service/train, Job/train  (target job: requested)"
    assert "resources:" in lines
    assert (
        '  + spec.containers[pytorch].resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}'
        in lines
    )
    assert "placement: nothing to do" in lines
    assert "  + spec.volumes: [{name: shm, emptyDir: {medium: Memory}}]" in lines
    assert lines[lines.index("target job:") + 1 :][:2] == [
        "  + Service: apiVersion: v1",
        "  + Service: kind: Service",
    ]


@pytest.mark.parametrize(
    ("body", "target", "why"),
    [
        ("", None, "what the job needs"),
        ("target: pod", None, "spec.target"),
        ("target: job", "pod", "requested"),
    ],
)
def test_the_first_line_says_who_chose_the_target(body: str, target: str | None, why: str) -> None:
    assert f"(target pod: {why})" in _explain(body, target).text().splitlines()[0]


SECRETS = [
    (
        'env: {HF_TOKEN: hunter2, NEXT: "1", A_KEY: hunter2}',
        'env: {HF_TOKEN: ***, NEXT: "1", A_KEY: ***}',
    ),
    ("env:\n  HF_TOKEN: |\n    hunter2\n    hunter2\n  NEXT: '1'", "NEXT: '1'"),
    ("env:\n  HF_TOKEN: \"hunter2\n    hunter2\"\n  NEXT: '1'", "NEXT: '1'"),
    ('env: {HF_TOKEN: "hunter2\n    hunter2", NEXT: "1"}', '***, NEXT: "1"}'),
]


@pytest.mark.parametrize(("body", "line"), SECRETS)
def test_no_text_contains_a_secret(body: str, line: str) -> None:
    explanation = _explain(body, "pod")
    assert explanation.ok, explanation.diagnostics
    assert line in explanation.text("env.NEXT")
    everything = (
        explanation.text("env")
        + explanation.text()
        + json.dumps(explanation.to_dict())
        + repr(explanation.texts)
    )
    assert "hunter2" not in everything
    assert "***" in explanation.text("env.HF_TOKEN")


def test_control_characters_are_escaped() -> None:
    explanation = _explain('env: {X: "\\e[31m"}', "pod")
    assert "\x1b" not in explanation.text("env") + explanation.text()


@pytest.mark.parametrize(("case", "target"), thinned(SOME, 5), ids=pair_name)
def test_json_matches_its_schema(case: Case, target: str) -> None:
    data = json.loads(json.dumps(explained(case, target).explanation.to_dict()))
    VALIDATOR.validate(data)


def test_the_schema_is_valid_and_closed() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    data = json.loads(json.dumps(_explain("").to_dict()))
    data["causes"][0]["more"] = 1
    assert not VALIDATOR.is_valid(data)


def test_explanations_of_a_pytorchjob_are_as_recorded() -> None:
    assert RECORDINGS["explainer/pytorchjob.txt"]() == recorded("explainer/pytorchjob.txt"), AGAIN
