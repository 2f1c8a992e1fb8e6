"""Tasks as decorators and as functions: every keyword, the location of every mistake, and no crashes."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ptcompile
from ptcompile import flyte
from ptcompile.flyte.keywords import ENGINE_KEYWORDS, Knobs
from ptcompile.flyte.legacy import LegacyKnobs
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from tests.flyte.making import OURS, convert, document, env, main, manifest, messages, pod


@flyte.pytorch_task(
    workers_count=2,
    per_replica_cpu_request="500m",
    per_replica_memory_request="4Gi",
    per_replica_memory_limit="8Gi",
    per_replica_gpu_limit="1",
)
def my_pytorch_job(count: int) -> int:
    return count + 1


def test_the_decorator_of_the_reference_document_compiles() -> None:
    assert my_pytorch_job(1) == 2
    result = my_pytorch_job.compile(image="acme/mnist:1", inputs={"count": 1})
    made = result.unwrap()[0]
    assert made["metadata"] == {"name": "my-pytorch-job"}
    assert {key: role["replicas"] for key, role in made["spec"]["pytorchReplicaSpecs"].items()} == {
        "Master": 1,
        "Worker": 2,
    }
    container = main(dict(made))
    assert container["command"] == ["python", "-m", "ptcompile.flyte.run"]
    assert container["args"] == [f"{__name__}:my_pytorch_job", "--input", "count=1"]
    assert container["resources"] == {
        "requests": {"cpu": "500m", "memory": "4Gi", "nvidia.com/gpu": "1"},
        "limits": {"cpu": "500m", "memory": "8Gi", "nvidia.com/gpu": "1"},
    }
    # "if you request GPU resources, toleration flyte/gpu=dedicated:NoSchedule is added"
    assert pod(dict(made))["tolerations"][0]["key"] == "flyte/gpu"


def test_the_three_forms_agree() -> None:
    knobs: dict[str, Any] = {"task_config": flyte.Elastic(nnodes=2), "image": "i", "script": "t.py"}
    spec = flyte.task(name="job", **knobs)
    assert flyte.task(_function, **knobs).spec("job") == spec
    assert flyte.task(**knobs)(_function).spec("job") == spec
    bare = flyte.pytorch_task(_function)
    assert isinstance(bare, flyte.Task)
    called = flyte.pytorch_task(
        name="job", image="i", module="ptcompile.flyte.run", args=[f"{__name__}:_function"]
    )
    assert bare.spec("job", image="i") == called


LOOSE: Any = flyte.pytorch_task
"""The decorator without types, for keywords chosen by a test."""

LEGACY: dict[str, tuple[Any, dict[str, Any]]] = {
    "per_replica_cpu_request": ("1", {"resources": {"cpu": 1}}),
    "per_replica_cpu_limit": ("1", {"resources": {"cpu": 1}}),
    "per_replica_memory_request": ("1Gi", {"resources": {"memory": "1Gi"}}),
    "per_replica_memory_limit": ("1Gi", {"resources": {"memory": "1Gi"}}),
    "per_replica_gpu_request": ("1", {"resources": {"gpu": 1}}),
    "per_replica_gpu_limit": ("1", {"resources": {"gpu": 1}}),
    "per_replica_storage_request": ("1Gi", {"resources": {"ephemeralStorage": "1Gi"}}),
    "per_replica_storage_limit": ("1Gi", {"resources": {"ephemeralStorage": "1Gi"}}),
    "workers_count": (3, {"worker": {"replicas": 3}}),
    "retries": (2, {"runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 2}}),
    "timeout": (
        timedelta(hours=1),
        {"runPolicy": {"cleanPodPolicy": "None", "activeDeadlineSeconds": 3600}},
    ),
    "interruptible": (True, {"spot": True}),
    "environment": ({"A": "1"}, {"env": {"A": "1"}}),
}


@pytest.mark.parametrize("word", LEGACY)
def test_each_keyword_of_the_legacy_decorator_is_converted(word: str) -> None:
    value, expected = LEGACY[word]
    made = LOOSE(**{word: value})(_function).convert("job", image="i").document["spec"]
    assert {key: made[key] for key in expected} == expected
    assert {
        annotation for annotation in LegacyKnobs.__annotations__ if annotation.startswith("per_")
    } <= {*LEGACY}


@pytest.mark.parametrize("word", ["cache", "cache_version", "deprecated", "cls"])
def test_keywords_for_the_engine_are_reported_as_dropped(word: str) -> None:
    converted = LOOSE(**{word: "1"})(_function).convert("job")
    assert [problem.path for problem in converted.problems if problem.severity == "warning"] == [
        (word,)
    ]
    assert word in ENGINE_KEYWORDS
    with pytest.warns(flyte.FlyteWarning, match=word):
        LOOSE(name="job", **{word: "1"})


def two(**fields: Any) -> Any:
    return OURS.PyTorch(worker=OURS.Worker(replicas=2), **fields)


R = OURS.Resources


@pytest.mark.parametrize(
    ("config", "knobs", "start"),
    [
        (OURS.PyTorch(), {}, "task_config.worker.replicas: is missing"),
        (
            OURS.PyTorch(num_workers=1, worker=OURS.Worker(replicas=1)),
            {},
            "task_config.num_workers: worker.replicas",
        ),
        (OURS.PyTorch(num_workers=-1), {}, "task_config.worker.replicas: "),
        (
            two(run_policy=OURS.RunPolicy(clean_pod_policy="most")),
            {},
            "task_config.run_policy.clean_pod_policy: no",
        ),
        (
            two(run_policy=OURS.RunPolicy(backoff_limit=-1)),
            {},
            "task_config.run_policy.backoff_limit: ",
        ),
        (two(), {"requests": R(cpu=("1", "2"))}, "requests.cpu: a pair is not allowed here"),
        (two(), {"requests": R(mem=1.5)}, "requests.mem: 1.5 is not a quantity"),
        (two(), {"resources": R(cpu=(1, 2, 3))}, "resources.cpu: must be a pair (request, limit)"),
        (two(), {"resources": R(cpu=1), "limits": R(cpu=1)}, "limits: resources already sets it"),
        (two(), {"limits": R(cpu="-1")}, "limits.cpu: '-1' is negative"),
        (two(), {"retries": -1}, "retries: -1 is not"),
        (two(), {"timeout": -5}, "timeout: -5 is negative"),
        (two(), {"environment": {"A": True}}, "environment.A: True is not text"),
        (two(), {"command": "python t.py", "script": None}, "command: 'python t.py' is not a list"),
        (
            two(),
            {"command": ["python", 3], "script": None},
            "command: ['python', 3] is not a list of strings",
        ),
        (two(), {"args": "--lr"}, "args: '--lr' is not a list"),
        (two(), {"args": ["--lr", 0.1]}, "args: ['--lr', 0.1] is not a list of strings"),
        (two(), {"command": ["a"], "script": "b.py"}, "script: command already sets"),
        (two(), {"script": "b.py", "inputs": {"a": 1}}, "inputs: script starts another program"),
        (two(), {"script": None, "args": ["a"]}, "args: the function takes inputs"),
        (
            two(),
            {"script": None, "inputs": {"a": 1}},
            "inputs.a: unknown input; the function has none",
        ),
        (two(), {"script": None, "inputs": {"a": object()}}, "inputs.a: object cannot be written"),
        (two(), {"inputs": 5}, "inputs: 5 is not a mapping"),
        (two(), {"embed": 5}, "embed: 5 is not yes or no"),
        (
            OURS.Elastic(),
            {"command": ["a"], "script": None},
            "command: an Elastic task is started by torchrun",
        ),
        (OURS.Elastic(start_method="thread"), {}, "task_config.start_method: "),
        (OURS.Elastic(rdzv_configs={"timeout": [1]}), {}, "task_config.rdzv_configs.timeout: "),
        (OURS.Elastic(nnodes="1:2"), {"master": OURS.Master()}, "master: requires a fixed number"),
        (object(), {}, "task_config: object is not a task configuration"),
        (two(), {"accelerator": 5, "limits": R(gpu=1)}, "accelerator: int is not an accelerator"),
        (
            two(),
            {"secret_requests": [OURS.Secret(key="k")]},
            "secret_requests[0].group: is missing",
        ),
        (two(), {"pod_template": {"spec": {"containers": 5}}}, "pod_template: a pod's spec has"),
        (two(), {"container_image": 5}, "container_image: int is not an image"),
        (two(), {"pod_template_name": "base"}, "pod_template_name: a PodTemplate object"),
        (two(), {"labels": {"a": 1}}, "labels.a: "),
        (two(), {"environment": 5}, "environment: 5 is not a mapping"),
        (two(), {"labels": ["a"]}, "labels: ['a'] is not a mapping"),
        (two(), {"secret_requests": 5}, "secret_requests: 5 is not a list"),
    ],
)
def test_each_cause_has_one_problem_at_its_location(
    config: Any, knobs: dict[str, Any], start: str
) -> None:
    reported = messages(config, **knobs)
    assert [message[: len(start)] for message in reported] == [start]


def test_a_direct_spec_raises_with_all_mistakes() -> None:
    with pytest.raises(flyte.FlyteError) as caught:
        flyte.task(
            name="job",
            task_config=OURS.Elastic(nnodes=0, max_restarts=-1),
            requests=R(cpu="x"),
            script="t.py",
        )
    assert [problem.path for problem in caught.value.problems] == [
        ("requests", "cpu"),
        ("task_config", "nnodes"),
        ("task_config", "max_restarts"),
    ]


def test_an_unknown_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="worker_count"):
        LOOSE(worker_count=2)


def test_a_pair_of_amounts_is_request_and_limit() -> None:
    made = document(two(), resources=R(cpu=(1, 2), mem="4Gi", gpu=1))
    assert made["resources"] == {
        "memory": "4Gi",
        "gpu": 1,
        "requests": {"cpu": 1},
        "limits": {"cpu": 2},
    }


def test_functions_that_cannot_be_imported_need_a_module_or_script() -> None:
    def trains() -> None: ...

    trains.__module__ = "__main__"
    problems = flyte.task(trains, task_config=OURS.Elastic(), image="i").convert().problems
    assert [(problem.path, problem.help) for problem in problems] == [
        (("module",), "give module, or a script")
    ]
    inside = (
        flyte.task(trains, image="i", task_config=OURS.Elastic())
        .convert(module="acme.train")
        .problems
    )
    assert [(one.path, one.help) for one in inside] == [
        (("script",), "define the task at the top level of its module")
    ]


def test_compile_errors_about_resources_use_flyte_terms() -> None:
    limits = {
        "requests": R(cpu=2, mem="4Gi", ephemeral_storage="2Gi"),
        "limits": R(mem="2Gi", ephemeral_storage="1Gi"),
    }
    made = flyte.task(_function, task_config=OURS.Elastic(), script="t.py", image="a/b:1", **limits)
    paths = {
        diagnostic.path
        for diagnostic in made.compile("job").diagnostics
        if diagnostic.severity == "error"
    }
    assert paths
    assert {path[0] for path in paths} <= {"requests", "limits"}
    assert {path[-1] for path in paths} == {"mem", "ephemeral_storage"}


def test_secrets_become_files_and_variables(words: Any) -> None:
    kinds = words.Secret
    file = kinds(group="g", key="Token", env_var="TOKEN_FILE")
    made = manifest(
        words.Elastic(), secret_requests=[file, kinds(group="g", key="b"), kinds(group="h")]
    )
    assert env(made)["TOKEN_FILE"] == "/etc/flyte/secrets/g/token"  # noqa: S105
    assert env(made)["FLYTE_SECRETS_DEFAULT_DIR"] == "/etc/flyte/secrets"
    volumes = [volume["secret"] for volume in pod(made)["volumes"] if "secret" in volume]
    items = [{"key": "Token", "path": "token"}, {"key": "b", "path": "b"}]
    assert volumes == [{"secretName": "g", "items": items}, {"secretName": "h"}]


def test_a_pod_template_keeps_its_fields(words: Any) -> None:
    spec = {
        "priorityClassName": "high",
        "containers": [
            {"name": "log", "image": "l:1"},
            {
                "name": "train",
                "image": "own:1",
                "command": ["x"],
                "env": [{"name": "A", "value": "2"}],
            },
        ],
    }
    template = words.PodTemplate(words.pod_spec(spec), primary_container_name="train")
    made = manifest(words.Elastic(), pod_template=template, environment={"A": "1", "B": "1"})
    assert pod(made)["priorityClassName"] == "high"
    assert [container["name"] for container in pod(made)["containers"]] == ["pytorch", "log"]
    assert (main(made)["image"], main(made)["command"][0]) == ("own:1", "torchrun")
    assert env(made) == {"A": "2", "B": "1"}


def test_the_text_of_a_spec_reads_back() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = flyte.task(
            name="job",
            image="i",
            script="t.py",
            task_config=OURS.Elastic("2:4", 8),
            limits=R(cpu=8, mem="1Gi", gpu=8),
        )
    text = flyte.to_yaml(spec)
    assert ptcompile.compile(text).unwrap() == ptcompile.compile(spec).unwrap()
    converted = convert(OURS.Elastic("2:4", 8), limits=R(cpu=8, mem="1Gi", gpu=8))
    assert flyte.to_yaml(converted.spec()) == converted.yaml()


def test_an_elastic_task_of_a_platform_compiles_against_it() -> None:
    where = flyte.platform({"default-env-vars": [{"REGION": "eu"}]})
    result = flyte.task(_function, task_config=OURS.Elastic(), image="i", platform=where).compile()
    assert env(dict(result.unwrap()[0])) == {"REGION": "eu"}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
OPEN = sorted({*Knobs.__annotations__} - {"platform"})


@given(
    knobs=st.dictionaries(st.sampled_from(OPEN), ANYTHING, max_size=3),
    fields=st.dictionaries(
        st.sampled_from(["nnodes", "nproc_per_node", "max_restarts", "rdzv_configs"]), ANYTHING
    ),
)
def test_no_user_input_raises(knobs: dict[str, Any], fields: dict[str, Any]) -> None:
    for config in (
        OURS.Elastic(**fields),
        OURS.PyTorch(worker=OURS.Worker(replicas=fields.get("nnodes"))),
    ):
        converted = flyte.task(_function, task_config=config, **knobs).convert("job")
        if converted.ok:
            converted.yaml()


def test_the_import_is_light() -> None:
    code = "import sys, ptcompile; before = {*sys.modules}; import ptcompile.flyte; print(*{*sys.modules} - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert [part for part in done.stdout.split() if part.startswith("ptcompile")] == [
        "ptcompile.flyte"
    ]
    assert not {"pydantic", "yaml", "json", "dataclasses"} & {*done.stdout.split()}


def _function() -> None:
    """Stand in for a task's function."""


