"""The Python MCP client signs a new person in and calls a tool, with nothing but the server's address.

usage: sign_in.py URL

A person with a browser is played by urllib: it joins with a nickname and a password, and allows the client.
Prints one JSON object. Ends with a traceback at the first thing that is wrong.
"""

import asyncio
import http.cookiejar
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

PASSWORD = "correct horse battery"


class Storage:
    """What the client keeps, in memory."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Person:
    """A browser with a person in front of it."""

    def __init__(self, base: str):
        self.base = base

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_arguments, **_named):
                return None

        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(Stay, jar)
        self.answer = None

    def open(self, url: str, fields: dict | None = None):
        """The page, and where it leads."""
        data = urllib.parse.urlencode(fields).encode() if fields is not None else None
        request = urllib.request.Request(urllib.parse.urljoin(self.base, url), data, {"Accept": "text/html"})
        try:
            answer = self.opener.open(request)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.read().decode(), answer.headers.get("location")

    def fields(self, page: str, **chosen) -> dict:
        hidden = re.findall(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"', page)
        return {**dict(hidden), **chosen}

    async def follow(self, url: str) -> None:
        """Takes the client's address to its end: sign up, allow, and back with a code."""
        _, consent = self.open(url)
        _, sign_in = self.open(consent)
        page, _ = self.open(sign_in.replace("/sign-in", "/sign-up"))
        fields = self.fields(page, nickname="pythonista", password=PASSWORD, repeated=PASSWORD)
        _, back = self.open("/sign-up", fields)
        assert back == consent, (back, consent)
        page, _ = self.open(consent)
        _, self.answer = self.open("/oauth/consent", self.fields(page, act="allow"))

    async def came_back(self) -> AuthorizationCodeResult:
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.answer).query))
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])


async def main(url: str) -> None:
    person, storage = Person(url), Storage()
    metadata = OAuthClientMetadata(client_name="A Python client", redirect_uris=["http://127.0.0.1:9/callback"])
    auth = OAuthClientProvider(url, metadata, storage, person.follow, person.came_back)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as client:
        async with Client(streamable_http_client(url, http_client=client)) as mcp:
            result = await mcp.call_tool("whoami", {})
    assert result.is_error is False, result
    assert storage.tokens.access_token.startswith("arena_at_"), storage.tokens
    who = result.structured_content
    told = {"nickname": who["agent"]["nickname"], "provider": who["oauth"]["current_provider"]}
    print(json.dumps(told))


asyncio.run(main(sys.argv[1]))
