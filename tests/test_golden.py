"""The golden cases: the exact manifests for every target, and whether they make sense.

`pytest --snapshot-update` rewrites the files. The first comment of each spec.yaml says why the case exists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import ptcompile
from ptcompile import compile
from ptcompile.kinds.pods import ContainerView, Expansion, PodView, main_container_of
from ptcompile.operators.table import expand
from ptcompile.operators.targets import TARGETS, every_target
from ptcompile.report import renderer
from ptcompile.simulator.kubelet import environment, expand_vars
from tests.conftest import ABLE, ALL, BAD, GOLDEN, GOOD, PAIRS, ROOT, Case, GoldenFile, pair_name

pytestmark = pytest.mark.filterwarnings(
    r"ignore:\s*Can not relate snapshot"
)  # syrupy warns about files not named after the test

OPERATORS_OWN = frozenset(
    {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "JOB_COMPLETION_INDEX"}
)
"""Variables that operators set, or replacements for them: their effect is compared, not how pods receive them."""

MAIN_CONTAINERS = frozenset(target.main_container for target in every_target())

OWN_CONTAINERS = frozenset({*MAIN_CONTAINERS, "init-pytorch"})
"""Main containers, and the training-operator's init container that waits for the master."""

NEED_A_TARGET = {"digit-first-old"}
"""Cases that no target of the default selection can express."""

STORED = {"elastic-range", "queue-kueue"}
"""Cases whose objects are also shown as the server would keep them."""

compiled = cache(Case.compile)
"""Cached, because a dozen tests compile the same cases."""

MEETING = (
    "nnodes",
    "nproc-per-node",
    "rdzv-backend",
    "rdzv-endpoint",
    "rdzv-id",
    "rdzv-conf",
    "max-restarts",
)


@pytest.mark.parametrize("case", ALL, ids=pair_name)
def test_each_case_has_a_reason(case: Case) -> None:
    assert case.spec.startswith("# ")


@pytest.mark.parametrize(("case", "target"), PAIRS, ids=pair_name)
def test_manifests_equal_their_golden_files(
    case: Case, target: str, golden_file: GoldenFile
) -> None:
    result = compiled(case, target)
    if result.ok:
        assert result.yaml() == golden_file(case, f"{target}.yaml")


@pytest.mark.parametrize(
    ("case", "target"), [pair for pair in ABLE if pair[0].name in STORED], ids=pair_name
)
def test_stored_objects_equal_their_golden_files(
    case: Case, target: str, golden_file: GoldenFile
) -> None:
    result = ptcompile.stored(case.spec, target=target, cluster=case.cluster)
    assert result.ok
    assert result.yaml() == golden_file(case, f"stored-{target}.txt")


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_findings_of_a_good_spec_are_as_recorded(case: Case, golden_file: GoldenFile) -> None:
    if findings := _findings(case):
        assert findings == golden_file(case, "diagnostics.txt")


@pytest.mark.parametrize("case", BAD, ids=pair_name)
def test_findings_of_a_bad_spec_are_as_recorded(case: Case, golden_file: GoldenFile) -> None:
    result = compiled(case)
    assert not result.ok
    assert renderer("full")(result.diagnostics, case.texts()) == golden_file(
        case, "diagnostics.txt"
    )


@pytest.mark.parametrize("case", BAD, ids=pair_name)
def test_a_finding_has_a_position_a_reason_and_an_authority(case: Case) -> None:
    for diagnostic in compiled(case).diagnostics:
        assert diagnostic.span is not None or diagnostic.name == "no-documents", diagnostic.message
        assert diagnostic.message
        assert "\n" not in diagnostic.message


def test_no_file_is_without_a_test() -> None:
    claimed = {GOLDEN / case.name / name for case in ALL for name in _expected_files(case)}
    there = {path for path in GOLDEN.rglob("*") if path.is_file()}
    assert there == claimed


def _expected_files(case: Case) -> set[str]:
    names = {"spec.yaml"} | ({"cluster.yaml"} if case.cluster is not None else set())
    if case in BAD:
        return names | {"diagnostics.txt"}
    names |= {f"{target}.yaml" for target in TARGETS if compiled(case, target).ok}
    if case.name in STORED:
        names |= {f"stored-{target}.txt" for target in TARGETS if compiled(case, target).ok}
    return names | ({"diagnostics.txt"} if _findings(case) else set())


def _findings(case: Case) -> str:
    """Return the findings for each target, one per line."""
    lines = []
    for target in TARGETS:
        findings = renderer("concise")(compiled(case, target).diagnostics, {})
        lines += [f"{target}: {line}\n" for line in findings.splitlines()]
    return "".join(lines)


