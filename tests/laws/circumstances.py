"""Circumstances in which every verb finds the same, and the reasons of those that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.laws import plugin
from tests.laws.verbs import MANIFEST, PROFILE, SPEC, Given


class Circumstance(NamedTuple):
    """What a verb is given, and what each verb finds then."""

    given: Given
    codes: tuple[str, ...]
    """The codes of the findings, in order."""
    different: Mapping[str, str] = {}
    """Why a verb finds something else."""
    configuration: str = ""
    """The configuration, whose extensions every verb is given."""
    is_usage: bool = False
    """Whether it is wrong usage of a command, so that there is no report."""


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}}
"""
CRD_FILE = "crd.yaml"
"""The file with the CRD, in the folder of the test."""
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: paint}\nspec: {size: wide}\n"

_QUEUES = "it judges the queue of the job, which names none"
_REFUSED = "it raises nothing but errors: a warning does not keep a job from running"
_BOTH_SIDES = "the plugin is that of both sides, and fails for the other one too"
_LINTS_NOT = "it answers another question: rules are those of lint, compile and explain"
_IMPORTS = "a spec that does not compile is how it says that the manifest has no spec"
_STORES = "it shows what the server would keep, and what the server refuses is found by lint"
_PODS = "it looks at pods, and what the server refuses is found by lint"
_BEFORE = "what is found before the upgrade too is none of its effects"
_OLD = "what is applied is the new side: the old one is in the cluster already"

_RULES_APART = dict.fromkeys(
    (
        "simulate",
        "stored",
        "diff of the old side",
        "diff of the new side",
        "requires",
        "platform",
        "rehearse",
    ),
    _LINTS_NOT,
) | {
    "upgrade": _BEFORE,
    "import": _LINTS_NOT,
    "convert": "a finding that its source has too is not one of the conversion",
}
_SCHEMAS_APART = {"stored": _STORES, "diff of the old side": _OLD, "upgrade": _BEFORE}
_STREAM_APART = _SCHEMAS_APART | {"simulate": _PODS, "rehearse": _PODS, "requires": _PODS}


def _of(
    text: str, *codes: str, different: Mapping[str, str] | None = None, **keywords: Any
) -> Circumstance:
    return Circumstance(Given(text, keywords), codes, different or {})


def _two(name: str) -> str:
    return f"{SPEC}---\n{SPEC.replace('name: train', f'name: {name}')}"


EMPTY = {
    "an empty stream": _of("", "PTC009"),
    "a stream of comments": _of("# a comment\n", "PTC009"),
    "a stream of marks": _of("---\n---\n", "PTC009"),
}
"""Streams without a document, which are manifests and specs alike."""
SPECS = {
    "a text error in a spec": _of(SPEC + "  env: [\n", "PTC001"),
    "a duplicate key in a spec": _of(SPEC + "  image: img:2\n", "PTC003"),
    "a list beside a spec": _of(SPEC + "---\n- a\n", "PTC008"),
    "two specs of one name": _of(_two("train"), "PTC576"),
    "an override of wrong syntax": _of(SPEC, "PTC024", overrides=[("spec..image", "x")])._replace(
        is_usage=True
    ),
    "an override without a place": _of(SPEC, "PTC024", overrides=[("spec.args[7]", "x")]),
    "an override of a wrong type": _of(SPEC, "PTC023", overrides=[("spec.nodes", "four")]),
    "two wrong overrides": _of(
        SPEC, "PTC024", "PTC024", overrides=[("spec.args[7]", "x"), ("spec.tolerations[7]", 1)]
    ),
    "a name for two specs": _of(_two("other"), "PTC025", name="run-1"),
    "an unknown field in a profile": _of(
        SPEC, "PTC021", cluster=PROFILE.replace("{}", "{nodse: 3}")
    ),
    "several profiles": _of(SPEC, "PTC009", cluster=f"{PROFILE}---\n{PROFILE}"),
    "a profile with a text error": _of(SPEC, "PTC001", cluster=PROFILE + "  a: [\n"),
    "a pass that fails": _of(
        SPEC,
        "PTC903",
        different=dict.fromkeys(("diff of the old side", "diff of the new side"), _BOTH_SIDES),
    )._replace(configuration=plugin.FAILING),
    "a plugin's rule on a spec": _of(
        SPEC,
        "ACME001",
        different=dict.fromkeys(
            ("diff of the old side", "diff of the new side", "requires", "platform"), _LINTS_NOT
        )
        | {"admit": _QUEUES, "upgrade": _BEFORE},
    )._replace(configuration=plugin.JUDGING),
    "a declared rule on a spec": _of(
        SPEC,
        "ACME101",
        different=dict.fromkeys(
            ("diff of the old side", "diff of the new side", "requires", "platform"), _LINTS_NOT
        )
        | {"admit": _QUEUES, "upgrade": _BEFORE},
    )._replace(configuration=plugin.DECLARING),
}
MANIFESTS = {
    "a text error in a manifest": _of(MANIFEST + "  env: [\n", "PTC001"),
    "a duplicate key in a manifest": _of(
        MANIFEST + "kind: Job\n", "PTC003", different={"admit": _QUEUES, "rehearse": _REFUSED}
    ),
    "a list beside a manifest": _of(MANIFEST + "---\n- a\n", "PTC008"),
    "an unknown field in a profile, manifest": _of(
        MANIFEST, "PTC021", cluster=PROFILE.replace("{}", "{nodse: 3}")
    ),
    "several profiles, manifest": _of(MANIFEST, "PTC009", cluster=f"{PROFILE}---\n{PROFILE}"),
    "a profile with a text error, manifest": _of(MANIFEST, "PTC001", cluster=PROFILE + "  a: [\n"),
    "a plugin's rule on a manifest": _of(
        MANIFEST,
        "ACME001",
        different={verb: why for verb, why in _RULES_APART.items() if verb != "platform"}
        | {"admit": _QUEUES},
    )._replace(configuration=plugin.JUDGING),
    "a declared rule on a manifest": _of(
        MANIFEST,
        "ACME101",
        different={verb: why for verb, why in _RULES_APART.items() if verb != "platform"}
        | {"admit": _QUEUES},
    )._replace(configuration=plugin.DECLARING),
    "a CRD in schemas": _of(
        f"{MANIFEST}---\n{WIDGET}", "PTC502", different=_SCHEMAS_APART, schemas=[CRD_FILE]
    ),
    "a CRD in the stream": _of(
        f"{MANIFEST}---\n{CRD}---\n{WIDGET}", "PTC502", different=_STREAM_APART | {"admit": _QUEUES}
    ),
    "a CRD in another file": _of(
        f"{MANIFEST}---\n{WIDGET}",
        "PTC502",
        different={"stored": _STORES, "simulate": _PODS, "rehearse": _PODS, "upgrade": _BEFORE},
        beside=[CRD],
    ),
}
