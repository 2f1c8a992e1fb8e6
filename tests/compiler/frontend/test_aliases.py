"""Aliases from other tools: each leads to an existing field, and unrelated words get no suggestion."""

from __future__ import annotations

import pytest

from ptcompile import compile, fix
from ptcompile._internal.schema_files import load, load_table
from ptcompile._internal.spelling import normalize
from ptcompile.compiler.frontend import aliases
from ptcompile.compiler.frontend.errors import likely_field
from ptcompile.spec.reader import SPEC
from tests.small_cases import check_each

ALIASES = aliases._table()
SPEC_FIELDS = SPEC.inside("spec")
assert SPEC_FIELDS is not None


def spec(lines: str) -> str:
    head = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: j}\nspec:\n  image: a:1\n  script: train.py\n"
    return head + "".join(f"  {line}\n" for line in lines.splitlines())


def help_of(lines: str) -> str:
    errors = [
        finding for finding in compile(spec(lines)).diagnostics if finding.severity == "error"
    ]
    assert errors
    return errors[0].help or ""


def check_alias(name: str) -> None:
    block, path = SPEC_FIELDS, ALIASES[name].field
    if path[0] == "podTemplate":
        assert (
            path == ("podTemplate",)
            or path[2] in load("kubernetes/core.json")["$defs"]["PodSpec"]["properties"]
        )
        return
    for part in path:
        assert block is not None
        assert part in block.fields
        block = block.inside(part)


def test_every_alias_leads_to_a_field() -> None:
    check_each(ALIASES, check_alias)


def test_no_alias_is_a_field_of_the_spec() -> None:
    assert SPEC_FIELDS is not None
    assert [name for name in SPEC_FIELDS.fields if normalize(name) in ALIASES] == []


def test_aliases_are_unique() -> None:
    names = [
        normalize(name)
        for group in load_table("compiler/frontend/aliases.json")["spec"].values()
        for row in group
        for name in row["names"]
    ]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


@pytest.mark.parametrize(
    ("lines", "help"),
    [
        (
            "workers: 4",
            "write spec.nodes: the number of training pods, or worker.replicas next to a master",
        ),
        ("preemptible: true", "did you mean spot?"),
        ("user: 1000", "write spec.podSecurityContext: {runAsUser: ...}"),
        ("gid: 1000", "write spec.podSecurityContext: {runAsGroup: ...}"),
        ("fsGroup: 1000", "write spec.podSecurityContext: {fsGroup: ...}"),
        ("elastic: {min: 2, max: 4}", 'write spec.elastic.nnodes: a range, such as "2:4"'),
        ("workdir: /w", "did you mean workingDir?"),
        ("serviceAccount: x", "did you mean serviceAccountName?"),
        ("pullPolicy: Always", "did you mean imagePullPolicy?"),
        ("node: 3", "did you mean nodes?"),
        ("resources: {nvidia.com/gpu: 8}", "use spec.resources.gpu"),
        (
            "volumes: [{name: d, mountPath: /d}]",
            "move it into volumeMounts: [{name: ..., mountPath: ...}]",
        ),
        ("fabric: gpudirect-tcpxo", "did you mean tcpxo?"),
        ("resources: {gpu: 8}\naccelerator: NVIDIA-H100-80GB-HBM3", "did you mean nvidia-h100?"),
    ],
)
def test_the_help_names_the_field(lines: str, help: str) -> None:
    assert help_of(lines) == help


@pytest.mark.parametrize("product", ["nvidia-rtx4090", "nvidia-gh200", "nvidia-a10"])
def test_another_product_gets_no_suggestion(product: str) -> None:
    assert "did you mean" not in help_of(f"resources: {{gpu: 8}}\naccelerator: {product}")


WORDS = [
    "abstract",
    "banana",
    "bridge",
    "candle",
    "carpet",
    "cheese",
    "copper",
    "dinner",
    "dragon",
    "engine",
    "flower",
    "forest",
    "garden",
    "guitar",
    "hammer",
    "island",
    "jacket",
    "kitchen",
    "ladder",
    "lemon",
    "marble",
    "meadow",
    "mirror",
    "monkey",
    "mountain",
    "needle",
    "orange",
    "paper",
    "pencil",
    "pepper",
    "picture",
    "planet",
    "pocket",
    "potato",
    "puzzle",
    "rabbit",
    "ribbon",
    "river",
    "rocket",
    "salad",
    "school",
    "shadow",
    "silver",
    "spider",
    "spring",
    "stone",
    "summer",
    "sugar",
    "table",
    "temple",
    "thunder",
    "ticket",
    "tiger",
    "tomato",
    "tunnel",
    "umbrella",
    "valley",
    "velvet",
    "violin",
    "window",
    "winter",
    "yellow",
    "zebra",
    "finalizers",
    "ownerReferences",
    "allowVolumeExpansion",
    "ingressClassName",
    "externalTrafficPolicy",
    "podManagementPolicy",
    "revisionHistoryLimit",
]


@pytest.mark.parametrize("word", WORDS)
def test_an_unrelated_word_gets_no_suggestion(word: str) -> None:
    assert SPEC_FIELDS is not None
    assert likely_field(word, SPEC_FIELDS.fields) is None
    assert "did you mean" not in help_of(f"{word}: 1")


@pytest.mark.parametrize(
    ("written", "field"),
    [("node_selector: {a: b}", "nodeSelector: {a: b}"), ("working_dir: /w", "workingDir: /w"),
     ("elastic: {nprocPerNode: 1, max_restarts: 3}", "elastic: {nprocPerNode: 1, maxRestarts: 3}")],
)  # fmt: skip
def test_snake_case_is_rejected_with_a_safe_fix(written: str, field: str) -> None:
    assert help_of(written).startswith("did you mean ")
    assert fix(spec(written)).text == spec(field)
