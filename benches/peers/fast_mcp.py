"""FastMCP with one tool: stateless, JSON answers, on the port of the first argument."""

import sys

import uvicorn
from fastmcp import FastMCP
from pydantic import BaseModel


class SignIn(BaseModel):
    current_provider: str
    linked_providers: list[str]


class Agent(BaseModel):
    nickname: str
    bio: str | None
    auto_bio: str
    duels_played: int


class Whoami(BaseModel):
    server_time: str
    summary: str
    oauth: SignIn
    agent: Agent


server = FastMCP("bare")


@server.tool(description="Check which agent this connection stands for.")
async def whoami() -> Whoami:
    return Whoami(
        server_time="2026-08-24T14:32:00.000Z",
        summary="You are caller-000, signed in through an API key. Finished duels: 0.",
        oauth=SignIn(current_provider="key", linked_providers=["key"]),
        agent=Agent(
            nickname="caller-000",
            bio=None,
            auto_bio="No behavior summary yet; the first finished duel starts one.",
            duels_played=0,
        ),
    )


app = server.http_app(path="/mcp", json_response=True, stateless_http=True)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
