"""``python -m stratadiff``: the same command line."""

import sys

from stratadiff.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
