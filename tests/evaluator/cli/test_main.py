"""The command itself: lazy, never a traceback, exit codes as documented."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from evaluator.cli import main as main_module
from evaluator.cli.main import COMMANDS, main, printable
from evaluator.core.errors import CapReachedError, CredentialError, EmbeddingError, SettingsError

HEAVY = ("numpy", "pydantic", "aiohttp", "rich", "tantivy", "onnxruntime", "orjson", "matplotlib")


def test_help_imports_none_of_the_heavy_packages_and_no_subcommand() -> None:
    script = (
        "import sys\n"
        "from evaluator.cli.main import main\n"
        "assert main(['--help']) == 0\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))\n"
        "print(sorted(name for name in sys.modules if name.startswith('evaluator.cli.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["[]", "['evaluator.cli.main']"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed_and_has_its_own_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert f"  {name} " in capsys.readouterr().out
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: readgate {name}")


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evaluator", "nonsense"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "readgate: No such command 'nonsense'.\n"


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: readgate" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"readgate, version {version('read-gate')}\n"


def commanded(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> int:
    """The exit code of a command line whose one subcommand does the action."""

    @click.command()
    def command() -> object:
        return action()

    monkeypatch.setattr(main_module.Commands, "get_command", lambda *_: command)
    return main(["anything"])


def raising(error: BaseException) -> Callable[[], object]:
    def action() -> object:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (SettingsError("unknown setting 'sed'"), 2, "unknown setting 'sed'"),
        (CredentialError("set OPENAI_API_KEY"), 2, "set OPENAI_API_KEY"),
        (EmbeddingError("NaN"), 2, "NaN"),
        (CapReachedError("the budget\nis spent"), 3, "the budget is spent"),
        (click.UsageError("no such option"), 2, "no such option"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 2, "/x: Permission denied"),
        (OSError("odd"), 2, "the system: odd"),
        (KeyboardInterrupt(), 130, "interrupted; the same command goes on from here"),
        (asyncio.CancelledError(), 130, "interrupted; the same command goes on from here"),
        (click.Abort(), 130, "interrupted; the same command goes on from here"),
    ],
)
def test_every_foreseen_error_is_one_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    assert commanded(monkeypatch, raising(error)) == code
    assert capsys.readouterr().err == f"readgate: {sentence}\n"


def test_a_defect_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        commanded(monkeypatch, raising(ZeroDivisionError()))


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1), (4, 4)])
def test_a_command_s_own_code_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, returned: int | None, code: int
) -> None:
    assert commanded(monkeypatch, lambda: returned) == code


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    script = tmp_path / "writes.py"
    script.write_text(
        "import sys\n"
        "import click\n"
        "from evaluator.cli import main as module\n"
        "@click.command()\n"
        "def command():\n"
        "    for _ in range(100_000):\n"
        "        click.echo('x' * 100)\n"
        "module.Commands.get_command = lambda *_: command\n"
        "sys.exit(module.main(['anything']))\n"
    )
    reading, writing = os.pipe()
    with subprocess.Popen([sys.executable, script], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize(
    "hostile", ["\x00", "\x07", "\x1b[2J", "\x7f", "\x9b31m", "\u202e", "\u2066", "\ud800"]
)
def test_nothing_that_steers_a_terminal_is_printed(hostile: str) -> None:
    shown = printable(f"a{hostile}b\té漢\n")
    assert shown.startswith("a\\")
    assert shown.endswith("b\té漢\n")
    assert hostile[0] not in shown


def test_what_is_piped_is_utf_8_whatever_the_locale() -> None:
    words = [sys.executable, "-m", "evaluator", "run", "nö漢.toml"]
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = subprocess.run(
            words, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding}
        )
        assert (done.returncode, "nö漢.toml" in done.stderr.decode()) == (2, True)


def test_an_interruption_waits_until_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported = []

    def interrupted_import(name: str) -> object:
        signal.raise_signal(signal.SIGINT)
        imported.append(name)
        return SimpleNamespace(command=None)

    monkeypatch.setattr("evaluator.cli.main.importlib.import_module", interrupted_import)
    assert main(["show", "run", "id"]) == 130
    assert imported == ["evaluator.cli.show"]
    assert capsys.readouterr().err == "readgate: interrupted; the same command goes on from here\n"


def test_an_output_that_is_closed_swallows_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["--help"]) == 0
    assert capsys.readouterr().err == ""
