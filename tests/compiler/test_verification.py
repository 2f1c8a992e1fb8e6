"""Notes on spec fields without effect, and warnings for launchers in `command` whose pods would each train alone."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.compiler.verification import _lost_keys
from ptcompile.operators.targets import TARGETS
from tests import making
from tests.making import compiled, smallest, text

TWO = "nodes: 2"
STATIC = "nodes: 2\nelastic: {nprocPerNode: 2, rdzvId: a}"


@pytest.mark.parametrize(
    ("body", "target", "expected"),
    [
        ("masterPort: 1234", "job", ["masterPort"]),
        ("masterPort: 1234", "volcano", []),  # Volcano's plugin sets the port anyway
        (f"masterPort: 1234\n{TWO}", "job", []),
        (STATIC, "job", ["elastic", "rdzvId"]),
        (STATIC.replace("rdzvId: a", "rdzvId: a, maxRestarts: 1"), "job", []),
        (STATIC.replace("rdzvId: a", "rdzvId: null"), "job", []),
        ("elastic: {rdzvBackend: c10d}", "job", ["elastic", "rdzvBackend"]),
        (f"{TWO}\nelastic: {{rdzvBackend: c10d}}", "job", []),
        (f"names: {{worker: a}}\n{TWO}", "job", ["names", "worker"]),
        (f"names: {{worker: a}}\n{TWO}", "volcano", []),
        (f"names: {{node: a}}\n{TWO}", "jobset", []),
        ("names: {node: a}\nmaster: {}\nworker: {}", "jobset", ["names", "node"]),
    ],
)
def test_fields_without_effect_are_a_note(body: str, target: str, expected: list[str]) -> None:
    result = ptcompile.compile(smallest(body), target=target)
    diagnostics = [
        diagnostic for diagnostic in result.diagnostics if diagnostic.name == "word-without-effect"
    ]
    assert result.ok
    assert [diagnostic.severity for diagnostic in diagnostics] == ["note"] * len(diagnostics)
    assert [list(diagnostic.path) for diagnostic in diagnostics][:1] == (
        [["spec", *expected]] if expected else []
    )
    assert all(diagnostic.span is not None for diagnostic in diagnostics)


@pytest.mark.parametrize("target", ["job", "volcano", "trainjob", "jobset"])
def test_clean_pod_policy_without_effect_is_a_note(target: str) -> None:
    keep = smallest(f"{TWO}\nrunPolicy: {{cleanPodPolicy: 'None'}}")
    (diagnostic,) = (
        finding
        for finding in ptcompile.compile(keep, target=target).diagnostics
        if finding.path[-1] == "cleanPodPolicy"
    )
    assert (diagnostic.name, diagnostic.severity) == ("done-differently", "note")
    assert "pytorchjob" in (diagnostic.help or "")
    assert not ptcompile.compile(keep, target="pytorchjob").diagnostics
    alone = keep.replace(TWO, "nodes: 1")
    assert not ptcompile.compile(alone, target=target).diagnostics, (
        "it does not run when the job is over"
    )


def test_a_pod_has_no_backoff_limit() -> None:
    unlimited = smallest("runPolicy: {backoffLimit: Unlimited}")
    (diagnostic,) = ptcompile.compile(unlimited, target="pod").diagnostics
    assert (diagnostic.name, diagnostic.path) == (
        "unsupported-by-target",
        ("spec", "runPolicy", "backoffLimit"),
    )
    assert ptcompile.compile(unlimited + "  restartPolicy: OnFailure\n", target="pod").ok


SEVERAL = [name for name in TARGETS if name != "pod"]
TELLING = {"pytorchjob", "trainjob"}
"""Targets whose operators set PET_* variables, which torchrun reads.

