# Recipes of the project; `just` itself comes with the lock (.venv/bin/just).

bin := justfile_directory() / ".venv/bin"
bench := justfile_directory() / ".venv-bench/bin"
world := "worlds/quickstart"
print_site := "import sysconfig; print(sysconfig.get_path('purelib'))"

# List the recipes.
default:
    @just --list

# Install the locked environment and the project into .venv.
setup:
    test -x {{ bin }}/python || python3 -m venv .venv
    {{ bin }}/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
    {{ bin }}/python -m pip install --quiet --no-deps --no-build-isolation -e .

# The whole job on a generated world, no key needed: world, bundles, run, verdicts, report.
eval-all:
    {{ bin }}/readgate data world --out {{ world }} --questions 110 --passages 300 --seed 7
    {{ bin }}/readgate index build --dataset hotpotqa --source {{ world }}/hotpotqa.json --corpus {{ world }}/corpus/hotpotqa_corpus.json --out bundles/world-hotpotqa
    {{ bin }}/readgate index build --dataset two_wiki --source {{ world }}/2wikimultihopqa.json --corpus {{ world }}/corpus/2wikimultihopqa_corpus.json --out bundles/world-two_wiki
    {{ bin }}/readgate index build --dataset musique --source {{ world }}/musique.jsonl --corpus {{ world }}/corpus/musique_corpus.json --out bundles/world-musique
    {{ bin }}/readgate run quickstart --out runs/quickstart
    {{ bin }}/readgate judge runs/quickstart
    {{ bin }}/readgate report runs/quickstart --format html > runs/quickstart/report.html
    {{ bin }}/readgate report runs/quickstart

# The tests, with branch coverage.
test *args:
    {{ bin }}/python -m pytest --numprocesses 2 --cov --cov-report term {{ args }}

# What CI runs: lint, types, import contracts, tests.
check:
    {{ bin }}/ruff check .
    {{ bin }}/ruff format --check .
    {{ bin }}/mypy
    {{ bin }}/lint-imports --no-logo
    {{ bin }}/python -m pytest --numprocesses 2 --cov --cov-report term

# Mend what can be mended by machine.
fix:
    {{ bin }}/ruff check --fix .
    {{ bin }}/ruff format .

# Measure speed beside other engines, as ratios: bench [--quick] [SOURCE ...]; writes bench.json.
bench *args: bench-setup
    {{ bench }}/python -m tests.bench.run {{ args }}

# Install the other engines into .venv-bench, on top of .venv, once.
bench-setup:
    cat requirements.lock requirements-bench.txt | cmp --quiet - .venv-bench/installed.txt || {{ just_executable() }} _install-bench

_install-bench:
    test -x {{ bench }}/python || {{ bin }}/python -m venv .venv-bench
    {{ bin }}/python -c "{{ print_site }}" | sed "s/.*/import site; site.addsitedir('&')/" > $({{ bench }}/python -c "{{ print_site }}")/venv.pth
    {{ bench }}/python -m pip install --quiet --no-compile -r requirements-bench.txt
    cat requirements.lock requirements-bench.txt > .venv-bench/installed.txt
