"""Read what .ci/run repeats, so that it stands in one place only.

``readme.py command 1`` prints the first one-line shell block of README.md, ``command 2`` the second;
``readme.py extra lint`` prints the requirements of an extra in pyproject.toml.
"""

import os
import re
import sys
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def commands() -> list[str]:
    """Return the one-line ``sh`` blocks of README.md, in order."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return re.findall(r"^```sh\n([^\n]+)\n```$", file.read(), re.MULTILINE)


def requirements(extra: str) -> list[str]:
    """Return the requirements of ``extra``."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        return list(tomllib.load(file)["project"]["optional-dependencies"][extra])


def main(arguments: list[str]) -> None:
    """Print what ``arguments`` ask for."""
    what, which = arguments
    print(commands()[int(which) - 1] if what == "command" else "\n".join(requirements(which)))


if __name__ == "__main__":
    main(sys.argv[1:])
