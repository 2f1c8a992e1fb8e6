"""Documents that stand for several jobs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

import ptcompile
from ptcompile import compile, lint
from ptcompile._internal import limits
from ptcompile.diagnostics import Diagnostic
from tests.strategies import specs

LLAMA = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: llama}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  env: {LR: "1e-5"}
  resources: {gpu: 8, cpu: 32, memory: 256Gi}
variants:
  8b:    {nodes: 2, args: [--config, 8b.yaml]}
  70b:   {nodes: 16, args: [--config, 70b.yaml], accelerator: nvidia-h200, env: {LR: "5e-6", NCCL_DEBUG: WARN}}
  debug: {nodes: 1, resources: {gpu: 1, cpu: 4, memory: 32Gi}, args: [--config, 8b.yaml, --max-steps, "10"]}
"""
SWEEP = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: sft}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  args: [--lr, $(LR), --seed, $(SEED)]
  nodes: 2
  resources: {gpu: 8, cpu: 32, memory: 256Gi}
variants:
- lr-1e-5: {env: {LR: "1e-5"}}
  lr-3e-5: {env: {LR: "3e-5"}}
- s1: {env: {SEED: "1"}}
  s2: {env: {SEED: "2"}}
"""
HEAD = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: a}
spec: {image: "ghcr.io/acme/llama:2.1", script: train.py, nodes: 2}
"""


def names(result: ptcompile.Result) -> list[str]:
    """Return the names of the jobs that a result has."""
    return [
        manifest["metadata"]["name"]
        for manifest in result.manifests
        if manifest["kind"] != "Service"
    ]


def messages(text: str, **more: Any) -> list[str]:
    """Return the findings of a text, each with its line, in which compile and lint agree."""
    result = compile(text, **more)

    def shown(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
        return [f"{item.span.line if item.span else 0} {item.message}" for item in diagnostics]

    if not more:
        assert shown(result.diagnostics) == shown(lint(text).diagnostics)
    return shown(result.diagnostics)


def test_a_family_is_one_job_for_each_variant() -> None:
    result = compile(LLAMA)
    assert result.ok
    assert names(result) == ["llama-8b", "llama-70b", "llama-debug"]


def test_a_list_of_maps_is_their_product_the_first_the_slowest() -> None:
    assert names(compile(SWEEP)) == [
        "sft-lr-1e-5-s1",
        "sft-lr-1e-5-s2",
        "sft-lr-3e-5-s1",
        "sft-lr-3e-5-s2",
    ]


@pytest.mark.parametrize(
    ("chosen", "jobs"),
    [
        (["lr-3e-5"], ["sft-lr-3e-5-s1", "sft-lr-3e-5-s2"]),
        (["lr-3e-5-s2"], ["sft-lr-3e-5-s2"]),
        (["lr-1e-5-s1", "s2"], ["sft-lr-1e-5-s1", "sft-lr-1e-5-s2", "sft-lr-3e-5-s2"]),
    ],
)
def test_variants_are_chosen_by_their_names_or_the_whole_name(
    chosen: list[str], jobs: list[str]
) -> None:
    assert names(compile(SWEEP, variants=chosen)) == jobs


VALUES: dict[str, list[Any]] = {
    "nodes": [1, 2, 3],
    "args": [["--epochs", "3"], []],
    "env": [{"LR": "1e-5", "OLD": None}, {"TOKEN": {"secretKeyRef": {"name": "a", "key": "b"}}}],
    "queue": [None, "research"],
    "resources": [{"cpu": 3}, {"cpu": None, "memory": "7Gi"}],
    "podLabels": [{"team": "a"}, {"team": None}],
    "spot": [True, False],
    "sharedMemory": ["3Gi", False],
    "runPolicy": [{"ttlSecondsAfterFinished": 5}],
    "nodeSelector": [{"pool": "a"}],
    "terminationGracePeriodSeconds": [7, None],
}
PATCHES = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in VALUES.items()}
)