def test_one_node_has_no_rendezvous_backend() -> None:
    assert document(OURS.Elastic())["elastic"] == {"nnodes": 1, "nprocPerNode": 1}


@pytest.mark.parametrize(
    ("timeout", "deadline", "seconds"), [(60, 90, 60), (90, 60, 60), (0, 60, 60), (60, None, 60)]
)
def test_the_shorter_deadline_wins(timeout: int, deadline: int | None, seconds: int) -> None:
    config = two(run_policy=OURS.RunPolicy(active_deadline_seconds=deadline))
    assert document(config, timeout=timeout)["runPolicy"]["activeDeadlineSeconds"] == seconds


def test_a_task_without_a_clean_pod_policy_gets_a_note() -> None:
    """Flyte writes no policy, and the operator's default deletes no pods, so it is kept with a note."""
    for config in (two(), two(run_policy=OURS.RunPolicy(backoff_limit=1)), OURS.Elastic(nnodes=2)):
        converted = convert(config, limits=R(gpu=1))
        assert converted.document["spec"]["runPolicy"]["cleanPodPolicy"] == "None"
        assert [(problem.severity, problem.path) for problem in converted.problems] == [
            ("note", ("task_config", "run_policy", "clean_pod_policy"))
        ]
        assert "hold their GPUs" in converted.problems[0].message
    said = convert(two(run_policy=OURS.RunPolicy(clean_pod_policy=OURS.CleanPodPolicy.RUNNING)))
    assert (said.problems, said.document["spec"]["runPolicy"]) == (
        (),
        {"cleanPodPolicy": "Running"},
    )
    assert "runPolicy" not in convert(OURS.Elastic()).document["spec"], "one node is a Pod"


