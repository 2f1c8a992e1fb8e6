"""Explanations of the golden cases, cached for the test run."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import yaml

import ptcompile
from ptcompile.compiler.pipeline import compile_document
from ptcompile.compiler.reader import load_profile
from ptcompile.compiler.trace import leaf_origins
from ptcompile.diagnostics import Path
from ptcompile.explainer.explanation import Explanation
from ptcompile.explainer.model import Cause
from ptcompile.explainer.provenance import provenance, writer
from ptcompile.explainer.reasons import sentence
from ptcompile.explainer.values import shown_leaves
from ptcompile.operators.targets import target_named
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.conftest import ABLE, Case, thinned
from tests.explainer.reference import Json


class Explained(NamedTuple):
    """The explanation of a golden case for one target."""

    data: Json
    cluster: ClusterProfile
    explanation: Explanation


SOME = thinned(ABLE, 5)  # coprime to the number of targets, so each target appears


@functools.cache
def explained(case: Case, target: str) -> Explained:
    cluster, _ = load_profile(case.cluster)
    assert cluster is not None
    explanation = ptcompile.explain(
        case.spec,
        target=target,
        cluster=case.cluster,
        filename="spec.yaml",
        cluster_filename="cluster.yaml",
    )
    return Explained(yaml.safe_load(case.spec), cluster, explanation)


class Told(NamedTuple):
    """A value of a manifest, its writer, and the sentence that explains it."""

    path: Path
    by: str
    rule: str


def causes_of(data: Json, cluster: ClusterProfile, target: str) -> tuple[Cause, ...]:
    """Compile a document for a target and explain it."""
    of_targets = provenance(data, [compile_document(data, cluster, target)], [False])
    return next(iter(of_targets), ())


def by_record(case: Case, name: str) -> Iterator[Told]:
    """Yield the writer and the sentence of every non-boolean value, from the trace alone: fast, but without input
    lines.

    Booleans cannot be marked: only the input lines show whether one is the user's.
    """
    cluster, _ = load_profile(case.cluster)
    assert cluster is not None
    compiled = compile_document(yaml.safe_load(case.spec), cluster, name)
    assert compiled.trace is not None
    target, trace, manifests = target_named(name), compiled.trace(), case.compile(name).manifests
    for index, manifest in enumerate(manifests):
        for leaf, origin in zip(
            shown_leaves(manifest), leaf_origins(trace.manifests[index]), strict=True
        ):
            if not isinstance(leaf.value, bool):
                path = (index, *leaf.path)
                by = writer(origin, path)
                yield Told(path, by, sentence(by, target, leaf.keys))
