"""Auxiliary roles from the spec to the job: defaults, names, numbers of pods, and findings at their lines."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.parts import to_source_field, with_path
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.diagnostics import Edit, Fix, Problem, field_path, problem_at
from ptcompile.ir.job import Job, Role
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import MAX_AUXILIARY_PODS
from tests import making
from tests.compiler.checks import findings
from tests.making import DEFAULT_CLUSTER, FIRST_LINE, compiled, smallest, text

SIDECAR = making.profile(
    {"defaults": {"podTemplate": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}}
)
CATALOGUE = making.profile({"accelerators": {"a100": {"nodeLabels": {"gpu": "a100"}}}})


def job_of(source: str, cluster: ClusterProfile = DEFAULT_CLUSTER) -> Job:
    spec, problems = decode_spec(yaml.safe_load(source))
    assert spec is not None, problems
    return lower(spec, cluster)


def loader(body: str) -> Role:
    """Return the role `loader` of a spec."""
    (role,) = job_of(smallest(body)).auxiliary_roles
    assert role.name == "loader"
    return role


# ---- properties of a role


def test_pods_of_an_auxiliary_role_are_not_nodes() -> None:
    job = job_of(smallest("nodes: 3\nroles: {loader: {replicas: 2}, ps: {}}"))
    assert job.nodes == 3
    assert job.min_nodes == 3
    assert not job.elastic
    assert [(role.name, role.replicas, role.trains) for role in job.roles] == [
        ("node", 3, True),
        ("loader", 2, False),
        ("ps", 1, False),
    ]


def test_auxiliary_roles_come_after_master_and_worker() -> None:
    job = job_of(smallest("roles: {loader: {}}\nmaster: {}\nworker: {replicas: 3}"))
    assert [role.name for role in job.roles] == ["master", "worker", "loader"]
    assert job.nodes == 4


def test_auxiliary_roles_do_not_change_a_node_range() -> None:
    job = job_of(smallest("elastic: {nnodes: '2:4'}\nroles: {loader: {replicas: 8}}"))
    assert job.min_nodes == 2
    assert job.nodes == 4
    assert job.elastic


def test_an_auxiliary_role_inherits_from_the_job() -> None:
    body = """
        workingDir: /app
        env: {A: "1", B: "1"}
        volumes: [{name: data, emptyDir: {}}]
        volumeMounts: [{name: data, mountPath: /data}]
        serviceAccountName: me
        nodeSelector: {zone: a}
        podLabels: {team: x}
        roles: {loader: {env: {B: "2"}, nodeSelector: {zone: b}}}
    """
    template = loader(body).template
    assert (template.main.image, template.main.extra) == ("img:1", {"workingDir": "/app"})
    assert [(e["name"], e["value"]) for e in template.main.env] == [("A", "1"), ("B", "2")]
    assert [m["mountPath"] for m in template.main.mounts] == ["/data"]
    assert template.extra == {"serviceAccountName": "me"}
    assert (template.node_selector, template.labels) == ({"zone": "b"}, {"team": "x"})


def test_an_auxiliary_role_does_not_inherit_start_or_resources() -> None:
    body = """
        args: [--lr, "1"]
        resources: {cpu: 8, gpu: 8}
        restartPolicy: Never
        podTemplate: {spec: {priorityClassName: high, containers: [{name: side, image: s}]}}
        roles: {loader: {}}
    """
    role = loader(body)
    main = role.template.main
    assert (main.command, main.args, main.resources.limits) == (None, None, {})
    assert (role.template.extra, role.template.sidecars) == ({}, ())
    assert role.restart_policy == "OnFailure"


def test_an_auxiliary_role_does_not_inherit_the_command() -> None:
    job = job_of(
        text(
            "image: i\ncommand: [train]\nargs: [x]\nroles: {loader: {args: [y]}, ps: {command: [serve]}}"
        )
    )
    assert [(r.template.main.command, r.template.main.args) for r in job.roles] == [
        (("train",), ("x",)),
        (None, ("y",)),
        (("serve",), None),
    ]


def test_the_main_container_is_named_like_the_role() -> None:
    template = loader(
        "roles: {loader: {podTemplate: {spec: {containers: [{name: loader, tty: true}]}}}}"
    ).template
    assert (template.main.name, template.main.extra, template.sidecars) == (
        "loader",
        {"tty": True},
        (),
    )


# ---- names


@pytest.mark.parametrize(
    ("body", "name", "message"),
    [
        ("roles: {master: {}}", "master", "spec.master"),
        ("roles: {worker: {}}", "worker", "spec.worker"),
        ("roles: {node: {}}", "node", "choose another name"),
        ("volcano: {masterTask: chief}\nroles: {chief: {}}", "chief", "another name"),
        ("volcano: {workerTask: crew}\nroles: {crew: {}}", "crew", "another name"),
        ("roles: {Loader: {}}", "Loader", "such as 'loader'"),
        ("roles: {data_loader: {}}", "data_loader", "such as 'data-loader'"),
        (
            "roles: {'9': {}}",
            "9",
            "such as 'loader'",
        ),  # <job>-9-0 is valid, but 9_HOSTS is not a variable's name
        ("roles: {a.b: {}}", "a.b", "such as 'a-b'"),
        ("roles: {'': {}}", "", "such as 'loader'"),
        # docs/facts/jobset.md#admission: a pod's name has at most 63 characters
        (f"roles: {{{'r' * 33}: {{}}}}", "r" * 33, "at most 32"),
        (
            "roles: {vc-x: {}}",
            "vc-x",
            "another name",
        ),  # docs/facts/volcano.md#the-svc-plugin: VC_<TASK>_HOSTS
    ],
)
def test_an_invalid_role_name_is_reported(body: str, name: str, message: str) -> None:
    (problem,) = compiled(smallest(body), "jobset").problems
    assert problem.name == "spec-invalid-value"
    assert problem.path == ("spec", "roles", name)
    assert problem.on_key
    assert message in (problem.help or "")


def test_a_role_may_not_have_the_name_of_a_profile_s_container() -> None:
    (problem,) = compiled(smallest("roles: {proxy: {}}"), "jobset", SIDECAR).problems
    assert (problem.name, problem.path) == ("spec-invalid-value", ("spec", "roles", "proxy"))
    assert compiled(smallest("roles: {loader: {}}"), "jobset", SIDECAR).manifests


@pytest.mark.parametrize("replicas", ["0", "-1", str(MAX_AUXILIARY_PODS + 1), "null", "'2'"])
def test_an_invalid_number_of_pods_is_reported(replicas: str) -> None:
    (problem,) = compiled(
        smallest(f"roles: {{loader: {{replicas: {replicas}}}}}"), "jobset"
    ).problems
    assert problem.path == ("spec", "roles", "loader", "replicas")


def test_the_maximum_number_of_pods_fits_in_one_variable() -> None:
    """On Linux, MAX_ARG_STRLEN is 32 pages of 4 KiB, including the variable's name and the NUL."""
    name, role = "j" * 20, "r" * 20
    for target in ("volcano", "trainjob", "jobset"):
        done = compiled(
            smallest(f"roles: {{{role}: {{replicas: {MAX_AUXILIARY_PODS}}}}}", name), target
        )
        assert done.manifests, done.problems
        assert done.built is not None
        job = done.built.job
        (entry,) = (
            e for e in job.roles[0].template.main.env if e["name"] == f"{role.upper()}_HOSTS"
        )
        assert len(entry["value"].split(",")) == MAX_AUXILIARY_PODS
    assert MAX_AUXILIARY_PODS * (63 + 1 + 63 + 1) <= 32 * 4096


