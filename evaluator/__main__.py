"""Lets ``python -m evaluator`` be the ``readgate`` command."""

import sys

from evaluator.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