def test_every_target_has_a_golden_and_a_rejection() -> None:
    able = {target for case, target in PAIRS if compiled(case, target).ok}
    refused = {target for case, target in PAIRS if not compiled(case, target).ok}
    assert able == refused == set(TARGETS)


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_the_default_target_is_one_that_compiles(case: Case) -> None:
    able = [compiled(case, target).yaml() for target in TARGETS if compiled(case, target).ok]
    chosen = compiled(case)
    assert chosen.ok is (case.name not in NEED_A_TARGET)
    assert chosen.yaml() in able or not chosen.ok


EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/spec.yaml"))


@pytest.mark.parametrize("target", [None, *(t for t in TARGETS if t != "pod")])
@pytest.mark.parametrize("with_profile", [True, False])
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_examples_compile(folder: Path, with_profile: bool, target: str | None) -> None:
    cluster = (folder / "cluster.yaml").read_bytes() if with_profile else None
    result = compile((folder / "spec.yaml").read_bytes(), target=target, cluster=cluster)
    expected = _refused_on_purpose(folder.name, target, with_profile=with_profile)
    assert [diagnostic.name for diagnostic in result.diagnostics] == expected, result.diagnostics


def _refused_on_purpose(example: str, target: str | None, *, with_profile: bool) -> list[str]:
    """Return the expected errors of an example.

    The llm example names an accelerator that only its profile has; Volcano has no deadline, and a TrainJob no TTL.
    """
    unable = {("llm", "volcano"), ("llm", "trainjob"), ("mnist", "trainjob")}
    refused = ["unsupported-by-target"] if (example, target) in unable else []
    return ["spec-invalid-value", *refused] if example == "llm" and not with_profile else refused


# ---- tests that do not read the goldens: the worlds of the manifests


class Node(NamedTuple):
    """A pod as its processes see it."""

    pod: PodView
    main: ContainerView
    env: dict[str, str]
    argv: list[str]
    options: dict[str, str]
    entry: list[str]


def _world(case: Case, target: str) -> tuple[Expansion, list[Node]]:
    """Return the only workload's expansion and its training pods."""
    manifests, versions = compiled(case, target).manifests, case.versions()
    made = [
        expansion
        for expansion in (expand(m, versions=versions, related=manifests) for m in manifests)
        if len(expansion.pods)
    ]
    assert len(made) == 1
    return made[0], [_node(pod) for pod in made[0].pods if _trains(pod)]


def _trains(pod: PodView) -> bool:
    return any(c.name in MAIN_CONTAINERS for c in pod.containers)


def _node(pod: PodView) -> Node:
    main = next(c for c in pod.containers if c.name in MAIN_CONTAINERS)
    env = environment(main, pod)
    argv = [expand_vars(word, env) for word in (*(main.command or ()), *(main.args or ()))]
    options, entry = _torchrun(argv, env)
    return Node(pod, main, env, argv, options, entry)


