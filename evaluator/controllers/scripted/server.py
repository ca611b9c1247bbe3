"""Serves the scripted programs over real HTTP on loopback, in a process of its own.

It speaks enough of OpenAI's Chat Completions for any client: ``POST /v1/chat/completions`` and
``GET /v1/models``. All it knows of a call are the bytes of that one request. The process dies with
the one that started it, even when that is killed: it holds one end of a pipe and leaves when the
other end is closed, which the kernel does for the dead.
"""

import asyncio
import multiprocessing
import signal
import socket
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from aiohttp import web

from evaluator.controllers.scripted.completions import complete, model_list
from evaluator.core.errors import InputError

HOST = "127.0.0.1"
BACKLOG = 1024
LARGEST_REQUEST = 64 * 2**20
SECONDS_TO_LEAVE = 5.0


class ScriptedServer:
    """The server process, as its parent holds it: ``with ScriptedServer() as server: server.base_url``.

    Attributes:
        base_url: What a client is given, ``http://127.0.0.1:PORT/v1``; "" until started.
        pid: The server's process id; None until started and once stopped.
    """

    def __init__(self, port: int = 0) -> None:
        """Choose the port; 0 takes any free one."""
        self._port = port
        self._process: multiprocessing.process.BaseProcess | None = None
        self._lifeline: Connection | None = None
        self.base_url = ""

    @property
    def pid(self) -> int | None:
        """The server's process id, while it runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> str:
        """Start serving and return ``base_url``; calls made from now on wait until they are answered.

        Raises:
            InputError: When the port is in use or may not be bound.
        """
        spawn = multiprocessing.get_context("spawn")
        theirs, ours = spawn.Pipe(duplex=False)
        with listening_socket(self._port) as sock, theirs:
            process = spawn.Process(target=serve, args=(sock, theirs), name="scripted-server", daemon=True)
            process.start()
            self.base_url = f"http://{HOST}:{sock.getsockname()[1]}/v1"
        self._process, self._lifeline = process, ours
        return self.base_url

    def stop(self) -> None:
        """End the server process; nothing happens when there is none."""
        process, lifeline = self._process, self._lifeline
        self._process = self._lifeline = None
        if process is None or lifeline is None:
            return
        lifeline.close()
        process.join(SECONDS_TO_LEAVE)
        process.kill()
        process.join()
        process.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def listening_socket(port: int) -> socket.socket:
    """A socket that listens on loopback at the port, or at a free one for 0.

    Raises:
        InputError: When the port is in use or may not be bound.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((HOST, port))
        sock.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        raise InputError(f"port {port} on {HOST} cannot be used for the scripted server: {error}") from error
    return sock


def serve(sock: socket.socket, parent_alive: Connection) -> None:
    """Serve on the socket until the other end of ``parent_alive`` is closed; runs in the child.

    Ctrl-C in a terminal reaches the whole process group: the parent decides what it means and still
    needs answers for the calls in flight, so this process does not listen to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve_while(sock, parent_alive))


async def _serve_while(sock: socket.socket, parent_alive: Connection) -> None:
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(parent_alive.fileno(), closed.set)
    runner = web.AppRunner(application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, sock, backlog=BACKLOG).start()
    await closed.wait()
    loop.remove_reader(parent_alive.fileno())
    await runner.cleanup()


def application() -> web.Application:
    """The routes, free of sockets and processes."""
    app = web.Application(client_max_size=LARGEST_REQUEST)
    app.router.add_post("/v1/chat/completions", _chat_completions)
    app.router.add_get("/v1/models", _models)
    return app


async def _chat_completions(request: web.Request) -> web.Response:
    status, body = complete(await request.read())
    return web.Response(status=status, body=body, content_type="application/json")


async def _models(_request: web.Request) -> web.Response:
    return web.Response(body=model_list(), content_type="application/json")
