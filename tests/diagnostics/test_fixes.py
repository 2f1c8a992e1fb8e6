"""Fixes of rejected manifests by `lint --fix`: their text, and whether they are safe."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.diagnostics.fixes import fix_type, nearest_label
from ptcompile.fixer import fix_in_rounds

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: img:1
          resources: {limits: {cpu: 8, memory: 64Gi}}
"""
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: img:1
  script: train.py
  resources: {cpu: 1, memory: 1Gi}
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
    - name: node
      template:
        spec:
          template:
            spec:
              containers: [{name: main, image: "img:1", resources: {limits: {cpu: 1, memory: 1Gi}}}]
"""
MAIN = "          image: img:1\n"

# manifest, correct text, wrong text, fixed text, whether safe; kubectl 1.32 to 1.36 rejects each wrong text
ROWS: list[tuple[str, str, str, str, bool]] = [
    # unknown fields
    (JOB, "  template:\n", "  back_off_limit: 3\n  template:\n", "  backoffLimit: 3\n  template:\n", True),
    (JOB, "  template:\n", "  Parallelism: 2 # two\n  template:\n", "  parallelism: 2 # two\n  template:\n", True),
    (JOB, "containers:", "contaners:", "containers:", False),
    (JOBSET, "replicatedJobs:", "replicated-jobs:", "replicatedJobs:", True),
    # types
    (JOB, "  template:\n", '  parallelism: "2"\n  template:\n', "  parallelism: 2\n  template:\n", True),
    (JOB, MAIN, f"{MAIN}          env: [{{name: A, value: 1.0}}]\n",
     f'{MAIN}          env: [{{name: A, value: "1.0"}}]\n', True),
    (JOB, MAIN, f"{MAIN}          env: [{{name: A, value: on}}]\n",
     f'{MAIN}          env: [{{name: A, value: "on"}}]\n', True),
    (JOB, MAIN, f"{MAIN}          args: [--n, 8]\n", f'{MAIN}          args: [--n, "8"]\n', True),
    (JOB, MAIN, f"{MAIN}          command: train.sh\n", f"{MAIN}          command: [train.sh]\n", True),
    (JOB, MAIN, f'{MAIN}          ports: [{{containerPort: "80"}}]\n',
     f"{MAIN}          ports: [{{containerPort: 80}}]\n", True),
    (JOB, MAIN, f'{MAIN}          tty: "true"\n', f"{MAIN}          tty: true\n", True),
    (JOB, MAIN, f'{MAIN}          tty: "yes"\n', f"{MAIN}          tty: true\n", False),
    # enum values
    (JOB, "restartPolicy: Never", "restartPolicy: never", "restartPolicy: Never", True),
    (JOB, "restartPolicy: Never", "restartPolicy: OnFalure", "restartPolicy: OnFailure", False),
    (JOB, "restartPolicy: Never", "restartPolicy: on-failure", "restartPolicy: OnFailure", True),
    (JOB, MAIN, f"{MAIN}          imagePullPolicy: 'always'\n", f"{MAIN}          imagePullPolicy: 'Always'\n", True),
    (JOBSET, "  replicatedJobs", "  successPolicy: {operator: all}\n  replicatedJobs",
     "  successPolicy: {operator: All}\n  replicatedJobs", True),
    # quantities
    (JOB, "64Gi", "64 Gi", "64Gi", True),
    (JOB, "64Gi", "64gi", "64Gi", True),
    (JOB, "64Gi", "64GB", "64G", False),
    (JOBSET, "1Gi", "1 Gi", "1Gi", True),
    (JOB, "memory: 64Gi", "memroy: 64Gi", "memory: 64Gi", False),
    # required fields
    (JOB, "      restartPolicy: Never\n", "      hostNetwork: false\n",
     "      hostNetwork: false\n      restartPolicy: Never\n", False),
    (JOB, "{limits: {cpu: 8, memory: 64Gi}}", "{requests: {nvidia.com/gpu: 1}, limits: {cpu: 8, memory: 64Gi}}",
     "{requests: {nvidia.com/gpu: 1}, limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}", True),
    (JOB, "{limits: {cpu: 8, memory: 64Gi}}",
     "{requests: {nvidia.com/gpu: 2}, limits: {cpu: 8, nvidia.com/gpu: 1, memory: 64Gi}}",
     "{requests: {nvidia.com/gpu: 1}, limits: {cpu: 8, nvidia.com/gpu: 1, memory: 64Gi}}", False),
    # names and duplicate keys
    (JOB, "name: train", "name: My_Train # mine", "name: my-train # mine", False),
    (JOB, "name: main", "name: Main", "name: main", False),
    (JOB, MAIN, f"          image: old\n{MAIN}", MAIN, False),
    # ptcompile's spec
    (SPEC, "  script:", "  Nodes: 2\n  script:", "  nodes: 2\n  script:", True),
    (SPEC, "  script:", '  nodes: "2"\n  script:', "  nodes: 2\n  script:", True),
    (SPEC, "  script:", "  args: [--lr, 0.10]\n  script:", '  args: [--lr, "0.10"]\n  script:', True),
    (SPEC, "memory: 1Gi", "memory: 1 Gi", "memory: 1Gi", True),
    (SPEC, "memory: 1Gi", "memroy: 1Gi", "memory: 1Gi", False),
    (SPEC, "  script:", "  target: job\n  imagePullPolicy: always\n  script:",
     "  target: job\n  imagePullPolicy: Always\n  script:", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "wrong", "mended", "safe"), ROWS)
def test_a_fix_restores_the_manifest(
    text: str, good: str, wrong: str, mended: str, safe: bool
) -> None:
    before = text.replace(good, wrong, 1).encode()
    assert any(
        d.stage == "apply" or d.name == "duplicate-key" for d in ptcompile.lint(before).diagnostics
    )
    done = fix_in_rounds(before, lambda content: ptcompile.lint(content).diagnostics, unsafe=True)
    first = done.applied[0]
    assert first.fix is not None
    assert first.fix.safe == safe
    assert done.content.decode() == text.replace(good, mended, 1)
    assert not [d for d in ptcompile.lint(done.content).diagnostics if d.severity == "error"]
    alone = fix_in_rounds(before, lambda content: ptcompile.lint(content).diagnostics, unsafe=False)
    assert (alone.content == done.content) == safe


def test_a_field_of_a_parent_object_moves_to_it() -> None:
    before = JOB.replace(MAIN, f"{MAIN}          backoffLimit: 2\n").encode()
    done = fix_in_rounds(before, lambda content: ptcompile.lint(content).diagnostics, unsafe=True)
    assert done.content.decode() == f"{JOB}  backoffLimit: 2\n"
    assert [d.fix and (d.fix.title, d.fix.safe) for d in done.applied] == [
        ("move it to spec.backoffLimit", False)
    ]


def test_a_fix_in_a_pod_template_patch_changes_the_spec() -> None:
    patch = """\
  podTemplate:
    spec:
      terminationgraceperiodseconds: 30
      containers:
        - name: pytorch
          livenessprobe: {}  # mine
