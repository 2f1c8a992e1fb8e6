"""What mutations begin with: golden cases, examples, and the real manifests that the tests have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ptcompile.source.documents import read
from ptcompile.source.emitter import emit_all
from tests import recorded

ROOT = Path(__file__).parents[1]
_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.x.io}
spec:
  group: x.io
  names: {kind: Foo, plural: foos}
  scope: Namespaced
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
            properties: {a: {type: string, pattern: '^[a-z]*$'}, l: {type: array, items: {type: integer}}}
        x-kubernetes-validations: [{rule: 'self.spec.a == oldSelf.spec.a'}, {rule: 'self.spec.l.all(x, x > 0)'}]
"""
_FOO = "---\napiVersion: x.io/v1\nkind: Foo\nmetadata: {name: a}\nspec: {a: x, l: [1, 2, 0]}\n"
_SCHEMA = """\
{"$schema": "http://json-schema.org/schema#", "type": "object",
 "properties": {"spec": {"type": "object"}}}
"""
_TREE = (
    "-- .gitignore --\n*.log\n-- ptcompile.toml --\nschemas = ['crds']\n[[rule]]\ncode = "
    "'ACME101'\nname = 'a-name'\n"
    "path = 'metadata'\nexpression = 'has(self.labels)'\nmessage = 'no labels'\n-- a.yaml --\n"
    f"{_FOO}-- crds/a.yaml --\n{_CRD}-- m/a.yaml --\n{_FOO}-- m/kustomization.yaml --\npatches: "
    f"[{{path: b.yaml}}]\n"
)
_OWN = {
    "definitions": (
        (_CRD + _FOO + _FOO.replace("a: x", "a: xy")).encode(),
        f"{_SCHEMA}{_FOO}".encode(),
    ),
    "tree": (_TREE.encode(),),
    "scripts": tuple([path.read_bytes() for path in sorted(ROOT.glob("tests/shell/scripts/*.sh"))]),
}
"""Sound inputs of the harnesses that have a grammar."""
_POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  failurePolicy: Ignore
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    matchPolicy: Exact
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
    objectSelector: {matchExpressions: [{key: a, operator: DoesNotExist}]}
    resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [CREATE], resources: ['*'], scope: '*'}]
    excludeResourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [secrets]}]
  matchConditions: [{name: c, expression: "request.operation == 'CREATE'"}]
  variables: [{name: v, expression: 'object.metadata'}, {name: w, expression: 'variables.v.name'}]
  validations:
  - {expression: "variables.w == params.data.name", messageExpression: "'x' + variables.w", reason: Invalid}
  - {expression: "has(request.userInfo.username) || namespaceObject != null"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny, Audit], paramRef: {name: c, parameterNotFoundAction: Deny}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {name: x}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b}]}}
"""
_BASELINE = """\
# Known findings
[[finding]]
code = "PTC501"
file = "f.yaml"
kind = "Pod"
namespace = "d"
name = "a"
path = "spec.containers[c].comand"
reason = "later"
owner = "ml"
expires = 2031-03-31

[[finding]]
code = "PTC302"
file = "<stdin>"
"""
REAL = ("apiserver/real", "kueue/foreign/real", "kueue/own/real")


def seeds(harness: str, folders: list[Path]) -> list[bytes]:
    """The seeds of a harness, each once, and every file of the folders that were named."""
    if harness == "batch":
        return [
            path.read_bytes()
            for path in sorted((ROOT / "tests/importer/slurm/scripts").glob("*.sbatch"))
        ]
    if harness == "baseline":
        return [_BASELINE.encode(), *_specs()]
    if harness == "dumps":
        return list(dict.fromkeys([*_printed(), *_queued()]))
    if harness == "logs":
        return list(_logs())

    own = (
        _specs()
        if harness == "compile"
        else _OWN[harness]
        if harness in _OWN
        else (*_specs(), *_manifests())
    )

    return list(dict.fromkeys([*own, *(data for folder in folders for data in _files(folder))]))


def _files(folder: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _specs() -> Iterator[bytes]:
    """Specs, each with its profile behind it where it has one."""
    for path in (
        *sorted(ROOT.glob("golden/*/spec.yaml")),
        *sorted(ROOT.glob("examples/*/spec.yaml")),
    ):
        profile = path.with_name("cluster.yaml")
        yield path.read_bytes() + (b"---\n" + profile.read_bytes() if profile.exists() else b"")


def _logs() -> Iterator[bytes]:
    """Logs of faults, each with the manifest of its job behind it."""
    for line in (
        (ROOT / "tests" / "diagnosis" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    ):
        case = json.loads(line)
        yield "\n---\n".join([*case["files"].values(), case["manifest"]]).encode()


def _admitted() -> Iterator[bytes]:
    """Objects after those by which admission plugins answer: quotas, ranges, classes and
    policies.
    """
    yield _POLICY.encode()
    rows = list(recorded.rows("apiserver/admission/creates"))
    yield from (emit_all([*row["beside"], row["manifest"]]).encode() for row in rows[::6])


def _queued() -> Iterator[bytes]:
    """Jobs with the queues, flavors, nodes and workloads of a cluster."""
    rows = list(recorded.rows("kueue/admission"))
    yield from (emit_all([*row["objects"], *row["jobs"]]).encode() for row in rows[::4])


def _printed() -> Iterator[bytes]:
    """The same as kubectl prints it, as JSON and as YAML."""
    for data in islice(_queued(), 40):
        items = [document.data for document in read(data).documents]
        printed = {
            "apiVersion": "v1",
            "items": items,
            "kind": "List",
            "metadata": {"resourceVersion": ""},
        }
        yield json.dumps(printed, indent=4).encode()
        yield emit_all([printed]).encode()


def _manifests() -> Iterator[bytes]:
    yield from _admitted()
    yield from _queued()
    for path in sorted(ROOT.glob("golden/*/*.yaml")):
        if path.name not in ("spec.yaml", "cluster.yaml"):
            yield path.read_bytes()
    for name in REAL:
        yield from (emit_all([row["manifest"]]).encode() for row in recorded.rows(name))