Source: docs/facts/training-operator.md#environment; docs/facts/trainer.md#environment.
"""

COMMANDS = [
    ("command: [torchrun, train.py]", "worlds-apart", "command"),
    ("args: [torchrun, train.py]", "worlds-apart", "args"),  # the image has no entry point
    ("command: [python, -m, torch.distributed.run, train.py]", "worlds-apart", "command"),
    ("command: [bash, -c, 'exec torchrun --nproc-per-node=8 train.py']", "worlds-apart", "command"),
    ("command: [torchrun, --nnodes=1, train.py]", "worlds-apart", "command"),
    ("command: [torchrun, --standalone, train.py]", "standalone-on-many-pods", "command"),
]


def warnings_of(body: str, target: str) -> list[tuple[str, str]]:
    problems = compiled(text(f"image: img:1\n{body}\nnodes: 4"), target).problems
    assert all(
        p.severity == "warning" and p.stage == "run" and "script" in f"{p.help}" for p in problems
    )
    return [(p.name, str(p.path[1])) for p in problems]


@pytest.mark.parametrize(("body", "name", "where"), COMMANDS)
@pytest.mark.parametrize("target", [name for name in SEVERAL if name not in TELLING])
def test_pods_that_would_each_train_alone_are_a_warning(
    body: str, name: str, where: str, target: str
) -> None:
    assert warnings_of(body, target) == [(name, where)]


def test_elastic_is_a_cure_for_a_torchrun_that_reads_variables() -> None:
    def help_of(command: str, more: str = "") -> list[str]:
        spec = text(f"image: img:1\ncommand: {command}\nnodes: 4\n{more}")
        return [f"{problem.help}" for problem in compiled(spec, "job").problems]

    assert ["set elastic: {}" in help for help in help_of("[torchrun, train.py]")] == [True]
    assert help_of("[torchrun, train.py]", "elastic: {}") == []
    assert ["set elastic: {}" in help for help in help_of("[torchrun, --nnodes=1, train.py]")] == [
        False
    ]


@pytest.mark.parametrize("target", sorted(TELLING))
def test_operators_that_configure_torchrun_need_no_warning(target: str) -> None:
    assert warnings_of("command: [torchrun, train.py]", target) == []
    assert warnings_of("command: [torchrun, --standalone, train.py]", target) == [
        ("standalone-on-many-pods", "command")
    ]


@pytest.mark.parametrize("target", SEVERAL)
def test_accelerate_reads_the_variables_of_no_operator(target: str) -> None:
    assert warnings_of("command: [accelerate, launch, train.py]", target) == [
        ("launcher-alone", "command")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "command: [python, train.py]",
        "command: [python, launch.py, --launcher, torchrun]",  # torchrun is an argument of the script
        "command: [torchrun, --nnodes=4, --node-rank=$(RANK), --master-addr=$(MASTER_ADDR), train.py]",
        "command: [torchrun, train.py]\nenv: {PET_NNODES: '4', PET_NODE_RANK: $(RANK), PET_MASTER_ADDR: a.b}",
        "command: [bash, -c, 'if [ $A ]; then torchrun train.py; fi']",  # undecidable
        "script: train.py",
    ],
)
def test_working_and_undecidable_commands_have_no_finding(body: str) -> None:
    assert warnings_of(body, "jobset") == []


def test_one_node_needs_no_rendezvous() -> None:
    assert compiled(text("image: img:1\ncommand: [torchrun, train.py]")).problems == ()


def test_a_role_s_command_is_reported_at_the_role() -> None:
    body = "image: img:1\nmaster: {command: [torchrun, a.py]}\nworker: {replicas: 2, command: [torchrun, b.py]}"
    (problem,) = compiled(text(body), "volcano").problems
    assert (problem.name, problem.path) == ("worlds-apart", ("spec", "master", "command"))


def test_lint_reports_the_same_finding_once() -> None:
    source = text("image: img:1\ncommand: [torchrun, train.py]\nnodes: 4\ntarget: volcano")
    findings = [d for d in ptcompile.lint(source).diagnostics if d.name == "worlds-apart"]
    assert findings == list(ptcompile.compile(source).diagnostics)
    assert len(findings) == 1


def test_lint_does_not_report_variables_set_by_a_pass() -> None:
    """For a script without torchrun, a pass sets WORLD_SIZE; entries in `env` come from the user."""
    source = text("image: img:1\ncommand: [torchrun, train.py]\nnodes: 4\ntarget: volcano")
    assert [
        finding
        for finding in ptcompile.lint(source).diagnostics
        if finding.name == "env-that-torchrun-sets"
    ] == []
    own = f'{source}  env: {{LOCAL_RANK: "0"}}\n'
    (diagnostic,) = [
        finding
        for finding in ptcompile.lint(own).diagnostics
        if finding.name == "env-that-torchrun-sets"
    ]
    assert diagnostic.path == ("spec", "env", "LOCAL_RANK")


@pytest.mark.parametrize(
    ("body", "profile", "path"),
    [
        (
            "fabric: roce\nsecurityContext: {capabilities: {drop: [IPC_LOCK]}}",
            {},
            ("spec", "fabric"),
        ),
        ("nodes: 1", {"defaults": {"env": {"FI_PROVIDER": "efa"}}}, ("spec",)),
    ],
)
def test_part_of_a_fabric_is_reported_at_the_fabric(
    body: str, profile: dict[str, Any], path: tuple[str, ...]
) -> None:
    (problem,) = making.compiled(making.smallest(body), "job", making.profile(profile)).problems
    assert (problem.name, problem.path) == ("partial-fabric", path)


@pytest.mark.parametrize(
    ("body", "target", "path"),
    [
        ("podTemplate: {spec: {subdomain: null}}", "job", ("podTemplate", "spec", "subdomain")),
        ("podTemplate: {spec: {subdomain: null}}", "pytorchjob", None),
        ("podTemplate: {spec: {enableServiceLinks: null}}", "job", None),
        (
            "podTemplate: {spec: {containers: [{name: pytorch, imagePullPolicy: null}]}}",
            "job",
            None,
        ),
    ],
)
def test_a_null_may_not_remove_what_the_target_needs(
    body: str, target: str, path: tuple[str, ...] | None
) -> None:
    result = ptcompile.compile(smallest(f"{TWO}\n{body}"), target=target)
    diagnostics = [
        diagnostic
        for diagnostic in result.diagnostics
        if diagnostic.name == "unsupported-by-target"
    ]
    assert [tuple(diagnostic.path) for diagnostic in diagnostics] == (
        [] if path is None else [("spec", *path)]
    )
    for finding in diagnostics:
        assert f"the target {target} needs subdomain, but null would remove it" in finding.message
        assert finding.help == "remove this line"


@pytest.mark.parametrize(
    ("whole", "rest", "lost"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, {"b"}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"b"}),
        ({"a": [{"b": 1}, {"c": 2}]}, {"a": [{"b": 1}, {}]}, {"c"}),
        ([{"name": "X", "value": "1"}], [], {"X", "1"}),
        (["a"], [], set()),
        ("abc", [], set()),
        ({"a": 1}, {"a": "x"}, set()),
        ({"a": [1]}, {"a": {}}, set()),
    ],
)
def test_keys_and_items_that_only_one_manifest_has_are_lost(
    whole: Any, rest: Any, lost: set[str]
) -> None:
    assert _lost_keys(whole, rest) == lost


def test_the_name_that_only_the_server_knows_is_searched_last() -> None:
    """An error of the spec itself comes alone."""
    spec = smallest(TWO).replace("name: train", "generateName: train-")
    (diagnostic,) = ptcompile.compile(spec, target="job").diagnostics
    assert tuple(diagnostic.path) == ("metadata", "generateName")
    assert diagnostic.message.startswith(
        "metadata.generateName: Service metadata.name contains the job's name"
    )
    wrong = smallest(TWO + "\npodTemplate: {spec: {subdomain: null}}").replace(
        "name: train", "generateName: train-"
    )
    assert [
        tuple(finding.path)[1] for finding in ptcompile.compile(wrong, target="job").diagnostics
    ] == ["podTemplate"]


@pytest.mark.parametrize(
    ("block", "field"),
    [
        ("metadata: {name: a, annotations: {kueue.x-k8s.io/job-min-parallelism: x}}", "metadata"),
        ("podAnnotations: {kueue.x-k8s.io/podset-required-topology: 'A B'}", "podAnnotations"),
        (
            "manifest: {job: {metadata: {annotations: {kueue.x-k8s.io/job-min-parallelism: x}}}}",
            "manifest",
        ),
    ],
)
def test_the_webhooks_of_queues_check_annotations_from_anywhere(block: str, field: str) -> None:
    spec = smallest("nodes: 2\n")
    is_metadata = field == "metadata"
    spec = spec.replace("metadata: {name: train}", block) if is_metadata else f"{spec}  {block}\n"
    (error,) = ptcompile.compile(spec, target="job", lint=False).diagnostics
    assert error.severity == "error"
    assert field in error.path
