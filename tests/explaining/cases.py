"""The golden cases explained, each once a run."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import yaml

import ptcompile
from ptcompile.compiling.compiler import compile_document
from ptcompile.explaining.explanation import Explanation
from ptcompile.explaining.leaves import leaves
from ptcompile.explaining.model import Cause
from ptcompile.explaining.provenance import provenance, writer
from ptcompile.explaining.sentences import sentence
from ptcompile.findings.diagnostics import Path
from ptcompile.operators.targets import target_named
from ptcompile.verbs import compile
from ptcompile.vocabulary.cluster.model import ClusterProfile
from tests.conftest import ABLE, Case, thinned
from tests.explaining.reference import Json


class Explained(NamedTuple):
    """One golden case for one target."""

    data: Json
    cluster: ClusterProfile
    explanation: Explanation


SOME = thinned(ABLE, 5)  # a number that no number of targets divides: each target is asked


@functools.cache
def explained(case: Case, target: str) -> Explained:
    cluster, _ = compile.read_cluster(case.cluster)
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
    cluster, _ = compile.read_cluster(case.cluster)
    assert cluster is not None
    compiled = compile_document(yaml.safe_load(case.spec), cluster, name)
    assert compiled.trace is not None
    target, trace, manifests = target_named(name), compiled.trace(), case.compile(name).manifests
    for path, value in leaves(manifests):
        if not isinstance(value, bool):
            by = writer(trace.mark(int(path[0]), path[1:]), path)
            yield Told(path, by, sentence(by, target, path, manifests))
