"""The house rules of the project, held by tests: sizes, names, mirrors, fences, silence."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("evaluator", "index_builder", "judges", "reports")
CROSS_CUTTING = {"contract", "golden", "live", "bench"}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
UNFENCED = {"numpy", "orjson", "pydantic"}
OUTPUT_CALLS = {"print", "input", "breakpoint"}
ENVIRONMENT_NAMES = {"environ", "getenv", "putenv"}

SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node, node.module


def _contracts() -> list[dict[str, list[str]]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, list[str]]] = settings["tool"]["importlinter"]["contracts"]
    return contracts


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=_name)
def test_a_file_has_at_most_400_lines_and_a_function_at_most_50(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    long = [f.name for f in _functions(_tree(path)) if (f.end_lineno or f.lineno) - f.lineno + 1 > 50]
    assert long == []


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_a_module_is_no_dust(path: Path) -> None:
    if path.name.startswith("__") or path.stem == "ports":
        return
    assert len(path.read_text(encoding="utf-8").splitlines()) >= 40


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=_name)
def test_a_module_says_what_it_is_for_in_its_first_sentence(path: Path) -> None:
    docstring = ast.get_docstring(_tree(path)) or ""
    assert re.match(r".{10,}?[.:;]", docstring.replace("\n", " ")), "the docstring's first sentence"


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part for path in SOURCES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert parts & FORBIDDEN_NAMES == set()


def test_each_test_file_mirrors_a_module() -> None:
    homeless = []
    for path in TESTS:
        parts = path.relative_to(ROOT / "tests").parts
        if not path.name.startswith("test_") or parts[0] in CROSS_CUTTING or path == Path(__file__):
            continue
        module = ROOT.joinpath(*parts[:-1], path.name.removeprefix("test_"))
        package = ROOT.joinpath(*parts[:-1], path.stem.removeprefix("test_"), "__init__.py")
        if not module.is_file() and not package.is_file():
            homeless.append(_name(path))
    assert homeless == []


def test_every_package_stands_in_a_layer() -> None:
    layers = {
        name.strip()
        for contract in _contracts()
        for layer in contract.get("layers", [])
        for name in layer.split("|")
    }
    packages = {
        ".".join(path.parent.relative_to(ROOT).parts) for path in SOURCES if path.name == "__init__.py"
    } - {"evaluator"}
    outside = {
        package
        for package in packages
        if not any(package == layer or package.startswith(layer + ".") for layer in layers)
    }
    assert outside == set()


def test_every_third_party_import_is_fenced() -> None:
    fenced = {name for contract in _contracts() for name in contract.get("protected_modules", [])}
    ours = set(PACKAGES) | set(sys.stdlib_module_names)
    imported = {name.partition(".")[0] for path in SOURCES for _, name in _imports(_tree(path))}
    assert imported - ours - UNFENCED - fenced == set()


def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_imports_stand_at_the_top_of_a_module(path: Path) -> None:
    if path == ROOT / "evaluator" / "cli" / "main.py":
        return
    inner = {name for f in _functions(_tree(path)) for _, name in _imports(f)}
    assert inner == set()


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_only_the_command_line_prints_or_reads_the_environment(path: Path) -> None:
    if ROOT / "evaluator" / "cli" in path.parents:
        return
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in OUTPUT_CALLS
        if isinstance(node, ast.Attribute):
            assert node.attr not in ENVIRONMENT_NAMES
            assert not (isinstance(node.value, ast.Name) and (node.value.id, node.attr) == ("sys", "stdout"))


def test_the_lock_pins_with_hashes_and_names_no_registry() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert re.findall(r"https?:|--(?:extra-)?index-url|--find-links", lock) == []
    pinned = re.split(r"\n(?=\S)", lock.strip())
    assert [block for block in pinned if "==" not in block or "--hash=sha256:" not in block] == []


def test_the_lock_holds_every_declared_dependency() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = settings["project"]["dependencies"] + settings["dependency-groups"]["dev"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    names = [re.match(r"[\w.-]+", each) for each in declared]
    assert [name[0] for name in names if name and f"\n{name[0]}==" not in f"\n{lock}"] == []


def test_ci_runs_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first, second = re.findall(r"^```\n(.+?)\n```$", readme, re.MULTILINE | re.DOTALL)[:2]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert first.endswith("just eval-all")
    assert second.endswith("just check")
    assert [part for part in [*first.split(" && ")[:-1], second] if part not in ci] == []
