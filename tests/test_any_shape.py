"""Arbitrary values anywhere in a spec, a profile or a manifest give findings, manifests or a world, never an
exception.
"""

from __future__ import annotations

import json
import sys
from itertools import cycle
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.linter import Rule, every_rule
from ptcompile.linter.pages import rule_page
from ptcompile.operators.targets import TARGETS
from tests.conftest import thinned
from tests.making import documents, text
from tests.places import places, put

JOB = yaml.safe_load(
    text(
        """
        image: img:1
        script: train.py
        nodes: 3
        queue: q
        env: {A: "1"}
        resources: {gpu: 1, memory: 1Gi}
        volumes: [{name: v, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
        volumeMounts: [{name: v, mountPath: /v}]
        tolerations: [{key: a, operator: Exists}]
        podTemplate:
          metadata: {labels: {a: b}, annotations: {c: d}}
          spec:
            containers:
              - name: pytorch
                ports: [{containerPort: 1, name: p}]
                env: [{name: B, value: x}]
                volumeMounts: [{name: v, mountPath: /w}]
              - name: side
                image: s
                resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}
                env: [{name: X, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
            initContainers: [{name: init, image: b, restartPolicy: Always}]
            volumes: [{name: w, configMap: {name: m, items: [{key: a, path: b}]}}]
            tolerations: [{key: z}]
            affinity: {podAffinity: {}}
            resourceClaims: [{name: c, resourceClaimName: d}]
        """
    )
)
PROFILE = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "c"},
    "spec": {
        "queueSystem": "volcano",
        "spot": {"nodeLabels": {"a": "b"}, "tolerations": [{"key": "s"}]},
        "fabrics": {
            "fast": {
                "resources": {"rdma/hca": 1},
                "podTemplate": {"spec": {"containers": [{"name": "x"}]}},
            }
        },
        "defaults": {"podTemplate": JOB["spec"]["podTemplate"]},
    },
}
VALUES: list[Any] = [None, "", [], {}, 0, True, [None], {"x": None}]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("where", ["spec", "profile"])
def test_any_value_anywhere_compiles_or_is_reported(where: str, target: str) -> None:
    """Pod templates may contain null, which passes must accept."""
    whole = JOB if where == "spec" else PROFILE
    for at, path in enumerate(places(whole), start=list(TARGETS).index(target)):
        for value in thinned(VALUES, 4, start=at):
            changed = put(whole, path, value)
            job, profile = (changed, None) if where == "spec" else (JOB, changed)
            result = ptcompile.compile(job, target=target, cluster=profile)
            assert result.manifests or not result.ok, (path, value)


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_any_value_anywhere_in_a_manifest_is_judged(rule: Rule) -> None:
    """The examples of rule pages contain the fields that rules, webhooks and the simulator read."""
    values = cycle(VALUES)
    for example in (rule_page(rule).bad, rule_page(rule).good):
        whole = {"apiVersion": "v1", "kind": "List", "items": documents(example)}
        for path in thinned(places(whole), 9, start=len(rule.name)):
            stream = put(whole, path, next(values))
            assert ptcompile.lint(stream).documents == 1
            json.dumps(ptcompile.simulate(stream).to_dict())


def test_more_pods_than_len_supports() -> None:
    sets = [
        {"name": f"a{at}", "replicas": 2**62, "template": {"spec": {"template": {}}}}
        for at in range(3)
    ]
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}}
    world = ptcompile.simulate({**jobset, "spec": {"replicatedJobs": sets}})
    assert world.to_dict()["podsTotal"] == world.pods.total > sys.maxsize
    assert len(world.pods) == sys.maxsize


def test_a_profile_s_pod_template_is_a_kubernetes_object() -> None:
    profile = put(PROFILE, ("spec", "defaults", "podTemplate", "spec", "volumes", 0, "name"), {})
    (diagnostic,) = ptcompile.lint(profile).diagnostics
    assert diagnostic.path == ("spec", "defaults", "podTemplate", "spec", "volumes", 0, "name")
    read = ptcompile.ClusterProfile.model_validate(profile)
    assert [finding.path for finding in ptcompile.compile(JOB, cluster=read).diagnostics] == [
        diagnostic.path
    ]
    container = ("spec", "fabrics", "fast", "podTemplate", "spec", "containers", 0)
    bad = put(PROFILE, container, {"name": "x", "env": [{"name": {}}]})
    assert [finding.path for finding in ptcompile.lint(bad).diagnostics] == [
        (*container, "env", 0, "name")
    ]