def _assignments(patch: dict[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Return what --set would be given: the entries of maps one by one."""
    pairs: list[tuple[tuple[str, ...], Any]] = []
    for field, value in patch.items():
        entries = value.items() if isinstance(value, dict) else [(None, value)]
        pairs += [(("spec", field, *([key] if key else [])), entry) for key, entry in entries]
    return pairs


@given(specs(), st.lists(PATCHES, min_size=1, max_size=3))
def test_a_family_is_as_many_calls_with_a_name_and_overrides(
    spec: dict[str, Any], patches: list[Any]
) -> None:
    variants = {f"v{number}": patch for number, patch in enumerate(patches)}
    base = spec["metadata"].get("name")
    if base is None:
        return
    for name, patch in variants.items():
        called = compile(spec, name=f"{base}-{name}", overrides=_assignments(patch))
        chosen = compile({**spec, "variants": variants}, variants=[name])
        assert chosen.manifests == called.manifests
        codes = [item.code for item in chosen.diagnostics]
        assert sorted(codes) == sorted(item.code for item in called.diagnostics)


def test_named_lists_merge_and_others_are_replaced() -> None:
    text = (
        HEAD
        + """\
variants:
  b:
    volumes: [{name: more, emptyDir: {}}]
    volumeMounts: [{name: data, mountPath: /data, readOnly: true}, {name: more, mountPath: /more}]
    env: {A: {configMapKeyRef: {name: c, key: d}}, B: null}
    roles: {ps: null}
"""
    )
    document = yaml.safe_load(text)
    document["spec"] |= {
        "volumes": [{"name": "data", "emptyDir": {}}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "env": {"A": {"secretKeyRef": {"name": "s", "key": "k"}}, "B": "x"},
        "roles": {"ps": {"command": ["x"]}},
    }
    (job,) = [item for item in compile(document, target="job").unwrap() if item["kind"] == "Job"]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert [volume["name"] for volume in pod["volumes"]][:2] == ["data", "more"]
    assert container["volumeMounts"][0] == {"name": "data", "mountPath": "/data", "readOnly": True}
    assert container["env"][0] == {
        "name": "A",
        "valueFrom": {"configMapKeyRef": {"name": "c", "key": "d"}},
    }
    assert "B" not in [entry["name"] for entry in container["env"]]


FAULTS = {
    "of a variant": (
        HEAD + "variants:\n  b: {nodes: 3}\n  c: {nods: 4}\n",
        ["7 variants.c.nods: unknown field in spec"],
    ),
    "of the base, once": (
        HEAD.replace("nodes: 2", "nodes: x") + "variants:\n  b: {args: [a]}\n  c: {args: [b]}\n",
        ["4 spec.nodes: 'x' is not a whole number"],
    ),
    "of a combination, at the line of the document": (
        HEAD + "variants:\n  b: {args: [a]}\n  c: {elastic: {nnodes: '3:4', maxRestarts: 3}}\n",
        [
            "4 spec.nodes: the job starts with 2 nodes, but elastic.nnodes allows 3 to 4 (in a-c: variants.c, line 7)"
        ],
    ),
    "of a product": (
        HEAD + "variants:\n- b: {nodes: 5}\n  c: {nodes: 3}\n- d: {elastic: {nnodes: '3:4'}}\n",
        ["6 variants[0].b.nodes: the job starts with 5 nodes, but elastic.nnodes allows 3 to 4"],
    ),
    "a path in two maps": (
        HEAD + "variants:\n- b: {env: {A: '1'}}\n- c: {env: {A: '2'}}\n",
        ["7 variants[1].c.env.A: variants[0].b.env.A sets it too, and no order of the two decides"],
    ),
    "a number": (
        HEAD + "variants:\n  1e-5: {nodes: 3}\n  on: {nodes: 4}\n",
        [
            "6 variants.1e-05: 1e-5 is read as a number, not as a name",
            "7 variants.true: on is read as true or false, not as a name",
        ],
    ),
    "a name that is none": (
        HEAD + "variants:\n  Big: {nodes: 3}\n",
        [
            "6 variants.Big: not a name for a variant: must have only lower case letters, digits and '-', and start "
            "and end with a letter or a digit"
        ],
    ),
    "no map": (HEAD + "variants: 3\n", ["5 variants: not a mapping of variants"]),
    "an empty list": (HEAD + "variants: []\n", ["5 variants: not a mapping of variants"]),
    "no fields": (HEAD + "variants: {b: 3}\n", ["5 variants.b: not a mapping"]),
    "one name twice": (
        HEAD
        + "variants:\n- {b: {nodes: 3}, b-c: {nodes: 4}}\n- {c-d: {args: [a]}, d: {args: [b]}}\n",
        ["5 variants: two jobs have the same name"],
    ),
    "a spec that is none": (
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: 3\nvariants: {b: {nodes: 3}}\n",
        ["4 spec: not a mapping"],
    ),
    "nested": (
        HEAD + "variants: {b: {variants: {c: {nodes: 3}}}}\n",
        ["5 variants.b.variants: unknown field in spec"],
    ),
    "no effect": (
        HEAD + "variants:\n  b: {nodes: 3}\n  c: {nodes: 3}\n",
        ["7 variants.c: no effect: c is the same job as b"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_at_its_line(fault: str) -> None:
    text, expected = FAULTS[fault]
    advice = 3 if fault == "of a product" else 0
    assert messages(text)[: len(expected)] == expected
    assert len(messages(text)) <= len(expected) + advice, "nothing is said twice"


def test_a_quoted_number_is_a_name() -> None:
    assert names(compile(HEAD + 'variants: {"1e-5": {nodes: 3}, "2": {nodes: 4}}\n')) == [
        "a-1e-5",
        "a-2",
    ]


def test_a_document_has_at_most_256_jobs() -> None:
    axes: list[dict[str, Any]] = [{f"v{number}": {} for number in range(20)} for _ in range(20)]
    (finding,) = compile({**yaml.safe_load(HEAD), "variants": axes}).diagnostics
    assert finding.message == f"variants: {20**20} jobs, and a document has at most 256"


def test_an_untrusted_document_has_at_most_32_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.UNTRUSTED])
    many = {f"v{number}": {"nodes": number + 1} for number in range(33)}
    (finding,) = compile({**yaml.safe_load(HEAD), "variants": many}).diagnostics
    assert finding.name == "too-large"


OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an unknown variant": ({"variants": ["7b"]}, ["9 variants: no variant '7b'"]),
    "an override of an unknown one": (
        {"overrides": [("variants.7b.nodes", 3)]},
        ["0 variants: no variant '7b'"],
    ),
    "an override that is wrong": (
        {"overrides": [("variants.70b.nodes", "x")]},
        ["0 variants.70b.nodes: 'x' is not a whole number"],
    ),
    "a wrong override of all": (
        {"overrides": [("spec.nodes", "x")]},
        ["0 spec.nodes: 'x' is not a whole number"],
    ),
    "a name for several": (
        {"name": "x"},
        ["0 metadata.name: 'x' names one job, and this is a second one"] * 2,
    ),
}


@pytest.mark.parametrize("options", OPTIONS)
def test_options_that_fit_no_variant_are_reported(options: str) -> None:
    keywords, expected = OPTIONS[options]
    assert {*messages(LLAMA, **keywords)} == {*expected}


def test_variants_may_not_be_named_without_any() -> None:
    assert messages(HEAD, variants=["b"]) == ["1 variants: the spec has no variants"]
    assert messages(HEAD, overrides=[("variants.b.nodes", 3)]) == [
        "0 variants: the spec has no variants"
    ]


def test_an_override_wins_over_every_variant_and_may_be_of_one() -> None:
    result = compile(
        SWEEP, target="job", overrides=[("spec.nodes", 4), ("variants.s2.env.SEED", "9")]
    )
    jobs = [item for item in result.manifests if item["kind"] == "Job"]
    assert {job["spec"]["parallelism"] for job in jobs} == {4}
    seeds = [job["spec"]["template"]["spec"]["containers"][0]["env"] for job in jobs]
    assert [next(entry["value"] for entry in env if entry["name"] == "SEED") for env in seeds] == [
        "1",
        "9",
        "1",
        "9",
    ]


def test_the_run_may_name_one_variant() -> None:
    assert names(compile(LLAMA, variants=["70b"], name="x")) == ["x"]


def test_a_generated_name_has_the_variant() -> None:
    text = HEAD.replace("{name: a}", "{generateName: a-}").replace("nodes: 2", "nodes: 1")
    (pod,) = compile(text + "variants: {b: {env: {A: '1'}}}\n", target="pod").unwrap()
    assert pod["metadata"]["generateName"] == "a-b-"


def test_explain_names_the_line_of_the_variant_and_the_one_it_replaces() -> None:
    explanation = ptcompile.explain(LLAMA, filename="llama.yaml", variants=["70b"])
    (cause,) = explanation.at("env[LR].value")
    first = cause.inputs[0]
    assert (first.path, first.span and first.span.line) == (("variants", "70b", "env", "LR"), 11)
    assert first.over == "spec.env.LR, line 7"
    assert "llama.yaml:11:86  variants.70b.env.LR, over spec.env.LR, line 7" in explanation.text(
        "env[LR].value"
    )


def test_verbs_that_look_at_one_job_list_the_variants() -> None:
    (finding,) = ptcompile.simulate(LLAMA).diagnostics
    assert finding.message == "variants: 3 jobs, and this looks at one"
    assert finding.help == "choose one with --variant: 8b, 70b, debug"
    assert len(ptcompile.simulate(LLAMA, target="jobset", variants=["70b"]).pods) == 16


def test_an_item_of_a_list_cannot_have_variants() -> None:
    document = yaml.safe_load(LLAMA)
    report = lint({"apiVersion": "v1", "kind": "List", "items": [document]})
    (finding,) = report.diagnostics
    assert (
        finding.message
        == "variants are of a TrainingJob that is a document, and this one is an item of a List"
    )


SHARED = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: a}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  args: [--lr, $(LR), --output-dir, DIR]
  nodes: 2
  volumes: [{name: kept, persistentVolumeClaim: {claimName: checkpoints}}]
  volumeMounts: [{name: kept, mountPath: /kept}]
variants:
  b: {env: {LR: "1", RUN: b}}
  c: {env: {LR: "2", RUN: c}}
  d: {args: [--output-dir, /kept/own]}
"""


def test_two_variants_that_write_to_one_folder_are_a_warning() -> None:
    (warning,) = messages(SHARED.replace("DIR", "/kept/run"))
    text = "7 spec.args[3]: a-b writes its checkpoints to /kept/run of the claim checkpoints too"
    assert warning == f"{text} (in a-c: variants.c, line 13)"
    assert messages(SHARED.replace("DIR", "/kept/$(RUN)")) == []
    named = SHARED.replace("DIR]", "/kept/run, --run-name, $(RUN)]")
    assert messages(named) == [], "the script may put the name of the run into the folder"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", "name"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["a", "nodes", "env", "volumes", "name", "tolerations"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(ANY, ANY)
def test_anything_is_a_finding(spec: Any, variants: Any) -> None:
    document = {**yaml.safe_load(HEAD), "spec": spec, "variants": variants}
    lint(document)
    assert compile(document).ok in {True, False}


def test_an_anchor_of_an_earlier_document_names_variants() -> None:
    (finding,) = lint("a: &base {x: 1}\n---\nb: *base\n").diagnostics
    assert (
        finding.help
        == "an anchor ends with its document: write it again, or one spec with variants"
    )
    (finding,) = lint("b: *base\n").diagnostics
    assert finding.help == "quote the value if '*' is meant as text"


@pytest.mark.parametrize("key", ["matrix", "sweep", "variants"])
def test_words_of_others_inside_spec_name_variants(key: str) -> None:
    (finding,) = compile(
        HEAD.replace("nodes: 2", f"nodes: 2, {key}: {{b: {{nodes: 3}}}}")
    ).diagnostics
    assert "variants" in (finding.help or "")
