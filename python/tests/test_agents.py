"""The agents' server beside the clients that agents use: the protocol's own Python SDK, on standard input and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from conftest import command

from alike._binary import binary
from alike.client import Client

mcp = pytest.importorskip("mcp")
if not hasattr(mcp, "MCPError"):
    pytest.skip("needs version 2 of the SDK", allow_module_level=True)

RIVER = "The river rose in the night, and by morning the lower street stood under water."
BRIDGE = "Nobody in the council had expected the old bridge to hold for another winter."

Calls = Callable[[Any], Awaitable[None]]


def with_session(calls: Calls, *arguments: str | Path) -> None:
    """Run alike mcp for one session of the SDK."""
    from mcp.client.stdio import stdio_client

    async def session() -> None:
        server = mcp.StdioServerParameters(command=str(binary()), args=["mcp", *map(str, arguments)])
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as client:
            await client.initialize()
            await calls(client)

    asyncio.run(session())


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return a folder with two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "river.md").write_text(RIVER)
    (folder / "bridge.md").write_text(BRIDGE)
    return folder


def test_a_client_checks_searches_and_reads(notes: Path) -> None:
    async def calls(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["check", "clusters", "compare", "search"]
        assert all(tool.annotations.read_only_hint for tool in tools.values())

        told = (await client.call_tool("check", {"text": RIVER.upper()})).structured_content
        assert told["new"] is False
        nearest = told["nearest"][0]
        assert (nearest["similarity"], nearest["a_in_b"], nearest["b_in_a"]) == (1, 1, 1)
        assert (await client.read_resource("alike://document/" + quote(nearest["id"], safe=""))).contents[0].text == RIVER

        told = (await client.call_tool("check", {"text": "A text that nobody has written down in this folder before."})).structured_content
        assert told["new"] is True
        assert told["why"]
        found = (await client.call_tool("search", {"text": BRIDGE})).structured_content
        assert [document["id"] for document in found["documents"]] == [str(notes / "bridge.md")]

    with_session(calls, "--among", notes)


def test_a_wrong_call_is_an_answer_that_says_so(notes: Path) -> None:
    async def calls(client: Any) -> None:
        assert (await client.call_tool("check", {"note": RIVER})).is_error
        assert (await client.call_tool("check", {"text": RIVER, "top": 1000})).is_error
        with pytest.raises(mcp.MCPError):
            await client.read_resource("alike://document/none")
        assert not (await client.call_tool("check", {"text": RIVER})).is_error

    with_session(calls, "--among", notes)


def test_a_text_is_added_where_the_user_allowed_it(notes: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    command("index", "build", index, notes)

    async def adds(client: Any) -> None:
        added = "A note about the harbour, written by an agent that first asked whether it was new."
        first = (await client.call_tool("add", {"id": "harbour", "text": added})).structured_content
        again = (await client.call_tool("add", {"id": "quay", "text": added})).structured_content
        assert (first["new"], again["new"]) == (True, False)

    with_session(adds, "--index", index, "--add")


def test_the_service_answers_the_same_client(service: str) -> None:
    from mcp.client.streamable_http import streamable_http_client

    async def session() -> None:
        async with (
            streamable_http_client(service + "/v1/collections/agents/mcp") as (read, write),
            mcp.ClientSession(read, write) as client,
        ):
            await client.initialize()
            told = (await client.call_tool("check", {"text": RIVER})).structured_content
            assert told["new"] is False
            assert told["nearest"][0]["id"] == "river"

    with Client(service) as c:
        c.create("agents")
        assert c.check("agents", {"id": "river", "text": RIVER}).new
        asyncio.run(session())
        c.drop("agents")