# ---- findings at the role's own lines


def lines(
    body: str, target: str = "jobset", cluster: ClusterProfile = DEFAULT_CLUSTER
) -> list[tuple[str, int]]:
    """Return the findings of `smallest(body)`: their names and their lines within the body."""
    result = ptcompile.compile(smallest(body), target=target, cluster=cluster, lint=False)
    return [
        (diagnostic.name, diagnostic.span.line - FIRST_LINE - 1 if diagnostic.span else 0)
        for diagnostic in result.diagnostics
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("roles:\n  loader:\n    comand: [x]", [("spec-unknown-field", 3)]),
        ("roles:\n  loader:\n    resources:\n      gpus: 1", [("spec-unknown-field", 4)]),
        ("roles:\n  loader:\n    script: x.py", [("spec-unknown-field", 3)]),
        ("roles:\n  loader: [x]", [("spec-wrong-type", 2)]),
        ("roles: loader", [("spec-wrong-type", 1)]),
        (
            "roles:\n  loader:\n    resources: {requests: {cpu: 2}, limits: {cpu: 1}}",
            [("request-above-limit", 3)],
        ),
        ("roles:\n  loader:\n    resources: {gpu: '1.5'}", [("spec-invalid-value", 3)]),
        ("roles:\n  loader:\n    env:\n      A: {}", [("spec-invalid-value", 4)]),
        ("roles:\n  loader:\n    volumes: [x]", [("spec-wrong-type", 3)]),
        ("roles:\n  loader:\n    podTemplate: {metadata: {name: x}}", [("spec-unknown-field", 3)]),
        ("roles:\n  loader:\n    restartPolicy: Always", [("unsupported-by-target", 3)]),
        (
            "roles:\n  loader:\n    podTemplate: {spec: {hostname: x}}",
            [("unsupported-by-target", 3)],
        ),
        (
            "roles:\n  loader:\n    env:\n      JOB_COMPLETION_INDEX: x",
            [("unsupported-by-target", 4)],
        ),
    ],
)
def test_a_mistake_in_a_role_is_reported_at_its_line(
    body: str, expected: list[tuple[str, int]]
) -> None:
    assert lines(body) == expected


