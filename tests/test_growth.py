"""Twice the input costs at most 2.2 times, in steps, for every verb over each axis that it has; where the output is
larger than the input, twice the output. What counts is the cost of an item more.

Source: CONTRIBUTING.md#laws 7.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest
from lsprotocol.types import Position, Range

import ptcompile
from ptcompile import cli
from ptcompile._internal import limits
from ptcompile.cli.files import InputFile
from ptcompile.cli.gitignore import matcher
from ptcompile.cli.related import RelatedObjects
from ptcompile.explainer.page import html
from ptcompile.fixer import fix_in_rounds
from ptcompile.report import FORMATS, renderer
from ptcompile.server import lenses
from ptcompile.server.document import OpenDocument
from ptcompile.simulator.as_text import overview
from ptcompile.source.suppression import add_ignores
from tests import growing as many
from tests.cli.running import here
from tests.counting import Work, steps
from tests.making import gather

Do = Callable[[str], object]
OLD, NEW = (
    f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{kubernetes: '{release}'}}}}\n"
    for release in ("1.30", "1.35")
)
MOST = 1.1
"""How much more an item of a larger input may cost than one of a smaller input."""


def growth(make: Callable[[int], Work], n: int) -> float:
    """Return what an item costs in the step from 2n items to 8n, as a multiple of its cost in the step from n to 2n.

    Linear work gives 1, quadratic work 10 / 3. `make` prepares the work on a number of items, which is not counted. The
    long second step shows a small quadratic part at little cost: with a step to 4n, the same part needs 2.5 times the n
    and 1.6 times the work.
    """
    make(n)()  # load lazy modules before measuring
    once, twice, more = (steps(make(size)) for size in (n, 2 * n, 8 * n))
    assert twice > once
    return (more - twice) / 6 / (twice - once)


def lint(text: str) -> object:
    return ptcompile.lint(text, unknown_kinds="error")


def full(text: str) -> object:
    return renderer("full")(ptcompile.lint(text, filename="f").diagnostics, {"f": text})


def compile(text: str) -> object:
    result = ptcompile.compile(text, filename="f", target="job")
    return result.yaml(), renderer("full")(result.diagnostics, {"f": text})


def simulate(text: str) -> object:
    world = ptcompile.simulate(text, target="job")
    return overview(world), world.to_dict()


def explain(text: str) -> object:
    explanation = ptcompile.explain(text, target="job")
    return explanation.text(), explanation.to_dict()


def page(text: str) -> object:
    return html(gather(text, target="job"))


def fix(text: str) -> object:
    return fix_in_rounds(
        text.encode(), lambda content: ptcompile.lint(content).diagnostics, unsafe=True
    )


def fix_many(text: str) -> object:
    """Fix a text, the largest of which has more findings than a report lists."""
    few = limits.TRUSTED._replace(findings=24)
    with patch.object(limits, "_in_force", [few]):
        return ptcompile.fix(text, unsafe=True)


def imported(text: str) -> object:
    return ptcompile.import_manifests(text).yaml()


def converted(text: str) -> object:
    return ptcompile.convert(text, target="jobset").yaml()


def needs(text: str) -> object:
    return ptcompile.requires(text).diagnostics


def admitted(text: str) -> object:
    return ptcompile.admit(text, state=text).to_dict()


def diff(text: str) -> object:
    difference = ptcompile.diff(
        text, text.replace("value-", "other-").replace("name: train", "name: trains")
    )
    return difference.text(), difference.to_dict()


def upgraded(text: str) -> object:
    upgrade = ptcompile.upgrade(text, from_cluster=OLD, to_cluster=NEW)
    return upgrade.text(), upgrade.to_dict()


def diagnosed(text: str) -> object:
    """Diagnose the text as a log, and as the manifest of a job whose log has one line."""
    diagnoses = [
        ptcompile.diagnose(text),
        ptcompile.diagnose("RuntimeError: CUDA error: out of memory\n", text),
    ]
    return [(each.text(), each.to_dict()) for each in diagnoses]


def krm(text: str) -> object:
    """Run the function on the text as a stream."""
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        return cli.main(["krm"])


def hints(text: str) -> object:
    opened = OpenDocument("file:///a.yaml", "/a.yaml", text)
    return lenses.inlay_hints(opened, Range(Position(0, 0), Position(len(opened.lines), 0)))


def shown_pods(text: str) -> object:
    return lenses.pods(OpenDocument("file:///a.yaml", "/a.yaml", text), 0)


def ignore(text: str) -> object:
    return add_ignores(text, ptcompile.lint(text).diagnostics)


LINEAR: list[tuple[Do, Callable[[int], str], int]] = [
    (lint, many.pods, 8), (lint, many.env, 20), (lint, many.same_env, 12), (lint, many.secrets, 8),
    (lint, many.volumes, 20), (lint, many.containers, 12), (lint, many.tasks, 6), (lint, many.jobs, 6),
    (lint, many.services, 6), (lint, many.ignored, 24), (lint, many.wide_ignores, 24), (lint, many.bad_keys, 12),
    (lint, many.twice, 12), (lint, many.set_twice, 16), (lint, many.spec_env, 24), (lint, many.spec_bad, 16),
    (lint, many.specs, 3), (lint, many.spec_bad_volumes, 12), (lint, many.spec_reserved, 10), (lint, many.lists, 48),
    (lint, many.comments, 120), (lint, many.templates, 6), (lint, many.unread, 12), (lint, many.aliases, 32),
    (lint, many.json_stream, 8), (lint, many.manifests, 3), (lint, many.manifest_env, 24),
    (lint, many.jobs_with_services, 5), (lint, many.jobs_without_subdomain, 5), (lint, many.pods_with_files, 8),
    (lint, many.trainjobs, 5), (lint, many.sweep, 8), (lint, many.shared_jobsets, 16),
    (lint, many.runs_at_one_host, 16),
    (lint, many.unknown_options, 16), (lint, many.repeated_options, 16),
    (lint, many.containers_under_admission, 160),
    (lint, many.pods_and_limit_ranges, 8), (lint, many.pods_and_quotas, 8), (lint, many.limits_and_a_quota, 24),
    (lint, many.pods_under_policies, 8), (lint, many.a_pod_under_validations, 16),
    (lint, many.gates, 40), (lint, many.unknown_queue_labels, 8), (lint, many.ray_groups, 6),
    (lint, many.cluster_queue, 20), (lint, many.workload, 8), (diff, many.workload, 8),
    (lint, many.patched_steps, 4), (diff, many.stateful_set_with_ports, 8),
    (fix, many.pods_and_limit_ranges, 8),
    (full, many.same_token, 40), (full, many.tokens, 40), (full, many.secrets_beside, 24),
    (compile, many.spec_env, 24), (compile, many.spec_volumes, 16), (compile, many.spec_args, 24),
    (compile, many.spec_containers, 24), (compile, many.spec_bad_volumes, 16), (compile, many.specs, 3),
    (simulate, many.pods, 4), (simulate, many.tasks, 4), (simulate, many.jobs, 8), (simulate, many.services, 5),
    (simulate, many.env, 16), (simulate, many.specs, 2), (simulate, many.jobs_with_services, 6),
    (simulate, many.pods_with_files, 8), (simulate, many.trainjobs, 4),
    (explain, many.spec_env, 7), (explain, many.spec_args, 7), (explain, many.spec_volumes, 6),
    (explain, many.specs, 1), (shown_pods, many.tasks, 4), (page, many.spec_env, 6),
    (fix, many.misspelt, 8), (fix, many.set_twice, 8), (ignore, many.bad_keys, 16),
    (fix_many, many.suspended_trainjobs, 2),
    (fix, many.one_key_often, 8), (imported, many.job_with_one_variable_often, 8),
    (imported, many.job_with_rendezvous_settings, 20), (imported, many.jobs_with_queues, 4),
    (imported, many.jobs_with_services, 3), (imported, many.tasks, 4), (imported, many.jobs, 2),
    (diff, many.manifests, 2), (diff, many.manifest_env, 16),
    (imported, many.pytorchjobs, 1), (imported, many.trainjobs, 1), (imported, many.jobs_with_config_maps, 1),
    (imported, many.volcano_jobs, 2), (converted, many.volcano_jobs, 1),
    (imported, many.different_jobs, 1), (converted, many.different_jobs, 1),
    (converted, many.pytorchjobs, 1), (converted, many.jobs_with_queues, 1), (converted, many.jobs_with_services, 1),
    (converted, many.jobs_with_config_maps, 1), (converted, many.tasks, 2),
    (needs, many.pytorchjobs, 2), (needs, many.jobs_with_queues, 2), (needs, many.tasks, 12),
    (admitted, many.jobs_with_queues, 4), (admitted, many.queue_with_nodes, 60),
    (diff, many.pytorchjobs, 2), (diff, many.tasks, 3), (explain, many.spec_roles, 2),
    (simulate, many.pytorchjobs, 2), (lint, many.pytorchjobs, 2), (fix, many.pods, 3),
    (upgraded, many.pods, 2), (upgraded, many.pytorchjobs, 2), (upgraded, many.tasks, 3), (upgraded, many.specs, 2),
    (diagnosed, many.pods, 3), (diagnosed, many.tasks, 3), (diagnosed, many.log_lines, 8),
    (krm, many.pods, 3), (krm, many.specs, 2), (krm, many.jobs_with_services, 2),
    (hints, many.pods, 3), (hints, many.jobs_with_services, 2),
    (lint, many.pods_under_bindings, 6), (full, many.long_line, 24), (lint, many.broken_json, 12),
]  # fmt: skip
"""Function, source and size of the source; in each of them the result grows with the source."""


@pytest.mark.parametrize(
    ("work", "text", "n"), LINEAR, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_work_is_linear_in_its_input(work: Do, text: Callable[[int], str], n: int) -> None:
    assert growth(lambda size: lambda: work(text(size)), n) < MOST


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("files", [1, 40])
def test_reports_are_linear_in_their_findings(name: str, files: int) -> None:
    def report(findings: int) -> Callable[[], object]:
        texts: dict[str | None, str] = {
            f"f{i}": many.bad_keys(findings // files) for i in range(files)
        }
        diagnostics = [
            diagnostic
            for file, text in texts.items()
            for diagnostic in ptcompile.lint(text, filename=file).diagnostics
        ]
        return lambda: renderer(name)(diagnostics, texts)

    assert growth(report, 40) < MOST


@pytest.mark.parametrize(
    "arguments", [["lint"], ["simulate"], ["compile", "--target", "job"]], ids=" ".join
)
def test_commands_are_linear_in_their_files(
    arguments: Sequence[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make = many.spec if arguments[0] == "compile" else many.manifest
    for i in range(32):
        (tmp_path / f"{i}.yaml").write_text(make(i), encoding="utf-8")

    def run(count: int) -> Callable[[], object]:
        paths = [str(tmp_path / f"{i}.yaml") for i in range(count)]

        return lambda: here(capsys, *arguments, *paths)

    assert growth(run, 4) < MOST


def test_finding_the_services_of_each_file_is_linear_in_the_files() -> None:
    """Each file is linted with the Services in others that it names or that may select its pods."""

    def find(count: int) -> Callable[[], object]:
        inputs = [
            InputFile(f"{i}.yaml", many.job_with_service(i).encode(), False) for i in range(count)
        ]

        def objects_for_all() -> object:
            related = RelatedObjects(inputs, is_complete=True)
            return [related.objects_for(file) for file in inputs]

        return objects_for_all

    assert growth(find, 100) < MOST


def manifests_for(target: str) -> Do:
    def compiled(text: str) -> str:
        return ptcompile.compile(text, target=target).yaml()

    compiled.__name__ = f"compile for {target}"
    return compiled


def pods(text: str) -> str:
    return json.dumps(ptcompile.simulate(text).to_dict())


SQUARE: list[tuple[Do, Callable[[int], str], Do]] = [
    *[
        (each, many.spec_roles, each)
        for each in map(manifests_for, ("jobset", "volcano", "trainjob"))
    ],
    *[
        (each, many.spec_roles, manifests_for("jobset"))
        for each in (lint, explain, diff, needs, upgraded, diagnosed, krm)
    ],
    *[
        (each, many.hosted_tasks, pods)
        for each in (simulate, lint, imported, converted, diff, needs, upgraded, hints)
    ],
]
"""Function, source, and what is made of the source, which grows with its square."""


@pytest.mark.parametrize(
    ("work", "text", "made"), SQUARE, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_work_is_linear_in_what_is_made(
    work: Do, text: Callable[[int], str], made: Callable[[str], str]
) -> None:
    """Every role of a spec gets a variable with the host of every other role, and Volcano's plugin svc gives every pod
    a variable for every task, whose values only the operator knows: n times n host names stand in the manifests or in
    the pods. Verbs that print neither look through them. A limit of roles bounds both (SECURITY.md).
    """
    few, several = text(6), text(24)
    work(few)
    assert steps(lambda: work(several)) / len(made(several)) <= 1.1 * steps(
        lambda: work(few)
    ) / len(made(few))


def test_lint_of_a_wide_volcano_job_stays_small() -> None:
    """Each of 300 tasks would have 600 variables: lint simulates none of them but still reports the other findings."""
    several, more = (many.hosted_tasks(n) for n in (300, 600))
    lint(several)
    assert steps(lambda: lint(more)) < 2 * MOST * steps(lambda: lint(several))


CONSTANT: dict[str, Callable[[int], Callable[[], object]]] = {
    "compile": lambda n: (lambda text: lambda: compile(text))(many.spec(nodes=n)),
    "lint": lambda n: (lambda text: lambda: lint(text))(many.manifest(nodes=n)),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_nodes_cost_nothing_if_no_pods_are_requested(name: str) -> None:
    _, few, many_ = (steps(CONSTANT[name](nodes)) for nodes in (10, 10, 10_000))
    assert many_ <= 1.05 * few


def test_simulated_nodes_are_linear() -> None:
    def pods(nodes: int) -> Callable[[], object]:
        text = many.manifest(nodes=nodes)
        return lambda: [pod.env for pod in ptcompile.simulate(text).pods]

    assert growth(pods, 8) < MOST


@pytest.mark.parametrize("axis", ["patterns", "files", "brackets"])
def test_patterns_are_linear(axis: str) -> None:
    """The patterns of one .gitignore, the files that they are asked about, and the brackets of one pattern."""

    def ignoring(count: int) -> Callable[[], object]:
        patterns = count if axis == "patterns" else 10
        lines = (
            [b"[!a]" * count]
            if axis == "brackets"
            else [b"/a%d*/[!b]%d" % (i, i) for i in range(patterns)]
        )
        names = [b"a%dx/c%d" % (i, i) for i in range(count if axis == "files" else 10)]

        def ask() -> object:
            ignores = matcher(lines)
            return [ignores(name, False) for name in names]

        return ask

    assert growth(ignoring, 12) < MOST


def test_quadratic_work_is_detected() -> None:
    def pairs(text: str) -> object:
        return [(a, b) for a in text for b in text]

    with pytest.raises(AssertionError):
        test_work_is_linear_in_its_input(pairs, lambda n: "x" * n, 20)
