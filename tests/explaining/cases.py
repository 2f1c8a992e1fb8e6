"""The golden cases explained, each once a run."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import yaml

import ptcompile
from ptcompile.compiling.record import recorded
from ptcompile.explaining.explanation import Explanation
from ptcompile.explaining.leaves import leaves
from ptcompile.explaining.provenance import writer
from ptcompile.explaining.sentences import sentence
from ptcompile.findings.diagnostics import Path
from ptcompile.frontends.spec import read_spec
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


def by_record(case: Case, name: str) -> Iterator[Told]:
    """What the record alone says of every value but true and false: the explanation without the lines, at once.

    A true or false cannot be marked: whether it is the user's own is found by its lines.
    """
    cluster, _ = compile.read_cluster(case.cluster)
    spec, _ = read_spec(yaml.safe_load(case.spec))
    assert spec is not None
    assert cluster is not None
    target = target_named(name)
    record, manifests = recorded(spec, cluster, target), case.compile(name).manifests
    for path, value in leaves(manifests):
        if not isinstance(value, bool):
            by = writer(record.mark(int(path[0]), path[1:]), path)
            yield Told(path, by, sentence(by, target, path, manifests))