def test_a_missing_image_is_reported_at_the_role_that_needs_it() -> None:
    def missing(body: str) -> list[tuple[Any, ...]]:
        return [
            problem.path
            for problem in compiled(text(body), "jobset").problems
            if problem.name == "spec-missing-field"
        ]

    assert missing("script: t.py\nroles: {loader: {}}") == [("spec", "image")]
    assert missing("script: t.py\nworker: {image: a}\nroles: {loader: {}}") == [
        ("spec", "roles", "loader", "image")
    ]
    assert missing("script: t.py\nworker: {image: a}\nroles: {loader: {image: b}}") == []


def test_gpus_of_an_auxiliary_role_count_for_the_accelerator_only() -> None:
    body = "resources: {gpu: 2}\nelastic: {nprocPerNode: 2}\nroles: {ps: {resources: {gpu: 1}}}"
    assert lines(body) == []
    assert lines("accelerator: a100\nroles: {ps: {resources: {gpu: 1}}}", cluster=CATALOGUE) == []
    assert lines("accelerator: a100\nroles: {ps: {}}", cluster=CATALOGUE) == [("spec-conflict", 1)]
    none = "accelerator: a100\nresources: {gpu: 1}\nmaster: {resources: {gpu: 0}}\nroles: {ps: {}}"
    assert lines(none, cluster=CATALOGUE) == [("spec-conflict", 1)]


def test_the_size_of_shared_memory_does_not_apply_to_auxiliary_roles() -> None:
    body = (
        "resources: {memory: 8Gi}\nsharedMemory: 4Gi\nroles: {loader: {resources: {memory: 1Gi}}}"
    )
    assert lines(body) == []


