"""The example plugin, really installed: `.ci/adapters` does so, elsewhere there is nothing to ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptcompile
from tests.extending.installing import ran
from tests.extending.test_plugins import LABELLED, SPEC

pytest.importorskip("acme_ptcompile")


def test_pip_s_entry_points_are_found(tmp_path: Path) -> None:
    (one,) = ptcompile.plugins()
    assert one == ("acme-ptcompile", "1.0.0", ("ACME",), ("cost_center",), ("appwrapper",))
    (tmp_path / "ptcompile.toml").write_text('plugins = ["acme-ptcompile"]\n', encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(LABELLED, encoding="utf-8")
    done = ran(None, tmp_path, "lint", "spec.yaml", "--output-format", "json")
    assert (done.returncode, [one["code"] for one in json.loads(done.stdout)["diagnostics"]]) == (1, ["ACME001"])


@pytest.mark.parametrize("name", ["acme-ptcompile", "Acme_PTcompile"])
def test_in_python(name: str) -> None:
    extensions = ptcompile.extensions(plugins=[name])
    assert extensions.plugins == (("acme-ptcompile", "1.0.0"),)
    assert [one.code for one in ptcompile.lint(LABELLED, extensions=extensions).diagnostics] == ["ACME001"]
    made = ptcompile.compile(SPEC, target="appwrapper", extensions=extensions)
    assert [one["kind"] for one in made.manifests] == ["AppWrapper"]
    assert ptcompile.rules(extensions=extensions)[-1]["code"] == "ACME001"
    (pod, *_) = ptcompile.simulate(SPEC, target="job", extensions=extensions).pods
    assert pod.name.startswith("train-0")