"""
    before = f"{SPEC}{patch}".encode()
    done = fix_in_rounds(before, lambda content: ptcompile.lint(content).diagnostics, unsafe=False)
    renamed = before.replace(b"terminationgraceperiodseconds", b"terminationGracePeriodSeconds")
    assert done.content == renamed.replace(b"livenessprobe", b"livenessProbe")


# mistakes with no certain fix
NONE = [
    (JOB, MAIN, f"{MAIN}          command: python train.py\n"),
    (JOB, "  template:\n", '  parallelism: "two"\n  template:\n'),
    (JOB, "  template:\n", '  parallelism: "08"\n  template:\n'),
    (JOB, MAIN, f"{MAIN}          imge: x\n"),  # the correct field exists too
    (JOB, "64Gi", "a lot"),
    (JOB, "restartPolicy: Never", "restartPolicy: Sometimes"),
]


@pytest.mark.parametrize(("text", "good", "wrong"), NONE)
def test_some_mistakes_have_no_fix(text: str, good: str, wrong: str) -> None:
    diagnostics = ptcompile.lint(text.replace(good, wrong, 1)).diagnostics
    assert any(d.stage == "apply" for d in diagnostics)
    assert [d.fix for d in diagnostics if d.stage == "apply"] == [None] * len(
        [d for d in diagnostics if d.stage == "apply"]
    )


def test_a_trainjob_of_an_older_release_has_no_fix_for_moved_paths() -> None:
    text = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: x}
spec:
  runtimeRef: {name: torch-distributed}
  podSpecOverrides:
    - targetJobs: [{name: node}]
      tolerations: [{key: a, operator: exists}]
"""
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"operators": {"trainer": "2.0"}},
    }
    for diagnostic in ptcompile.lint(text, cluster=cluster).diagnostics:
        assert diagnostic.fix is None or diagnostic.path[:2] != ("spec", "podSpecOverrides")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("My_Job", "my-job"),
        ("--a..b--", "a-b"),
        ("_", ""),
        ("a" * 70, "a" * 63),
        ("a" * 62 + "--b", "a" * 62),
        ("_" * 199 + "a", "a"),
        ("_" * 200 + "a", ""),
        ("hf_" + "a1B2" * 9, ""),
    ],
)
def test_a_text_becomes_the_nearest_label(text: str, label: str) -> None:
    assert nearest_label(text) == label


@pytest.mark.parametrize(
    ("expected", "value", "operation", "safe"),
    [
        ("string", 1, ("quote", None), True),
        ("string", "a", None, None),
        ("integer", "8", ("set", 8), True),
        ("integer", "08", None, None),
        ("int32", "x", None, None),
        ("boolean", "true", ("set", True), True),
        ("boolean", "yes", ("set", True), False),
        ("boolean", "On", ("set", True), False),
        ("boolean", "no", ("set", False), False),
        ("boolean", "off", ("set", False), False),
        ("boolean", "maybe", None, None),
        ("boolean", 1, None, None),
    ],
)
def test_a_value_of_another_type_is_converted(
    expected: str, value: object, operation: object, safe: bool | None
) -> None:
    fix = fix_type(expected, value)
    proposed = None if fix is None else (fix.op, fix.value)
    assert (proposed, None if fix is None else fix.safe) == (operation, safe)