def test_a_function_that_is_not_a_task_is_rejected() -> None:
    with pytest.raises(TypeError, match="function is not a flytekit task"):
        flyte.from_task(_function)


def test_a_task_is_read_by_its_attributes() -> None:
    metadata = SimpleNamespace(retries=2, timeout=None, interruptible=None, labels=None)
    declared_task = SimpleNamespace(
        task_function=_function,
        task_config=OURS.Elastic(),
        metadata=metadata,
        environment={"A": "1"},
    )
    spec = (
        flyte.from_task(declared_task, image="i", environment={"B": "2"})
        .convert("job")
        .document["spec"]
    )
    assert (spec["runPolicy"], spec["env"], spec["image"]) == ({"backoffLimit": 2}, {"B": "2"}, "i")


def _notes(config: Any, **knobs: Any) -> list[str]:
    def train() -> None: ...

    declared = OURS.task(train, task_config=config, container_image="a/b:1", script="t.py", **knobs)
    diagnostics = declared.compile().diagnostics
    return [
        finding.message
        for finding in diagnostics
        if finding.name == "unlike-flyte" and finding.severity == "note"
    ]


def test_settings_that_flyte_reads_otherwise_have_a_note() -> None:
    dict_alone = (
        "task_config.rdzv_configs: replaces Flyte's own settings, so join_timeout is torch's 600 seconds, "
        f"not {JOIN_TIMEOUT_SECONDS}"
    )
    assert dict_alone in _notes(OURS.Elastic(nnodes=2, rdzv_configs={"timeout": 1200}))
    assert dict_alone not in _notes(
        OURS.Elastic(nnodes=2, rdzv_configs={"join_timeout": JOIN_TIMEOUT_SECONDS})
    )
    assert dict_alone not in _notes(OURS.Elastic(nnodes=2))
    assert dict_alone not in _notes(OURS.Elastic(nnodes=1, rdzv_configs={"timeout": 1200}))
    text = OURS.task(
        name="a",
        task_config=OURS.Elastic(nnodes=2, rdzv_configs={}),
        container_image="a/b:1",
        script="t.py",
    )
    assert text.spec.elastic.rdzv_configs == {"join_timeout": 600}
    (method,) = [
        note
        for note in _notes(OURS.Elastic(nnodes=2, start_method="forkserver"))
        if "start_method" in note
    ]
    assert "Flyte raises a ValueError for 'forkserver' when the task runs" in method
    assert not [
        note
        for note in _notes(OURS.Elastic(nnodes=2, start_method="fork"))
        if "start_method" in note
    ]


def test_a_primary_container_that_the_template_lacks_is_named() -> None:
    template = OURS.PodTemplate(
        pod_spec={"containers": [{"name": "main", "image": "a"}]}, primary_container_name="train"
    )
    lacking = "pod_template: no container is called 'train', so the task runs in another container, beside main"
    assert lacking in _notes(two(), pod_template=template)
    template = OURS.PodTemplate(
        pod_spec={"containers": [{"name": "train"}]}, primary_container_name="train"
    )
    assert not [note for note in _notes(two(), pod_template=template) if "pod_template" in note]
