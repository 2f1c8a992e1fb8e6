"""CONTRIBUTING.md#laws 10: no report contains a secret from the input, in any form or place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptcompile
from ptcompile.explainer.page import html
from ptcompile.graph import GRAPHS
from ptcompile.report import FORMATS, renderer
from ptcompile.simulator.as_text import overview, pod_text
from tests.making import gather, smallest

ATTACKS = Path(__file__).parents[2] / "attacks"
MARK = "zQ7xK2mV9w"
"""The secret: neither a word nor a name, so any eight characters of it in a report are a leak."""

# HF_TOKEN in each form that people write, as the `env` of a container in flow style
ENTRIES = {
    "right": f"[{{name: HF_TOKEN, value: {MARK}}}]",
    "misspelled": f"[{{name: HF_TOKEN, valeu: {MARK}}}]",
    "capital": f"[{{Name: HF_TOKEN, Value: {MARK}}}]",
    "space in the name": f'[{{name: "HF_TOKEN ", value: {MARK}}}]',
    "list": f"[{{name: HF_TOKEN, value: [{MARK}]}}]",
    "mapping": f"[{{name: HF_TOKEN, value: {{a: {MARK}}}}}]",
    "key": f"[{{name: HF_TOKEN, value: {{{MARK}: }}}}]",
    "deep": f"[{{name: HF_TOKEN, value: {{a: [{{b: {MARK}}}]}}}}]",
    "further field": f"[{{name: HF_TOKEN, value: a, description: {MARK}}}]",
    "next to a reference": f"[{{name: HF_TOKEN, value: {MARK}, valueFrom: {{secretKeyRef: {{name: a, key: b}}}}}}]",
    "in a reference": f"[{{name: HF_TOKEN, valueFrom: {{value: {MARK}}}}}]",
    "as a mapping": f"{{HF_TOKEN: {MARK}}}",
    "as a mapping of mappings": f"{{HF_TOKEN: {{value: {MARK}}}}}",
    "twice": f"[{{name: HF_TOKEN, value: a}}, {{name: HF_TOKEN, value: {MARK}}}]",
    "quoted": f'[{{name: HF_TOKEN, value: "{MARK}\\u00e9"}}]',
    "in another variable": (
        f"[{{name: HF_TOKEN, value: {MARK}}}, {{name: B, value: 'x-$(HF_TOKEN)'}}, {{name: C, value: {MARK}}}]"
    ),
    "URL": f'[{{name: DATABASE_URL, value: "postgres://u:{MARK}@h/db"}}, {{name: DATABASE_URL, value: 1}}]',
}  # fmt: skip
ARGS = {
    "two words": f"[--hf-token, {MARK}]",
    "one word": f"[--password={MARK}]",
    "URL": f'["--index=https://u:{MARK}@h/"]',
    "script": f'["export HF_TOKEN={MARK}; torchrun --nnodes=2 --rdzv-endpoint=x t.py"]',
    "header": f"[\"curl -H 'Authorization: Bearer {MARK}' h\"]",
    "a number": f"[--token={MARK}, 5]",
}
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p, annotations: {{acme.io/api-token: {note}}}}}
spec:
  nods: 3
  containers:
  - {{name: c, image: i, imagePullPolicyy: x, command: [bash, -c], args: {args}, env: {env}}}
"""


def pod(env: str = "[]", args: str = "[x]", note: str = "x") -> str:
    """Return a Pod with mistakes next to its secrets."""
    return POD.format(env=env, args=args, note=note)


