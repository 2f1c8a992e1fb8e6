"""The golden cases explained, each once a run."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import yaml

import ptcompile
from ptcompile.compiler.pipeline import compile_document
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Path
from ptcompile.explainer.explanation import Explanation
from ptcompile.explainer.model import Cause
from ptcompile.explainer.provenance import provenance, writer
from ptcompile.explainer.reasons import sentence
from ptcompile.explainer.values import leaves
from ptcompile.registry.targets import target_named
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.conftest import ABLE, Case, thinned
from tests.explainer.reference import Json


class Explained(NamedTuple):
    """One golden case for one target."""

    data: Json
    cluster: ClusterProfile
    explanation: Explanation


SOME = thinned(ABLE, 5)  # a number that no number of targets divides: each target is asked


@functools.cache
def explained(case: Case, target: str) -> Explained:
    cluster, _ = load_profile(case.cluster)
    assert cluster is not None
    explanation = ptcompile.explain(
        case.spec, target=target, cluster=case.cluster, filename="spec.yaml", cluster_filename="cluster.yaml"
    )
    return Explained(yaml.safe_load(case.spec), cluster, explanation)


class Told(NamedTuple):
    """A value of a manifest, who wrote it, and the sentence about it."""

    path: Path
    by: str
    rule: str


def causes_of(data: Json, cluster: ClusterProfile, target: str) -> tuple[Cause, ...]:
    """Compile a document for a target and explain it."""
    return provenance(data, compile_document(data, cluster, target))


def by_record(case: Case, name: str) -> Iterator[Told]:
    """What the trace alone says of every value but true and false: the explanation without the lines, at once.

    A true or false cannot be marked: whether it is the user's own is found by its lines.
    """
    cluster, _ = load_profile(case.cluster)
    assert cluster is not None
    compiled = compile_document(yaml.safe_load(case.spec), cluster, name)
    assert compiled.trace is not None
    target, trace, manifests = target_named(name), compiled.trace(), case.compile(name).manifests
    for path, value in leaves(manifests):
        if not isinstance(value, bool):
            by = writer(trace.origin(int(path[0]), path[1:]), path)
            yield Told(path, by, sentence(by, target, path, manifests))
