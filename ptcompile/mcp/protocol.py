"""The server's side of the Model Context Protocol, on the SDK's low-level server.

The SDK's own decorators would make each tool's schemas of a signature: a text that is JSON would
arrive parsed, an unknown argument would be ignored, and the results would have other schemas than
those of the commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from ptcompile._internal.about import SITE, __version__
from ptcompile._internal.deadline import deadline
from ptcompile._internal.limits import UNTRUSTED_SECONDS, NotFinishedError
from ptcompile.mcp.inputs import Around, Call, CallError, CallSettings, NamedText
from ptcompile.mcp.resources import FAMILIES, PAGES, read_page
from ptcompile.mcp.tools import TOOLS, Tool, check_arguments, shorten_lists

_INSTRUCTIONS = """\
ptcompile compiles a short spec (kind: TrainingJob) of a PyTorch job into Kubernetes manifests for any operator, and
checks manifests offline. Lint what you write; an error is certain to fail, a warning depends on the cluster. Each
finding's code has a page: ptcompile://rules/CODE. Start a spec from ptcompile://spec/starter.
"""
_MAX_MESSAGE_CHARACTERS = 1 << 24
"""Limit of a message: twice the limit of an untrusted file, as line breaks and quotes are
escaped.
"""
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_escape = re.compile(rf"(?P<pair>{_PAIR})|\\u[dD][89a-fA-F][0-9a-fA-F]{{2}}|(?P<other>\\.)")
"""A pair of surrogates, half of one, or another escape."""


class _Lines:
    """Standard input by lines. One that is longer than any message is cut: it is no JSON then. Half
    of a surrogate pair becomes a replacement character: the SDK would drop the request, and its
    client would wait.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readline(self) -> str:
        """Return a line, cut at the limit."""
        line: str = self._stream.readline(_MAX_MESSAGE_CHARACTERS)
        rest = line
        while rest and not rest.endswith("\n"):
            rest = self._stream.readline(_MAX_MESSAGE_CHARACTERS)
        if "\\ud" not in line and "\\uD" not in line:
            return line
        return _escape.sub(lambda match: match["pair"] or match["other"] or r"\ufffd", line)


def make_server(
    roots: Sequence[str],
    settings: Callable[[str, bytes | None], CallSettings],
    around: Callable[[NamedText], Around],
) -> Server[Any]:
    """Return a server that reads files below `roots`; `settings` returns what judges a file, and
    `around` what the other files mean for it.
    """
    one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(name, tool) for name, tool in TOOLS.items()])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        call = Call(params.arguments or {}, roots, settings, around)
        return await anyio.to_thread.run_sync(
            partial(answer, params.name, call), limiter=one_at_a_time
        )

    async def read_resource(
        _context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = str(params.uri)
        try:
            text = await anyio.to_thread.run_sync(read_page, address, limiter=one_at_a_time)
        except CallError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=address, mime_type="text/plain", text=text)]
        )

    return Server(
        "ptcompile",
        version=__version__,
        website_url=SITE,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_pages,
        on_list_resource_templates=_list_families,
        on_read_resource=read_resource,
    )


def _describe(name: str, tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return types.Tool(
        name=name,
        description=tool.description,
        input_schema=tool.input_schema(),
        annotations=hints,
    )


async def _list_pages(_context: Any, _params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=address, name=address, title=page.title, mime_type="text/plain")
            for address, page in PAGES.items()
        ]
    )


async def _list_families(_context: Any, _params: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{start}{{word}}",
                name=start,
                title=family.title,
                mime_type="text/plain",
            )
            for start, family in FAMILIES.items()
        ]
    )


def answer(name: str, call: Call) -> types.CallToolResult:
    """Call a tool. A call that cannot be answered is a result with the reason, for the assistant
    to try again.
    """
    tool = TOOLS.get(name)
    try:
        if tool is None:
            raise CallError(f"no tool {name[:50]!r}; the tools are {', '.join(TOOLS)}")
        check_arguments(tool, call.arguments)
        with deadline(UNTRUSTED_SECONDS):
            result = tool.run(call)
        if not call.arguments.get("whole", "whole" not in tool.arguments):
            result = shorten_lists(result)
    except NotFinishedError:
        text = f"not finished after {UNTRUSTED_SECONDS:g} s: ask about fewer or smaller objects"
        return _to_result(text, is_error=True)
    except CallError as error:
        return _to_result(str(error), is_error=True)
    except Exception as error:  # a bug of ours must not end the server
        return _to_result(
            f"this is a bug in ptcompile, not in your input: {type(error).__name__}", is_error=True
        )

    return _to_result(json.dumps(result, ensure_ascii=False))


def _to_result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    """Return a result as text alone: structured content would be the same a second time, and
    every client reads it.
    """
    # no message can contain half of a surrogate pair: it becomes a question mark
    encodable = text.encode(errors="replace").decode()
    content = [types.TextContent(text=encodable)]
    return types.CallToolResult(content=content, is_error=is_error)


async def serve(server: Server[Any], stdin: Any) -> None:
    """Answer the client on standard input and output until it closes them."""
    async with stdio_server(stdin=anyio.wrap_file(_Lines(stdin))) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