MANIFESTS = {
    **{f"env, {name}": pod(env=entry) for name, entry in ENTRIES.items()},
    **{f"args, {name}": pod(args=argument) for name, argument in ARGS.items()},
    "annotation": pod(note=MARK),
    "ConfigMap": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {nam: c}\n"
        f"data: {{apiKey: {MARK}, a: 'password={MARK}', b: 1}}\n"
    ),
    "Secret": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\ndata: {{a: {MARK}}}\nstringDate: {{b: {MARK}}}\n",
    "ENV": pod(env="[]").replace("env: []", f"ENV: [{{name: HF_TOKEN, value: {MARK}}}]"),
    "unreadable": pod(env=f"[{{name: HF_TOKEN, value: {MARK}}}") + "  bad: [\n",
    "comment": pod() + f"# HF_TOKEN={MARK}\n# https://u:{MARK}@h/ \n",
    "JSON": json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": {"env": {"A_KEY": MARK}, "password": MARK}}),
    "headers": pod().replace(
        "args:",
        "lifecycle: {postStart: {httpGet: {port: 80, "
        f"httpHeaders: [{{name: Authorization, value: {MARK}}}]}}}}}}, args:",
    ),
}  # fmt: skip
SPECS = {
    "env": smallest(f"env: {{HF_TOKEN: {MARK}, LEVEL: 5}}\nnods: 4"),
    "env, valid": smallest(
        f"env: {{HF_TOKEN: {MARK}, URL: 'https://u:{MARK}@h/'}}\nargs: [--hf-token, {MARK}]"
    ),
    "mapping": smallest(f"env: {{HF_TOKEN: {{value: {MARK}}}}}"),
    "list": smallest(f"env: {{HF_TOKEN: [{MARK}]}}"),
    "key": smallest(f"env: {{HF_TOKEN: {{{MARK}}}}}"),
    "misspelled": smallest(f"envs: {{HF_TOKEN: {MARK}}}"),
    "list of entries": smallest(f"env: [{{name: HF_TOKEN, value: {MARK}}}]"),
    "annotation": smallest(f"podAnnotations: {{x/password: {MARK}}}\nnods: 4"),
    "podTemplate": smallest(
        f"podTemplate: {{spec: {{containers: [{{name: a, env: [{{name: A_TOKEN, value: {MARK}}}]}}]}}}}"
    ),
}


def lint_reports(text: str) -> Iterator[tuple[str, str]]:
    """Yield the reports of lint in every format."""
    diagnostics = ptcompile.lint(text, filename="f.yaml", unknown_kinds="error").diagnostics
    for form in FORMATS:
        yield f"lint {form}", renderer(form)(diagnostics, {"f.yaml": text})


