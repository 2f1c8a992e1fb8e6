"""The pass `hosts`: a variable in every pod lists the pods of each auxiliary role by the target's names."""

from __future__ import annotations

import pytest

from ptcompile.compiler.passes.hosts import hosts, hosts_variable
from ptcompile.ir.job import Job, Role
from tests import making

OWN = {"name": "LOADER_HOSTS", "value": "mine"}
LATER = {"name": "URL", "value": "http://$(LOADER_HOSTS)"}


def with_loader(*env: dict[str, str], replicas: int = 2) -> Job:
    job = making.job(making.template(main={"env": env}))
    return job._replace(
        roles=(*job.roles, Role("loader", replicas, making.template(), "OnFailure", trains=False))
    )


def env_of(job: Job, target: str) -> list[list[tuple[str, str]]]:
    done = hosts(job, making.context(target=target))
    assert hosts(done, making.context(target=target)) == done
    return [[(e["name"], e["value"]) for e in role.template.main.env] for role in done.roles]


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (
            "volcano",
            "train-loader-0.train,train-loader-1.train",
        ),  # docs/facts/volcano.md#names, #the-svc-plugin
        ("jobset", "train-loader-0-0.train,train-loader-0-1.train"),  # docs/facts/jobset.md#pods
        (
            "trainjob",
            "train-loader-0-0.train,train-loader-0-1.train",
        ),  # docs/facts/trainer.md#what-is-built
    ],
)
def test_every_pod_gets_the_hosts_in_pod_order(target: str, value: str) -> None:
    assert env_of(with_loader(), target) == [[("LOADER_HOSTS", value)]] * 2


def test_hosts_come_first_for_references() -> None:
    node, _ = env_of(with_loader(LATER, replicas=1), "jobset")
    assert node == [("LOADER_HOSTS", "train-loader-0-0.train"), ("URL", "http://$(LOADER_HOSTS)")]


def test_the_user_s_variable_is_unchanged() -> None:
    node, loader = env_of(with_loader(OWN), "jobset")
    assert node == [("LOADER_HOSTS", "mine")]
    assert loader != node


def test_a_job_without_auxiliary_roles_is_unchanged() -> None:
    job = making.job()
    assert hosts(job, making.context(target="jobset")) == job


@pytest.mark.parametrize(
    ("role", "name"), [("ps", "PS_HOSTS"), ("data-loader", "DATA_LOADER_HOSTS")]
)
def test_the_variable_is_named_after_the_role(role: str, name: str) -> None:
    assert hosts_variable(role) == name
