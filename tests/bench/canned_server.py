"""A provider of zero latency, in a process of its own: search, search, read, final, then silence.

It looks at nothing but the number of replies in the conversation, so that all the time of a run is
the client's.
"""

import asyncio
import multiprocessing
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import orjson
from aiohttp import web

REPLIES_PER_EPISODE = 4


def reply_to(request: dict[str, object]) -> dict[str, object]:
    """The canned tool call that comes next in a conversation."""
    messages = request["messages"]
    assert isinstance(messages, list)
    said = [message for message in messages if message["role"] == "assistant"]
    question = messages[1]["content"]
    match len(said):
        case 0:
            call = ("search", {"query": question})
        case 1:
            call = ("search", {"query": f"{question} again"})
        case 2:
            call = ("read", {"chunk_id": orjson.loads(messages[-1]["content"])[0]["chunk_id"]})
        case _:
            call = ("final", {"answer": "an answer"})
    return {
        "id": "canned",
        "model": request["model"],
        "choices": [
            {"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [_tool(*call)]}}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 20},
    }


def _tool(name: str, arguments: dict[str, str]) -> dict[str, object]:
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    return {"id": "call_0", "type": "function", "function": function}


async def _answer(request: web.Request) -> web.Response:
    body = orjson.dumps(reply_to(orjson.loads(await request.read())))
    return web.Response(body=body, content_type="application/json")


def _serve(listening: socket.socket) -> None:
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", _answer)

    async def forever() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.SockSite(runner, listening, backlog=1024).start()
        await asyncio.Event().wait()

    asyncio.run(forever())


@contextmanager
def canned_server() -> Iterator[str]:
    """Serve on a free loopback port; yields the base URL."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(listening,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        process.terminate()
        process.join()
        listening.close()
