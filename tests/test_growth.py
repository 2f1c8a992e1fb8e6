"""Time grows as the input does: four times the entries take less than nine times as long (issue 9, law 7)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import ptcompile
from ptcompile.report import FORMATS
from ptcompile.simulation.overview import overview
from ptcompile.suppression import add_ignores
from tests.making import smallest

Work = Callable[[str], object]

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n  containers:\n  - name: c\n    image: i\n"


def _pods(n: int) -> str:
    return "---\n".join(POD % i for i in range(n))


def _env(n: int) -> str:
    return POD % 0 + "    env:\n" + "".join(f"    - {{name: A{i}, value: '$(A{i - 1})x'}}\n" for i in range(n))


def _same_env(n: int) -> str:
    return POD % 0 + "    env:\n" + "    - {name: A, valu: x}\n" * n


def _secrets(n: int) -> str:
    return POD % 0 + "    env:\n" + "".join(f"    - {{name: A{i}_TOKEN, valu: 1, value: s3cr{i}}}\n" for i in range(n))


def _volumes(n: int) -> str:
    volumes = "".join(f"  - {{name: v{i}, emptyDir: {{}}}}\n" for i in range(n))
    return POD % 0 + "    volumeMounts:\n" + "".join(
        f"    - {{name: v{i}, mountPath: /v{i}}}\n" for i in range(n)
    ) + "  volumes:\n" + volumes  # fmt: skip


def _containers(n: int) -> str:
    return POD % 0 + "".join(f"  - {{name: c{i}, image: i, ports: [{{containerPort: {i + 1}}}]}}\n" for i in range(n))


def _tasks(n: int) -> str:
    head = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec:\n  minAvailable: 1\n  tasks:\n"
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"
    return head + "".join(f"  - {{name: t{i}, replicas: 1, {pod}}}\n" for i in range(n))


def _jobs(n: int) -> str:
    head = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec:\n  replicatedJobs:\n"
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"
    return head + "".join(f"  - {{name: t{i}, template: {{spec: {{{pod}}}}}}}\n" for i in range(n))


def _services(n: int) -> str:
    one = "apiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {clusterIP: None, selector: {a: b}}\n---\n"
    return "".join(one % i for i in range(n)) + _pods(n)


def _ignored(n: int) -> str:
    return POD % 0 + "".join(f"    bad{i}: 1  # ptcompile: ignore[PTC501]\n" for i in range(n))


def _wide_ignores(n: int) -> str:
    return "# ptcompile: ignore-file[PTC302] why\n" * n + _bad_keys(n)


def _bad_keys(n: int) -> str:
    return POD % 0 + "".join(f"    bad{i}: 1\n" for i in range(n))


def _twice(n: int) -> str:
    return POD % 0 + "    image: i\n" * n


def _spec_env(n: int) -> str:
    return smallest("env:\n" + "".join(f"  A{i}: '$(A{i - 1})'\n" for i in range(n)))


def _spec_bad(n: int) -> str:
    return smallest("".join(f"bad{i}: 1\n" for i in range(n)))


def _spec_roles(n: int) -> str:
    return smallest("nodes: 2\nroles:\n" + "".join(f"  r{i}: {{replicas: 1, command: [a]}}\n" for i in range(n)))


def _specs(n: int) -> str:
    return "---\n".join(smallest(name=f"t{i}") for i in range(n))


def _lists(n: int) -> str:
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- {{apiVersion: v1, kind: Pod, x: {i}}}\n" for i in range(n)
    )


def _comments(n: int) -> str:
    return "# HF_TOKEN=x\n" * n + POD % 0 + "    bad: 1\n"


def _templates(n: int) -> str:
    return "".join(f"---\n# Source: a{i}\n# more\n" + POD % i + "    bad: 1\n" for i in range(n))


def _unread(n: int) -> str:
    return "HF_TOKEN: x\nb: [\n---\n" * n


def _aliases(n: int) -> str:
    return "x: &x [1, 2]\ny:\n" + "- *x\n- &y {<<: {a: 1}}\n" * n


def _json_stream(n: int) -> str:
    return '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"x": 1}}\n' * n


def _lint(text: str) -> object:
    report = ptcompile.lint(text, filename="f", unknown_kinds="error")
    return [form(report.diagnostics, {"f": text}) for form in FORMATS.values()]


def _compile(text: str) -> object:
    result = ptcompile.compile(text, filename="f", target="job")
    return result.yaml(), FORMATS["full"](result.diagnostics, {"f": text})


def _simulate(text: str) -> object:
    world = ptcompile.simulate(text, target="job")
    return overview(world), world.to_dict()


def _add_ignores(text: str) -> object:
    return add_ignores(text, ptcompile.lint(text).diagnostics)


CASES: list[tuple[Work, Callable[[int], str], int]] = [
    (_lint, _pods, 100), (_lint, _env, 400), (_lint, _same_env, 200), (_lint, _secrets, 150),
    (_lint, _volumes, 200), (_lint, _containers, 200), (_lint, _tasks, 60), (_lint, _jobs, 60),
    (_lint, _services, 60), (_lint, _ignored, 700), (_lint, _wide_ignores, 600), (_lint, _bad_keys, 200),
    (_lint, _twice, 200), (_lint, _spec_env, 200), (_lint, _spec_bad, 800), (_lint, _specs, 20),
    (_lint, _lists, 150), (_lint, _comments, 2000), (_lint, _templates, 80), (_lint, _unread, 150),
    (_lint, _aliases, 500), (_lint, _json_stream, 100), (_compile, _spec_env, 200), (_compile, _spec_roles, 25),
    (_compile, _specs, 25), (_simulate, _pods, 40), (_simulate, _tasks, 30), (_simulate, _jobs, 30),
    (_simulate, _services, 30), (_simulate, _env, 100), (_simulate, _specs, 10), (_add_ignores, _bad_keys, 600),
]  # fmt: skip


@pytest.mark.parametrize(("work", "text", "n"), CASES, ids=lambda one: getattr(one, "__name__", str(one)).strip("_"))
def test_time_grows_as_the_input_does(work: Work, text: Callable[[int], str], n: int) -> None:
    small, large = text(n), text(4 * n)
    work(small)
    ratios = []
    for _ in range(4):  # a machine that others use too: the best of some
        ratios.append(_spent(work, large) / max(_spent(work, small), 1e-3))
        if ratios[-1] < 9:
            return
    pytest.fail(f"four times the input takes {min(ratios):.1f} times as long")


def _spent(work: Work, text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def test_what_is_quadratic_is_seen() -> None:
    with pytest.raises(pytest.fail.Exception):
        test_time_grows_as_the_input_does(lambda text: [text.count(c) for c in text], lambda n: "ab" * n, 3000)
