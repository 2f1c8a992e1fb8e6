"""The golden cases explained, each once a run."""

from __future__ import annotations

import functools
from typing import NamedTuple

import yaml

import ptcompile
from ptcompile.explaining.explanation import Explanation
from ptcompile.verbs import compile
from ptcompile.vocabulary.cluster.model import ClusterProfile
from tests.conftest import Case
from tests.explaining.reference import Json


class Explained(NamedTuple):
    """One golden case for one target."""

    data: Json
    cluster: ClusterProfile
    explanation: Explanation


@functools.cache
def explained(case: Case, target: str) -> Explained:
    cluster, _ = compile.read_cluster(case.cluster)
    assert cluster is not None
    explanation = ptcompile.explain(
        case.spec, target=target, cluster=case.cluster, filename="spec.yaml", cluster_filename="cluster.yaml"
    )
    return Explained(yaml.safe_load(case.spec), cluster, explanation)
