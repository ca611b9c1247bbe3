"""The ``readgate`` command: finds the subcommand, and turns every end into a sentence and an exit code.

Subcommands live in modules of their own and are imported only when they are called, so that ``--help``
answers at once. Each module offers one ``command``.
"""

import asyncio
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import click

from evaluator.core.errors import CapReachedError, ReadGateError

DONE = 0
CHECK_FAILED = 1
BAD_INPUT = 2
CAPPED = 3
INCOMPLETE = 4
INTERRUPTED = 130

INTERRUPTIONS = (KeyboardInterrupt, asyncio.CancelledError, click.Abort)

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "data": "Make datasets.",
        "index": "Build, check and search bundles.",
        "run": "Run an experiment, or go on with it.",
        "judge": "Judge the answers of a run.",
        "report": "Print the figures of a run.",
        "show": "Print one trajectory to read.",
    }
)
"""Each subcommand, in the order of the work, with its one-line help."""


class Commands(click.Group):
    """A group whose members are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the work."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        # A Ctrl-C inside a C extension's import comes out as ImportError: let it wait until that is over.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            command: click.Command = importlib.import_module(f"evaluator.cli.{cmd_name}").command
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="read-gate", prog_name="readgate")
def readgate() -> None:
    """Evaluate search/read/final agents in paired experiments.

    Exit codes: 0 done, 1 a check failed, 2 wrong use or bad input, 3 stopped by the cap (resumable),
    4 done with failed episodes or unjudged answers (resumable), 130 interrupted (resumable).
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no foreseen error shows a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _take_any_text()
    try:
        with readgate.make_context("readgate", words) as context:
            code: int | None = readgate.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read our output has had enough; Python must not fail on flushing the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (click.ClickException, ReadGateError, OSError, *INTERRUPTIONS) as error:
        sentence, code = _ending(error)
        click.echo(f"readgate: {printable(' '.join(sentence.split()))}", err=True)
    return code or DONE


def printable(text: str) -> str:
    """The text with what could steer a terminal (models and servers write it) shown as escapes."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _take_any_text() -> None:
    """Files and pipes are written in UTF-8; a terminal shows escapes for what its encoding lacks.

    An output that was closed before we began swallows what it is given.
    """
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BytesIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _ending(error: BaseException) -> tuple[str, int]:
    """What to say of an error, and the exit code it means."""
    match error:
        case CapReachedError():
            return str(error), CAPPED
        case ReadGateError():
            return str(error), BAD_INPUT
        case click.ClickException():
            return error.format_message(), BAD_INPUT
        case OSError():
            return f"{error.filename or 'the system'}: {error.strerror or error}", BAD_INPUT
        case _:
            return "interrupted; the same command goes on from here", INTERRUPTED
