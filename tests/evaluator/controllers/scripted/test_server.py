"""Tests of the server process over real HTTP on loopback."""

import asyncio
import errno
import http.client
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import aiohttp
import orjson
import pytest

from evaluator.controllers.scripted.server import ScriptedServer, listening_socket
from evaluator.core.errors import InputError

PATIENCE = 60.0

REQUEST = orjson.dumps(
    {
        "model": "hasty",
        "seed": 3,
        "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Who wrote it?"}],
        "tools": [{"type": "function", "function": {"name": "search", "parameters": {}}}],
    }
)

PARENT = """
import sys
from evaluator.controllers.scripted.server import ScriptedServer
with ScriptedServer() as server:
    sys.stdout.write(server.base_url + "\\n")
    sys.stdout.flush()
    sys.stdin.read()
"""


def _exchange(base_url: str, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        connection.request(method, parts.path + path, body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _refuses(base_url: str) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", urlsplit(base_url).port)) == errno.ECONNREFUSED


def test_equal_requests_get_equal_bytes_and_a_wrong_one_an_error_in_openai_form() -> None:
    with ScriptedServer() as server:
        first = _exchange(server.base_url, "POST", "/chat/completions", REQUEST)
        again = _exchange(server.base_url, "POST", "/chat/completions", REQUEST)
        garbage = _exchange(server.base_url, "POST", "/chat/completions", b"{")
        listed = _exchange(server.base_url, "GET", "/models")
    assert first == again
    assert first[0] == 200
    assert orjson.loads(first[1])["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "search"
    assert (garbage[0], orjson.loads(garbage[1])["error"]["type"]) == (400, "invalid_request_error")
    assert {model["id"] for model in orjson.loads(listed[1])["data"]} == {
        "hasty",
        "diligent",
        "stubborn",
        "judge",
    }


def test_hundreds_of_calls_at_once_are_all_answered() -> None:
    async def ask_all(base_url: str) -> list[int]:
        async with aiohttp.ClientSession() as session:

            async def ask() -> int:
                async with session.post(f"{base_url}/chat/completions", data=REQUEST) as response:
                    await response.read()
                    return response.status

            return await asyncio.gather(*(ask() for _ in range(300)))

    with ScriptedServer() as server:
        assert asyncio.run(ask_all(server.base_url)) == [200] * 300


def test_a_port_in_use_is_one_clear_sentence() -> None:
    with listening_socket(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"^port {port} on 127\.0\.0\.1 cannot be used"):
            ScriptedServer(port).start()


def test_a_port_that_cannot_be_is_one_clear_sentence() -> None:
    with pytest.raises(InputError, match="port 70000"):
        ScriptedServer(70000).start()


def test_a_given_port_is_used_and_free_again_after_stop() -> None:
    with listening_socket(0) as free:
        port = free.getsockname()[1]
    for _ in range(2):
        with ScriptedServer(port) as server:
            assert server.base_url == f"http://127.0.0.1:{port}/v1"
            assert _exchange(server.base_url, "GET", "/models")[0] == 200


def test_stopping_ends_the_process_and_stopping_again_does_nothing() -> None:
    server = ScriptedServer()
    server.stop()
    server.start()
    pids = [server.pid]
    assert _exchange(server.base_url, "GET", "/models")[0] == 200
    server.stop()
    server.stop()
    pids.append(server.pid)
    assert [pid is None for pid in pids] == [False, True]
    assert _refuses(server.base_url)


def test_the_server_dies_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        base_url = parent.stdout.readline().strip()
        assert _exchange(base_url, "GET", "/models")[0] == 200
        parent.send_signal(signal.SIGKILL)
        # The server inherits the parent's standard output: its end is reached when both are gone.
        parent.communicate(timeout=PATIENCE)
    assert parent.returncode == -signal.SIGKILL
    assert _refuses(base_url)