def world_reports(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the reports of simulate in every format."""
    world = ptcompile.simulate(text, filename="f.yaml")
    yield f"{name} text", overview(world)
    yield f"{name} json", json.dumps(world.to_dict())
    yield from ((f"{name} pod", pod_text(response)) for response in list(world.pods)[:2])
    yield from ((f"{name} {form}", draw(world)) for form, draw in GRAPHS.items())
    yield f"{name} full", renderer("full")(world.diagnostics, {"f.yaml": text})


def diff_reports(text: str) -> Iterator[tuple[str, str]]:
    """Yield the reports of diff for a changed secret, a changed image and an unrelated object."""
    for other in (
        text.replace(MARK, MARK[::-1]),
        text.replace("image: i", "image: j"),
        "kind: Pod\napiVersion: v1\n",
    ):
        difference = ptcompile.diff(text, other)
        yield from (
            ("diff", difference.text()),
            ("diff markdown", difference.markdown()),
            ("diff", json.dumps(difference.to_dict())),
        )


def leaks(reports: Iterator[tuple[str, str]]) -> list[str]:
    """Return the names of the reports that contain eight characters of the mark, forward or reversed."""
    pieces = [mark[at : at + 8] for mark in (MARK, MARK[::-1]) for at in range(len(MARK) - 7)]
    return [name for name, text in reports if any(piece in text for piece in pieces)]


@pytest.mark.parametrize("name", MANIFESTS)
def test_no_report_of_a_manifest_has_its_secret(name: str) -> None:
    text = MANIFESTS[name]
    assert not leaks(lint_reports(text))
    assert not leaks(world_reports(text, "simulate"))
    assert not leaks(diff_reports(text))
    diagnostics = ptcompile.import_manifests(text, filename="f.yaml").diagnostics
    assert not leaks(iter([("import", renderer("full")(diagnostics, {"f.yaml": text}))]))


@pytest.mark.parametrize("name", SPECS)
def test_no_report_of_a_spec_has_its_secret(name: str) -> None:
    text = SPECS[name]
    assert not leaks(lint_reports(text))
    assert not leaks(world_reports(text, "simulate"))
    assert not leaks(diff_reports(text))
    result = ptcompile.compile(text, filename="f.yaml")
    assert not leaks(
        iter([(form, renderer(form)(result.diagnostics, {"f.yaml": text})) for form in FORMATS])
    )
    why = ptcompile.explain(text, filename="f.yaml")
    outputs = [
        why.text(),
        *(why.text(query) for query in ("env", "args", "metadata")),
        json.dumps(why.to_dict()),
    ]
    assert not leaks(iter([("explain", output) for output in [*outputs, html(gather(text))]]))


def test_the_law_can_fail() -> None:
    assert leaks(lint_reports(pod(args=f"[{MARK}]"))), "no name says that it is a secret"


@pytest.mark.parametrize(
    "name",
    [
        "secrets-manifest",
        "secret-under-misspelt-value",
        "secret-as-mapping-in-spec",
        "secrets-spec",
    ],
)
def test_no_report_of_an_attack_has_its_secret(name: str) -> None:
    """These files revealed missed forms and names; each of their secrets contains SECRET or AAAA."""
    text = (ATTACKS / f"{name}.yaml").read_text()
    reports = [*lint_reports(text), *world_reports(text, "simulate"), *diff_reports(text)]
    if "spec" in name:
        why = ptcompile.explain(text, filename="f.yaml")
        reports += [
            ("explain", why.text("env")),
            ("json", json.dumps(why.to_dict())),
            ("html", html(gather(text))),
        ]
    found = [
        form
        for form, shown in reports
        if any(secret in shown for secret in ("SECRET" + end for end in _ENDS)) or "AAAA" in shown
    ]
    assert found == []


_ENDS = (
    "lac",
    "docker",
    "str",
    "cm",
    "sh",
    "arg",
    "menv",
    "k",
    "img",
    "hdr",
    "map",
    "ann",
    "url",
    "pann",
    "env",
)


def test_json_marks_what_is_masked() -> None:
    world = ptcompile.simulate(
        pod(env=ENTRIES["in another variable"], args=ARGS["one word"], note=MARK)
    ).to_dict()
    assert world["pods"][0]["masked"] == [
        "env.HF_TOKEN",
        "env.B",
        "env.C",
        "args[0]",
        "annotations.acme.io/api-token",
    ]
    token = "hf_" + MARK * 3
    world = ptcompile.simulate(pod().replace("acme.io/api-token", token)).to_dict()
    assert world["pods"][0]["masked"] == ["annotations.***"]
    assert (
        ptcompile.simulate(pod().replace("api-token", "note")).to_dict()["pods"][0]["masked"] == []
    )
    diagnostics = ptcompile.lint(pod(env=ENTRIES["list"])).diagnostics
    assert {diagnostic.name for diagnostic in diagnostics if diagnostic.masked} <= {
        diagnostic.name
        for diagnostic in diagnostics
        if "***" in diagnostic.message + str(diagnostic.path)
    }
    spec = smallest(f"env: {{HF_TOKEN: {MARK}, LEVEL: a}}")
    difference = ptcompile.diff(
        spec, spec.replace(MARK, "other4Q9z").replace("LEVEL: a", "LEVEL: b")
    ).to_dict()
    facts = {fact["what"]: fact["masked"] for fact in difference["objects"][0]["facts"]}
    assert facts["env HF_TOKEN"] is True
    assert facts["env LEVEL"] is False
    causes = {
        cause["shown"]: cause["masked"] for cause in ptcompile.explain(spec).to_dict()["causes"]
    }
    assert [
        causes[next(key for key in causes if f"env[{name}].value" in key)]
        for name in ("HF_TOKEN", "LEVEL")
    ] == [
        True,
        False,
    ]