@pytest.mark.parametrize(
    ("target", "name", "refused"),
    [
        ("volcano", "WORLD_SIZE", True),  # docs/facts/volcano.md#cases C7: set on every task
        ("volcano", "RANK", False),  # the rank is not
        (
            "trainjob",
            "PET_NNODES",
            False,
        ),  # docs/facts/trainer.md#environment: only in the container node
        ("jobset", "JOB_COMPLETION_INDEX", True),
    ],
)
def test_variables_that_an_operator_sets_on_auxiliary_roles_are_rejected(
    target: str, name: str, refused: bool
) -> None:
    problems = compiled(smallest(f"roles: {{loader: {{env: {{{name}: '1'}}}}}}"), target).problems
    expected = (
        [("unsupported-by-target", ("spec", "roles", "loader", "env", name))] if refused else []
    )
    assert [(problem.name, problem.path) for problem in problems] == expected


@pytest.mark.parametrize("case", findings.cases("lowering"))
def test_jobs_are_as_recorded(case: str) -> None:
    assert findings.again(case, "lowering") == case.strip()


NESTED = {
    "worker": {"image": "own"},
    "roles": {"loader": {"env": {}}},
    "image": "i",
    "env": {},
    "args": ["a"],
}


@pytest.mark.parametrize(
    ("job", "path", "expected"),
    [
        # the number of nodes is at the field that sets it
        ({"nodes": 2}, ("nodes",), ("nodes",)),
        ({"worker": {}}, ("nodes",), ("worker",)),
        ({"elastic": {}}, ("nodes",), ("elastic", "nnodes")),
        # a field that a role inherits is at the job's
        (NESTED, ("worker", "env", "A"), ("env", "A")),
        (NESTED, ("worker", "image"), ("worker", "image")),
        (NESTED, ("worker", "queue"), ("worker", "queue")),  # in neither
        (NESTED, ("master", "image"), ("image",)),
        (NESTED, ("roles", "loader", "image"), ("image",)),
        (NESTED, ("roles", "loader", "env", "A"), ("roles", "loader", "env", "A")),
        (NESTED, ("roles", "loader", "args"), ("roles", "loader", "args")),  # never inherited
        (NESTED, ("worker",), ("worker",)),
        (NESTED, ("roles", "loader"), ("roles", "loader")),
        (NESTED, ("elastic", "env"), ("elastic", "env")),
        (None, ("worker", "image"), ("worker", "image")),
        (None, ("nodes",), ("nodes",)),
    ],
)
def test_a_problem_of_an_inherited_field_is_at_the_job_s_field(
    job: Any, path: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    problem = problem_at("x", ("spec", *path), "wrong")
    moved = to_source_field(problem, {"spec": job})
    assert moved.path == ("spec", *expected)
    assert moved.message == f"{field_path(moved.path)}: wrong"
    other = problem._replace(path=("metadata", *path))
    assert to_source_field(other, {"spec": job}) == other


@pytest.mark.parametrize(
    ("edits", "path", "moves"),
    [
        ([("spec", "worker", "image")], ("spec", "image"), True),
        ([("spec", "worker", "image")], ("spec", "picture"), False),  # the fix is for another key
        ([("spec", "worker", "env")], ("spec", "image"), False),
        ([("spec", "worker", "image"), ("spec", "env")], ("spec", "image"), False),
    ],
)
def test_a_fix_moves_with_its_problem_if_it_edits_only_its_field(
    edits: list[tuple[str, ...]], path: tuple[str, ...], moves: bool
) -> None:
    fix = Fix("t", tuple([Edit("set", place, "i") for place in edits]), safe=True)
    problem = Problem("x", ("spec", "worker", "image"), "wrong", fix=fix, field=None)
    moved = with_path(problem, path)
    assert (moved.path, moved.message) == (path, f"{field_path(path)}: wrong")
    assert (moved.fix and [edit.path for edit in moved.fix.edits]) == ([path] if moves else None)
    assert with_path(problem._replace(field="wrong"), path).message == f"{field_path(path)}: wrong"
    assert (
        with_path(problem._replace(text="it is wrong: at all", field=""), path).message
        == "it is wrong: at all"
    )
