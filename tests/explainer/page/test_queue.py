"""The page's part about a job's queue: outcome, quotas as bars, and the domains of its pods."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ptcompile.explainer.page import html
from ptcompile.explainer.page.queue import _MAX_SHOWN, bar_parts, describe_quota, queue_lines
from ptcompile.kinds.admission import AdmittedPodSet, JobAdmission, QuotaShare
from ptcompile.kubernetes.quantity import Quantity, parse
from tests.explainer.page.browser import Browser
from tests.explainer.page.making import SIX, example, text
from tests.explainer.page.reading import Element, read_html
from tests.explainer.page.test_style import colours, contrast
from tests.making import gather

Json = dict[str, Any]
API = "kueue.x-k8s.io/v1beta2"
RACK = "cloud.example.com/rack"


def spec(nodes: int = 2, queue: str = "gpus") -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "ptcompile/v1",
            "kind": "TrainingJob",
            "metadata": {"name": "train"},
            "spec": {
                "image": "registry.example.com/train:1.2",
                "script": "train.py",
                "nodes": nodes,
                "queue": queue,
                "topology": {"preferred": "rack"},
                "resources": {"cpu": 8, "memory": "64Gi", "gpu": 8},
            },
        }
    )


def kueue(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def node(name: str, rack: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {RACK: rack, "kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def cluster_queue(name: str, gpus: int, **limits: int) -> Json:
    resources: list[Json] = [
        {"name": "cpu", "nominalQuota": 512},
        {"name": "memory", "nominalQuota": "4Ti"},
        {"name": "nvidia.com/gpu", "nominalQuota": gpus, **limits},
    ]
    group = {
        "coveredResources": [resource["name"] for resource in resources],
        "flavors": [{"name": "h100", "resources": resources}],
    }
    return kueue(
        "ClusterQueue",
        name,
        {"namespaceSelector": {}, "cohortName": "everyone", "resourceGroups": [group]},
    )


def profile(rack: str = "rack-a") -> str:
    levels = [{"nodeLabel": RACK}]
    objects = [
        {
            **kueue("LocalQueue", "gpus", {"clusterQueue": "research"}),
            "metadata": {"name": "gpus", "namespace": "default"},
        },
        kueue("ResourceFlavor", "h100", {"topologyName": "racks"}),
        kueue("Topology", "racks", {"levels": levels}),
        cluster_queue("research", 12, borrowingLimit=8),
        cluster_queue("spare", 16),
        *(node(f"n{i}", rack if i < 2 else "rack-b") for i in range(4)),
    ]
    fields = {
        "queueSystem": "kueue",
        "topology": {"levels": {"rack": {"nodeLabel": RACK}}},
        "objects": objects,
    }
    return yaml.safe_dump(
        {
            "apiVersion": "ptcompile/v1",
            "kind": "ClusterProfile",
            "metadata": {"name": "c"},
            "spec": fields,
        }
    )


@functools.cache
def read(nodes: int = 2, rack: str = "rack-a") -> Element:
    return read_html(text(spec(nodes), profile(rack), "jobset"))


def queue_of(page: Element) -> Element:
    return next(
        element for element in page.all("div") if element.attributes.get("class") == "queue"
    )


def items(page: Element, css_class: str) -> list[str]:
    """Return the texts of the lists of a class."""
    lists = [
        element
        for element in queue_of(page).all("ul")
        if element.attributes.get("class") == css_class
    ]
    return [" ".join(item.text.split()) for one in lists for item in one.all("li")]


def amounts(nominal: str, borrowable: str, in_use: str, requested: str) -> QuotaShare:
    parsed = [parse(amount) or Quantity(0) for amount in (nominal, borrowable, in_use, requested)]
    return QuotaShare("h100", "nvidia.com/gpu", *parsed)


def test_an_admitted_job_borrows_from_its_cohort() -> None:
    section = queue_of(read())
    assert section.find("h3").text == "Queue"
    assert "JobSet/train: admitted by research" in section.text
    assert items(read(), "quotas") == [
        "cpu from h100 takes 16; the quota is 512; the cohort lends up to 512",
        "memory from h100 takes 128Gi; the quota is 4Ti; the cohort lends up to 4Ti",
        "nvidia.com/gpu from h100 takes 16; the quota is 12; the cohort lends up to 8",
    ]
    assert items(read(), "key") == ["quota of the queue", "lent by its cohort", "this job"]
    bars = [
        [
            (element.attributes["class"], element.attributes["x"], element.attributes["width"])
            for element in bar.all("rect")
        ]
        for bar in section.all("svg")
    ]
    assert bars[2] == [("nominal", "0", "600"), ("borrowable", "600", "400"), ("job", "0", "800")]


def test_the_domains_have_their_pods() -> None:
    assert queue_of(read()).find("h4").text == f"node: 2 pods by {RACK}"
    assert items(read(), "domains") == ["rack-a 2 pods"]


def test_a_job_that_never_fits_shows_what_is_too_much() -> None:
    section = queue_of(read(4))
    outcome = next(
        element
        for element in section.all("p")
        if element.attributes.get("class") == "outcome never"
    )
    assert outcome.text.startswith(
        "JobSet/train: never admitted: couldn't assign flavors to pod set node"
    )
    assert outcome.text.endswith("> maximum capacity (20)")
    assert "help: no more than 2 pods of node can ever fit" in section.text
    assert items(read(4), "quotas")[2].endswith(
        "asks for 32; the quota is 12; the cohort lends up to 8; 12 is too much"
    )
    assert items(read(4), "key")[-1] == "too much"
    assert not items(read(4), "domains")


def test_what_may_depend_on_other_queues_says_so() -> None:
    answer = JobAdmission("Job", "train", "default", "never", "it is too large")
    sentence = (
        "<p>It is certain only if the profile has all nodes and all queues of the cohort.</p>"
    )
    assert sentence in list(queue_lines([answer._replace(is_certain=False)]))
    assert sentence not in list(queue_lines([answer]))


def test_every_bar_has_a_name_and_a_text_next_to_it() -> None:
    section = queue_of(read())
    for item in (element for element in section.all("li") if list(element.all("svg"))):
        bar = item.find("svg")
        assert bar.attributes["role"] == "img"
        assert (
            bar.attributes["aria-label"]
            == f"{item.find('b').text} {item.find('span').text}, as a bar"
        )
    assert all(element.attributes["aria-label"] for element in section.all("ul"))


EVIL = "</ul></script><img src=x onerror='window.hacked=1'>"


def test_hostile_names_are_escaped() -> None:
    names = (EVIL, f"{EVIL}2")
    quota = amounts("1", "0", "0", "2")._replace(flavor=EVIL, resource=f"{EVIL}/gpu")
    pod_set = AdmittedPodSet(EVIL, 2, {}, names, ((names, 2),))
    answer = JobAdmission(
        EVIL, EVIL, EVIL, "waits", EVIL, cluster_queue=EVIL, advice=EVIL, notes=(EVIL,)
    )
    lines = list(queue_lines([answer._replace(quotas=(quota,), pod_sets=(pod_set,))]))
    section = read_html("".join(lines))
    assert not list(section.all("img"))
    assert not list(section.all("script"))
    assert section.text.count(EVIL) == 13


def test_a_hostile_domain_of_a_profile_is_escaped() -> None:
    page = read(2, EVIL)
    assert items(page, "domains") == [f"{EVIL} 2 pods"]
    assert not list(page.all("img"))


@pytest.mark.parametrize(
    "case", [(SIX, None), example(), (spec(queue="others"), profile()), (spec(), None)]
)
def test_a_page_without_its_queue_has_no_part_about_it(case: tuple[str, str | None]) -> None:
    page = text(*case, "jobset")
    assert 'class="queue"' not in page
    assert ".quotas" not in page


def test_too_many_steps_leave_the_part_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptcompile.operators.kueue.scheduler.state._STEPS", 0)
    page = gather(spec(), cluster=profile(), target="jobset", lint=False)
    assert page.listings[0].text.lines
    assert page.listings[0].admissions == ()


def test_long_lists_are_cut() -> None:
    quotas = (amounts("1", "0", "0", "1"),) * (_MAX_SHOWN + 1)
    domains = tuple(((f"rack-{i}",), 1) for i in range(_MAX_SHOWN + 1))
    pod_set = AdmittedPodSet("node", len(domains), {}, (RACK,), domains)
    answer = JobAdmission("Job", "train", "default", "admitted", quotas=quotas, pod_sets=(pod_set,))
    lines = "".join(queue_lines([answer]))
    assert lines.count("<svg") == _MAX_SHOWN
    assert "<p>64 of 65 quotas</p>" in lines
    assert "<p>64 of 65 domains</p>" in lines
    assert "rack-64" not in lines


@pytest.mark.parametrize(
    ("quota", "parts", "words"),
    [
        (
            amounts("8", "0", "6", "4"),
            [("nominal", 0, 800), ("used", 0, 600), ("job", 600, 200), ("over", 800, 200)],
            "asks for 4; the quota is 8; others have taken 6; 2 is too much",
        ),
        (
            amounts("0", "0", "0", "4"),
            [("over", 0, 1000)],
            "asks for 4; the quota is 0; 4 is too much",
        ),
        (
            amounts("100k", "0", "0", "1m"),
            [("nominal", 0, 1000), ("job", 0, 4)],
            "asks for 1m; the quota is 100k",
        ),
    ],
)
def test_a_quota_becomes_the_parts_of_a_bar(
    quota: QuotaShare, parts: list[tuple[str, int, int]], words: str
) -> None:
    assert bar_parts(quota) == parts
    assert describe_quota(quota, is_admitted=False) == words


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_stand_out_from_their_grounds(scheme: str) -> None:
    """By WCAG 2.2, graphics need a contrast of 3."""
    shades = colours(scheme)
    pairs = [
        ("accent", "here"),
        ("accent", "faint"),
        ("accent", "rule"),
        ("error", "paper"),
        ("soft", "paper"),
    ]
    assert all(contrast(shades[one], shades[other]) >= 3 for one, other in pairs)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_part_fits_a_phone(chromium: Browser, tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(html(gather(spec(4), cluster=profile(), target="jobset")), encoding="utf-8")
    chromium.open(path, prefers_color_scheme=scheme, width=390)
    script = """[...document.querySelectorAll(".queue, .queue *")].every(
        one => one.getBoundingClientRect().right <= innerWidth) && innerWidth === 390"""
    assert chromium.run(script) is True
    assert not re.findall(r"style=", path.read_text(encoding="utf-8"))
