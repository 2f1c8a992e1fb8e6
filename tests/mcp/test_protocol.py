"""Conversations with `ptcompile mcp` over its standard streams, with the client of the real SDK (.ci/adapters)."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import ROOT
from tests.mcp.calls import MANIFEST, SPEC

mcp = pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")

from ptcompile.mcp import protocol  # noqa: E402
from ptcompile.mcp.resources import FAMILIES, PAGES  # noqa: E402
from ptcompile.mcp.tools import TOOLS  # noqa: E402

SECONDS = 120
MANY_CHARACTERS = 9 << 20


def talk(
    folder: Path, conversation: Callable[[Any], Awaitable[None]], *options: str, mode: str = "auto"
) -> None:
    """Have a conversation with a server that was started in a folder."""
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "ptcompile", "mcp", *options],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
    )

    async def run() -> None:
        with anyio.fail_after(SECONDS):
            async with mcp.Client(server, mode=mode) as client:
                await conversation(client)

    anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_assistant_lists_lints_fixes_and_compiles(tmp_path: Path, mode: str) -> None:
    """The tools are listed in few words: an assistant reads them at each start."""
    (tmp_path / "job.yaml").write_text(
        MANIFEST.replace("restartPolicy:", "restartpolicy:"), encoding="utf-8"
    )
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")

    async def conversation(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        assert all(
            tool.annotations.read_only_hint and not tool.annotations.open_world_hint
            for tool in tools
        )
        definitions = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools]
        assert sum(map(len, definitions)) < 12_000
        linted = await client.call_tool("lint", {"path": "job.yaml"})
        assert "restartpolicy" in linted.content[0].text
        assert linted.structured_content is None, "the same a second time"
        fixed = await client.call_tool("fix", {"path": "job.yaml"})
        assert "restartPolicy: OnFailure" in json.loads(fixed.content[0].text)["text"]
        compiled = await client.call_tool("compile", {"path": "spec.yaml", "target": "jobset"})
        assert yaml.safe_load(json.loads(compiled.content[0].text)["yaml"])["kind"] == "JobSet"
        pages = (await client.list_resources()).resources
        assert [page.uri for page in pages] == list(PAGES)
        assert len((await client.list_resource_templates()).resource_templates) == len(FAMILIES)
        page = await client.read_resource("ptcompile://rules/restarts-for-ever")
        assert page.contents[0].text.startswith("PTC717")

    talk(tmp_path, conversation, mode=mode)
    assert "restartpolicy:" in (tmp_path / "job.yaml").read_text(encoding="utf-8"), "no tool writes"


def test_hostile_calls_get_an_answer_and_the_server_lives(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "secret.yaml").write_text("token: hunter2\n", encoding="utf-8")
    (tmp_path / "repo" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("lint", {"path": "../secret.yaml"}, "the folders that this server may read"),
        ("lint", {"path": str(tmp_path / "secret.yaml")}, "the folders that this server may read"),
        ("lint", {"path": "link.yaml"}, "the folders that this server may read"),
        (
            "lint",
            {"text": "", "cluster_path": "../secret.yaml"},
            "the folders that this server may read",
        ),
        ("lint", {"text": 3}, "text must be a string, not int"),
        ("lint", {"text": "a: b\n", "shell": "rm -rf /"}, "no argument 'shell'"),
        ("delete", {}, "no tool 'delete'; the tools are lint, fix"),
        ("lint", {"text": "x" * MANY_CHARACTERS}, '"name": "too-large"'),
        (
            "lint",
            {"text": '"\\uD800": "\\uD800"\nkind: Pod\napiVersion: v1\n'},
            '"diagnostics": [{',
        ),
        ("lint", {"text": "[" * 100_000}, '"diagnostics": [{'),
        ("lint", {"text": "a: &a [1]\n" + "b: *a\n" * 10_000}, '"diagnostics": ['),
    ]

    async def conversation(client: Any) -> None:
        for name, arguments, message in calls:
            result = await client.call_tool(name, arguments)
            assert message in result.content[0].text, (name, message, result.content[0].text[:300])
            assert "hunter2" not in result.content[0].text
            assert bool(result.is_error) == (not result.content[0].text.startswith("{"))
        with pytest.raises(mcp.MCPError, match="no page 'file:///etc/passwd'"):
            await client.read_resource("file:///etc/passwd")
        assert not (await client.call_tool("lint", {"text": MANIFEST})).is_error

    talk(tmp_path / "repo", conversation)


def test_a_broken_configuration_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC9999"]\n', encoding="utf-8")

    async def conversation(client: Any) -> None:
        result = await client.call_tool("lint", {"text": MANIFEST})
        assert result.is_error
        assert "the configuration has an error" in result.content[0].text
        (tmp_path / "ptcompile.toml").write_text(
            'ignore = ["PTC606", "PTC717"]\n', encoding="utf-8"
        )
        result = await client.call_tool("lint", {"text": MANIFEST})
        assert json.loads(result.content[0].text)["diagnostics"] == []

    talk(tmp_path, conversation)


def test_a_line_that_is_no_message_does_not_end_the_server(tmp_path: Path) -> None:
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    lines = ["{", "\0", "[]", '{"jsonrpc": "2.0"}', "[" * 100_000, "x" * (70 << 20), ping]
    words = [sys.executable, "-m", "ptcompile", "mcp"]
    with (
        (tmp_path / "errors").open("w+b") as errors,
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{line}\n" for line in lines).encode())
        server.stdin.flush()
        answer = next((line for line in server.stdout if json.loads(line).get("id") == 1), b"")
        server.stdin.close()
        assert json.loads(answer)["result"] == {}, (tmp_path / "errors").read_bytes()[-2000:]
        assert server.wait(SECONDS) == 0


def test_the_rest_of_a_line_that_is_too_long_is_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_MAX_MESSAGE_CHARACTERS", 4)
    lines = protocol._Lines(io.StringIO('xxxx{"a"}\n[1]\n'))
    assert [lines.readline(), lines.readline(), lines.readline()] == ["xxxx", "[1]\n", ""]


@pytest.mark.parametrize(("line", "read"), [
    (r'"a\ud800b"', r'"a\ufffdb"'), (r'"\udc00\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'), (r'"\\ud800"', r'"\\ud800"'),
    (r'"\\\uD800"', r'"\\\ufffd"'), (r'"\ud800\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'), ('"plain"', '"plain"'),
])  # fmt: skip
def test_half_of_a_surrogate_pair_does_not_make_a_line_unreadable(line: str, read: str) -> None:
    assert protocol._Lines(io.StringIO(line)).readline() == read
    json.loads(read).encode()


def test_half_of_a_surrogate_pair_does_not_reach_the_client() -> None:
    assert protocol._to_result("\ud800").content[0].text == "?"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "ptcompile", "mcp", "--root", str(tmp_path / "missing")]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert done.stderr == f"ptcompile: --root {tmp_path / 'missing'}: not a folder\n"
