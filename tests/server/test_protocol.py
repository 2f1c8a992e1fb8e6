"""The server as an editor sees it: a process that speaks the protocol on its standard input and output."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.mutate import mutate
from tests.conftest import GOLDEN
from tests.server.client import Client
from tests.server.making import POD, SPEC

WRONG = SPEC.replace("  nodes:", "  noodes:")
ODD = POD.replace("{name: train}", "{name: train, nme: x}")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "ptcompile.toml").write_text(
        'cluster = "cluster.yaml"\nignore = ["PTC109"]\n', encoding="utf-8"
    )
    (tmp_path / "cluster.yaml").write_text(
        (GOLDEN / "queue-volcano" / "cluster.yaml").read_text(encoding="utf-8")
    )
    (tmp_path / "settings.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    )
    with Client(tmp_path) as connected:
        connected.replies["window/showDocument"] = {"success": True}
        yield connected
    assert connected.status == 0


def test_a_typical_editing_session_works(client: Client) -> None:
    """All steps share one server, because starting it takes longer than all of them."""
    (diagnostic,) = client.open("spec.yaml", WRONG)
    assert (diagnostic["code"], diagnostic["range"]["start"]) == (
        "PTC021",
        {"line": 6, "character": 2},
    )
    client.change("spec.yaml", SPEC, 2)
    assert client.diagnostics("spec.yaml", 2) == []
    document = {"textDocument": {"uri": client.uri("spec.yaml")}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    (hint,) = client.call("textDocument/inlayHint", **document, range=whole)
    assert hint["label"] == "4 pods, 32 processes, 32 GPUs"
    lenses = client.call("textDocument/codeLens", **document)
    assert next(lens["command"]["title"] for lens in lenses) == "show manifests for volcano"
    assert (
        "torchrun"
        in client.call("textDocument/hover", **client.at("spec.yaml", 5, 4))["contents"]["value"]
    )
    assert client.call("textDocument/documentSymbol", **document)[0]["name"] == "TrainingJob/train"
    typed = SPEC + "  envFrom: [{configMapRef: {name: "
    client.change("spec.yaml", typed, 3)
    items = client.call("textDocument/completion", **client.at("spec.yaml", 12, 34))["items"]
    assert [item["label"] for item in items] == ["settings"]
    client.change("spec.yaml", typed + "settings}}]\n", 4)
    (place,) = client.call("textDocument/definition", **client.at("spec.yaml", 12, 36))
    assert place["uri"] == client.uri("settings.yaml")
    client.change("spec.yaml", WRONG, 5)
    context: dict[str, list[str]] = {"diagnostics": []}
    (fix,) = client.call("textDocument/codeAction", **document, range=whole, context=context)
    assert fix["edit"]["changes"][client.uri("spec.yaml")][0]["newText"] == "  nodes: 4\n"


def test_shown_documents_are_updated(client: Client) -> None:
    client.open("spec.yaml", SPEC)
    lens = {
        "command": "ptcompile.showManifests",
        "arguments": [client.uri("spec.yaml"), 0, "jobset"],
    }
    assert "kind: JobSet" in client.call("workspace/executeCommand", **lens)["text"]
    asked = client.asked.get(timeout=60)
    shown = Path(asked["params"]["uri"].removeprefix("file://"))
    assert "kind: JobSet" in shown.read_text(encoding="utf-8")
    assert shown.parent.stat().st_mode & 0o077 == 0
    client.open("wide.yaml", SPEC.replace("name: train", "name: " + "\U00020000" * 100))
    lens = {
        "command": "ptcompile.showManifests",
        "arguments": [client.uri("wide.yaml"), 0, "jobset"],
    }
    assert client.call("workspace/executeCommand", **lens)["name"] == f"{'-' * 80}-jobset.yaml"
    client.replies["window/showMessageRequest"] = {"title": "volcano"}
    choose = {"command": "ptcompile.chooseTarget", "arguments": [client.uri("spec.yaml"), 0]}
    assert client.call("workspace/executeCommand", **choose)["name"] == "train-volcano.yaml"
    pods = {"command": "ptcompile.showPods", "arguments": [client.uri("spec.yaml"), 0]}
    assert "train-master-0" in client.call("workspace/executeCommand", **pods)["text"]
    page = {"command": "ptcompile.explainPage", "arguments": [client.uri("spec.yaml")]}
    assert client.call("workspace/executeCommand", **page)["text"].startswith("<!DOCTYPE html>")
    page["arguments"] = [client.uri("spec.yaml"), "dark"]
    assert (
        '<meta name="color-scheme" content="dark">'
        in client.call("workspace/executeCommand", **page)["text"]
    )


def test_the_server_uses_the_configuration_of_lint(client: Client, tmp_path: Path) -> None:
    config = tmp_path / "ptcompile.toml"
    assert client.open("spec.yaml", ODD)
    config.write_text('ignore = ["PTC501"]\n', encoding="utf-8")
    client.tell("workspace/didChangeWatchedFiles", changes=[{"uri": config.as_uri(), "type": 2}])
    assert client.diagnostics("spec.yaml") == []
    config.write_text('ignroe = ["PTC501"]\n', encoding="utf-8")
    client.tell("workspace/didChangeWatchedFiles", changes=[{"uri": config.as_uri(), "type": 2}])
    warning, *findings = client.diagnostics("spec.yaml")
    assert "did you mean ignore?" in warning["message"]
    assert [finding["code"] for finding in findings] == ["PTC501"]
    config.unlink()
    client.tell("workspace/didChangeConfiguration", settings={"ptcompile": {"ignore": ["PTC501"]}})
    assert client.diagnostics("spec.yaml") == []


def test_a_canceled_request_stops(client: Client) -> None:
    stream = "---\n".join([POD] * 2_000)
    document = {"uri": client.uri("many.yaml"), "languageId": "yaml", "version": 1, "text": stream}
    client.open("small.yaml", SPEC)
    client.tell("textDocument/didOpen", textDocument=document)
    number = client.ask("textDocument/codeLens", textDocument={"uri": client.uri("many.yaml")})
    client.tell("$/cancelRequest", id=number)
    assert client.answer(number)["error"]["code"] == -32800
    before = client.cpu()
    client.change("many.yaml", POD, 2)
    client.diagnostics("many.yaml", 2)
    client.call("textDocument/documentSymbol", textDocument={"uri": client.uri("small.yaml")})
    assert client.cpu() - before < 2, "the findings of the previous text are still computed"


def test_a_closed_document_has_no_findings(client: Client) -> None:
    assert client.open("spec.yaml", WRONG)
    client.tell("textDocument/didClose", textDocument={"uri": client.uri("spec.yaml")})
    assert client.diagnostics("spec.yaml") == []


def test_the_connection_ends_during_an_open_request(client: Client) -> None:
    client.open("spec.yaml", SPEC)
    client.silent.add("window/showMessageRequest")
    client.ask(
        "workspace/executeCommand",
        command="ptcompile.chooseTarget",
        arguments=[client.uri("spec.yaml"), 0],
    )
    client.asked.get(timeout=60)


def test_random_edits_never_kill_the_server(client: Client) -> None:
    """Few edits; `python -m fuzz server` makes as many as time permits."""
    dice = random.Random(25)  # noqa: S311 - the same edits each time
    text = f"{SPEC}---\n{POD}".encode()
    client.open("spec.yaml", text.decode())
    place = client.at("spec.yaml", 0, 0)
    document = {"textDocument": place["textDocument"]}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    for version in range(2, 62):
        typed = mutate(text, dice, [POD.encode()]).decode("utf-8", "replace")
        client.change("spec.yaml", typed, version)
        line = dice.randrange(typed.count("\n") + 1)
        asked = [
            client.ask(
                "textDocument/completion", **client.at("spec.yaml", line, dice.randrange(40))
            ),
            client.ask("textDocument/hover", **client.at("spec.yaml", line, dice.randrange(40))),
            client.ask(
                "textDocument/codeAction", **document, range=whole, context={"diagnostics": []}
            ),
            client.ask("textDocument/documentSymbol", **document),
        ]
        for number in asked:
            answer = client.answer(number)
            assert "error" not in answer, (answer, typed)
    client.change("spec.yaml", WRONG, 99)
    assert [diagnostic["code"] for diagnostic in client.diagnostics("spec.yaml", 99)] == ["PTC021"]