def _torchrun(argv: list[str], env: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return torchrun's effective options, where arguments override PET_ variables, and the program it starts."""
    if argv[:1] != ["torchrun"]:
        return {}, argv
    options = {
        key[4:].lower().replace("_", "-"): value
        for key, value in env.items()
        if key.startswith("PET_")
    }
    rest = argv[1:]
    while rest and rest[0].startswith("--"):
        name, _, value = rest.pop(0)[2:].partition("=")
        options[name] = value
    return options, rest


@pytest.mark.parametrize(("case", "target"), ABLE, ids=pair_name)
def test_ranks_are_unique_and_the_rendezvous_endpoint_resolves(case: Case, target: str) -> None:
    made, nodes = _world(case, target)
    assert not made.refused
    names = [node.pod.name for node in nodes]
    assert len(set(names)) == len(names)
    if nodes[0].argv[:1] == ["torchrun"]:
        _check_meeting(nodes)
    else:
        _check_plain(nodes)


def _check_meeting(nodes: list[Node]) -> None:
    options = nodes[0].options
    if "standalone" in options:
        assert len(nodes) == 1
        return
    fewest, _, most = options["nnodes"].partition(":")
    assert 1 <= int(fewest) <= len(nodes) == int(most or fewest)
    if "rdzv-backend" in options and options["rdzv-backend"] != "static":
        assert (
            len(
                {
                    tuple(sorted((k, node.options[k]) for k in MEETING if k in node.options))
                    for node in nodes
                }
            )
            == 1
        )
        if options["rdzv-backend"] == "c10d":
            _resolves(options["rdzv-endpoint"].rpartition(":")[0], nodes)
        return
    assert sorted(int(node.options["node-rank"]) for node in nodes) == list(range(len(nodes)))
    first = next(node for node in nodes if node.options["node-rank"] == "0")
    assert {node.options["master-port"] for node in nodes} == {first.options["master-port"]}
    (host,) = {node.options["master-addr"] for node in nodes}
    assert _resolves(host, nodes) is first


def _check_plain(nodes: list[Node]) -> None:
    """Check that a plain command gets the same four variables on every target."""
    if len(nodes) == 1:
        return
    assert sorted(int(node.env["RANK"]) for node in nodes) == list(range(len(nodes)))
    (host,) = {node.env["MASTER_ADDR"] for node in nodes}
    assert _resolves(host, nodes).env["RANK"] == "0"
    assert {node.env["WORLD_SIZE"] for node in nodes} == {str(len(nodes))}
    assert len({node.env["MASTER_PORT"] for node in nodes}) == 1


def _resolves(host: str, nodes: list[Node]) -> Node:
    """Return the one pod that a name resolves to with the search domain of the pod's namespace."""
    named = [
        node
        for node in nodes
        if node.pod.dns in {host, *(f"{host}{end}" for end in _search(node.pod))}
    ]
    assert len(named) == 1, f"{host} is not a name of one pod: {[node.pod.dns for node in nodes]}"
    return named[0]


def _search(pod: PodView) -> tuple[str, ...]:
    return (f".{pod.namespace}.svc.cluster.local", ".svc.cluster.local", ".cluster.local")


BESIDE = tuple(
    (case, target) for case, target in ABLE if re.search("^  roles:", case.spec, re.MULTILINE)
)


@pytest.mark.parametrize(("case", "target"), BESIDE, ids=pair_name)
def test_every_pod_finds_the_auxiliary_roles(case: Case, target: str) -> None:
    """Auxiliary pods have resolvable names in pod order, and no ranks or torchrun options."""
    made, nodes = _world(case, target)
    for role, written in yaml.safe_load(case.spec)["spec"]["roles"].items():
        pods = [pod for pod in made.pods if pod.role == role]
        assert len(pods) == written.get("replicas", 1)
        environments = [_environment(pod) for pod in pods]
        assert not [
            name
            for env in environments
            for name in env
            if name == "RANK" or name.startswith("PET_")
        ]
        for env in (*(node.env for node in nodes), *environments):
            names = env[f"{role.upper()}_HOSTS"].split(",")
            assert [f"{name}.{pods[0].namespace}.svc.cluster.local" for name in names] == [
                pod.dns for pod in pods
            ]


def _environment(pod: PodView) -> dict[str, str]:
    main = main_container_of(pod.containers, pod.main)
    assert main is not None
    return environment(main, pod)


def test_goldens_have_auxiliary_roles_on_three_targets() -> None:
    assert {target for _, target in BESIDE} == {"volcano", "trainjob", "jobset"}


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_every_target_makes_the_same_world(case: Case) -> None:
    worlds = {
        target: _described(_world(case, target)[1]) for other, target in ABLE if other == case
    }
    first = next(iter(worlds.values()), None)
    for target, world in worlds.items():
        assert world == first, target


def _described(nodes: list[Node]) -> list[dict[str, Any]]:
    """Return what must not depend on the operator: pods in rank order with their command, variables and requests."""
    return [
        {
            "entry": [_neutral(word) for word in node.entry],
            "nproc": node.options.get("nproc-per-node"),
            "nnodes": node.options.get("nnodes", "1"),
            "restarts": node.options.get("max-restarts", "0"),
            "env": {k: _neutral(v) for k, v in node.env.items() if not _operators(k)},
            "resources": node.main.resources,
            "mounts": [mount for mount in node.main.mounts if not _is_volcanos(mount)],
            "volumes": [volume for volume in node.pod.volumes if not _is_volcanos(volume)],
            "image": node.main.image,
            "others": sorted(c.name for c in node.pod.containers if c.name not in OWN_CONTAINERS),
            "tolerations": list(node.pod.tolerations),
            "affinity": node.pod.spec.get("affinity"),
        }
        for node in sorted(nodes, key=_rank)
    ]


def _operators(name: str) -> bool:
    return name in OPERATORS_OWN or name.startswith(("PET_", "VC_")) or name == "POD_NAME"


def _neutral(text: str) -> str:
    """Return the text with auxiliary pods' names stripped of the index of JobSet's only Job."""
    return re.sub(r"-0-(\d+\.)", r"-\1", text)


def _is_volcanos(volume: Mapping[str, Any]) -> bool:
    """Return whether a volume comes from Volcano's svc plugin."""
    return str(volume["name"]).endswith("-svc")


def _rank(node: Node) -> int:
    own = (
        node.options.get("node-rank")
        or node.env.get("RANK")
        or node.env.get("JOB_COMPLETION_INDEX")
    )
    return int(own) if own else node.pod.index
