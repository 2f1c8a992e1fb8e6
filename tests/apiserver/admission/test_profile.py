"""Objects of the profile decide as those of the files do, in `lint` and in `compile`."""

from __future__ import annotations

import ptcompile
from tests.apiserver.admission.beside import Json, job, pod, quota, rejections
from tests.apiserver.admission.test_policies import binding, policy

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: "train:latest", script: train.py, nodes: 2, resources: {cpu: 8, memory: 8Gi}}
"""


def profile(*objects: Json) -> Json:
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "c"},
        "spec": {"objects": list(objects)},
    }


def test_lint_checks_the_quotas_of_a_profile() -> None:
    (rejection,) = rejections(
        job({"limits": {"cpu": 4}}), cluster=profile(quota({"limits.cpu": 4}))
    )
    assert "exceeded quota: team" in rejection.message


def test_an_object_of_the_files_replaces_one_of_the_profile() -> None:
    cluster = profile(quota({"pods": 0}))
    assert len(rejections(pod({}), cluster=cluster)) == 1
    assert rejections(quota({"pods": 9}), pod({}), cluster=cluster) == []


def test_compile_reports_every_rejection_at_its_line() -> None:
    images = policy("object.spec.containers.all(c, !c.image.endsWith(':latest'))")
    cluster = profile(quota({"limits.cpu": 8}), images, binding())
    diagnostics = ptcompile.compile(SPEC, cluster=cluster, target="job").diagnostics
    errors = {
        diagnostic.code: diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"
    }
    assert errors.keys() == {"PTC294", "PTC594"}
    assert errors["PTC294"].path == ("spec", "resources")
    assert errors["PTC594"].help == "change the object as the policy in the profile requires"


def test_a_profile_without_objects_changes_nothing() -> None:
    assert ptcompile.compile(SPEC, cluster=profile(), target="job").ok
