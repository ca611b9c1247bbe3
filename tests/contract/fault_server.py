"""An HTTP server that misbehaves on demand, down to the bytes: resets, truncations, hangs, garbage.

It knows nothing of the code under test. What it does with each request is a function given to it; what
it did is in its log.
"""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal, Self, TypeAlias

import orjson

Ending: TypeAlias = Literal["keep", "close", "reset", "hang"]
Behaviour: TypeAlias = Callable[["Received"], "Answer"]

OK_HEADERS: Mapping[str, str] = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Received:
    """One request; ``number`` counts from 1 over the server's life."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Raw bytes to send, and how to end."""

    name: str
    payload: bytes = b""
    ending: Ending = "keep"


def response(
    status: int, body: bytes, headers: Mapping[str, str] = OK_HEADERS, *, name: str = "", missing: int = 0
) -> Answer:
    """A whole HTTP response; with ``missing`` bytes promised and never sent, and the connection closed."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body) + missing}"]
    lines += [f"{key}: {value}" for key, value in headers.items()]
    payload = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    return Answer(name or f"status {status}", payload, "close" if missing else "keep")


def error(status: int, headers: Mapping[str, str] | None = None, **fields: object) -> Answer:
    """An error as OpenAI words it."""
    body = orjson.dumps({"error": {"message": f"made-up error {status}", **fields}})
    return response(status, body, {**OK_HEADERS, **(headers or {})})


def completion(
    content: object = "Paris",
    *,
    model: str = "gpt-4o-mini",
    tool_calls: object = None,
    usage: object = None,
    finish_reason: str = "stop",
) -> bytes:
    """The body of a chat completion."""
    message = {"role": "assistant", "content": content}
    if tool_calls is not None:
        message["tool_calls"] = tool_calls
    tree = {
        "id": "chatcmpl-1",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": usage or {"prompt_tokens": 100, "completion_tokens": 10},
    }
    return orjson.dumps(tree)


HTML = b"<html><body><h1>Bad gateway</h1></body></html>"
RESET = Answer("reset", ending="reset")
HANG = Answer("hang", ending="hang")
CLOSED = Answer("closed without a response", ending="close")
GARBAGE = response(200, b"\x00\xff{]garbage", name="garbage")
TRUNCATED = response(200, completion()[:40], name="truncated", missing=200)
NO_HTTP = Answer("no HTTP", b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "close")


@dataclass
class FaultServer:
    """Serves on a free port of 127.0.0.1 while its ``async with`` block runs."""

    behave: Behaviour
    received: list[Received] = field(default_factory=list)
    log: Counter[str] = field(default_factory=Counter)

    async def __aenter__(self) -> Self:
        self._connections: set[asyncio.StreamWriter] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; whether the connection stays open."""
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Received(len(self.received) + 1, start.split()[1], headers, body)
        self.received.append(request)
        answer = self.behave(request)
        self.log[answer.name] += 1
        writer.write(answer.payload)
        if answer.ending == "hang":
            await reader.read()  # until the client gives up
        if answer.ending == "reset":
            # Closing with a zero linger time sends RST instead of FIN.
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            await writer.drain()
        return answer.ending == "keep"


def in_turn(*answers: Answer) -> Behaviour:
    """The answers in the order of the requests; the last one for all that follow."""
    return lambda request: answers[min(request.number, len(answers)) - 1]


def one_in_five(answer: Behaviour, faults: tuple[Answer, ...], seed: int) -> Behaviour:
    """A fault, drawn by seed, on one request in five; the given answer on the others."""
    luck = Random(seed)
    return lambda request: luck.choice(faults) if luck.random() < 0.2 else answer(request)
