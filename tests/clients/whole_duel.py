"""Two agents play a whole duel with the Python MCP client, as anybody would.

usage: whole_duel.py URL MODE KEY_OF_ALPHA KEY_OF_BETA

MODE is the client's: "legacy" for the handshake, or a version without one. Prints one JSON object
with what the calling test checks further. Ends with a traceback at the first thing that is wrong.
"""

import asyncio
import contextlib
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent


@contextlib.asynccontextmanager
async def agent(url: str, mode: str, key: str):
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            # The client checks structured results only against schemas that it has seen.
            await client.list_tools()
            yield client


def body(result: CallToolResult) -> dict:
    """The structured content, which the text repeats for older clients."""
    assert isinstance(result, CallToolResult), result
    [text] = result.content
    assert isinstance(text, TextContent), text
    assert json.loads(text.text) == result.structured_content
    return result.structured_content


async def ok(client: Client, tool: str, **arguments) -> dict:
    result = await client.call_tool(tool, arguments)
    assert result.is_error is False, result
    answer = body(result)
    assert isinstance(answer["server_time"], str) and isinstance(answer["summary"], str), answer
    return answer


async def refused(client: Client, tool: str, **arguments) -> dict:
    """An error of the tool arrives as a result, and fits the published schema too."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error is True, result
    # The client leaves errors unchecked, so the check is asked for.
    await client.session.validate_tool_result(tool, result)
    return body(result)["error"]


async def assert_results_are_checked(client: Client) -> None:
    """A result that breaks the schema does not pass the client."""
    wrong = CallToolResult(content=[], structured_content={"server_time": 5, "summary": "x"})
    try:
        await client.session.validate_tool_result("whoami", wrong)
    except RuntimeError:
        return
    raise AssertionError("the client does not check structured content")


async def duel(url: str, mode: str, keys: list[str]) -> dict:
    async with agent(url, mode, keys[0]) as alpha, agent(url, mode, keys[1]) as beta:
        await assert_results_are_checked(alpha)
        assert alpha.instructions and "get_arena_status" in alpha.instructions or mode != "legacy"
        for client, name in ((alpha, "alpha"), (beta, "beta")):
            me = await ok(client, "whoami")
            assert me["agent"]["nickname"] == name, me
            entered = await ok(client, "enter_arena", pitch=f"{name} deals", model_key="test/python")
            assert entered["action"] == "ENTERED" and entered["arena"]["active"] is True, entered

        begun = await ok(alpha, "challenge_agent", nickname="beta", message="Half each?")
        assert begun["action"] == "CREATED_DUEL" and begun["message_sent"] is True, begun
        stakes = begun["your_stake"] + begun["opponent_stake"]
        assert begun["distributable_pot"] == stakes - 1, begun

        # Beta reads the message, does not acknowledge it, reads it again, and then acknowledges it.
        cursor = None
        for poll, wanted in enumerate((["Half each?"], ["Half each?"], [])):
            status = await ok(beta, "get_arena_status", message_ack_cursor=cursor)
            [active] = status["duels"]
            assert [new["message"] for new in active["new_messages"]] == wanted, status
            assert active["opponent_nickname"] == "alpha" and active["state"] == "CHAT", active
            cursor = status["message_ack_cursor"] if poll > 0 else None

        sent = await ok(beta, "send_message", nickname="alpha", message="Ten is mine.")
        assert sent["action"] == "SENT_MESSAGE", sent
        status = await ok(alpha, "get_arena_status", message_ack_cursor=None)
        assert [new["message"] for new in status["duels"][0]["new_messages"]] == ["Ten is mine."], status

        too_much = await refused(alpha, "submit_demand", nickname="beta", count=stakes)
        assert too_much["code"] == "DEMAND_OUT_OF_RANGE", too_much
        first = await ok(alpha, "submit_demand", nickname="beta", count=9)
        assert first["state"] == "WAITING_FOR_OPPONENT" and first["result"] is None, first
        closed = await refused(beta, "send_message", nickname="alpha", message="wait")
        assert closed["code"] == "CHAT_CLOSED", closed
        last = await ok(beta, "submit_demand", nickname="alpha", count=10)
        result = last["result"]
        assert last["state"] == "FINISHED" and result["settlement"] == "WITHIN_POT", last
        assert (result["your_payout"], result["opponent_payout"]) == (10, 9), result

        cooldown = await refused(alpha, "challenge_agent", nickname="beta")
        assert cooldown["code"] == "PAIR_COOLDOWN" and cooldown["retry_after_seconds"] > 0, cooldown
        unknown = await refused(alpha, "whoami", who="me")
        assert unknown["code"] == "VALIDATION_FAILED" and "who" in unknown["message"], unknown

        [record] = (await ok(alpha, "get_arena_history", cursor=None))["results"]
        assert record["your_demand"] == 9 and record["opponent_demand"] == 10, record
        assert record["your_model_key"] == "test/python", record
        [event] = (await ok(beta, "get_arena_feed"))["events"]
        return {"version": str(alpha.protocol_version), "duel_url": event["duel_url"]}


if __name__ == "__main__":
    url, mode, *keys = sys.argv[1:]
    print(json.dumps(asyncio.run(duel(url, mode, keys))))
