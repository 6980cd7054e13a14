"""Where a chain entry may lead and what an output may be called: rules about text, no file is looked at."""

from __future__ import annotations

from stratadiff.runs.names import quoted

_DEVICES = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))]
)


def name_problem(name: object) -> str:
    """Return why `name` is not one file name in an artifact folder, ``""`` when it is (verification §5)."""
    if not isinstance(name, str):
        return "it is not a string"
    if name.isalnum() and len(name) < 64 and name.isascii() and name.upper() not in _DEVICES:
        return ""
    if not name:
        return "it is empty"
    if name in (".", ".."):
        return f"{quoted(name)} names a folder, not a file"
    if "/" in name or "\\" in name:
        return "it contains a path separator"
    if "\0" in name:
        return "it contains NUL"
    if _names_drive(name):
        return "it names a Windows drive"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it contains a lone surrogate"
    for character in name:
        if character < " " or character in '<>:"|?*':
            return f"it contains {quoted(character)}, refused in a file name"
    if name.endswith((" ", ".")):
        return "it ends with a space or a dot, which Windows drops from a file name"
    device = name.partition(".")[0]
    if device.upper() in _DEVICES:
        return f"{quoted(device)} is a device name Windows reserves"
    return "it is longer than 255 bytes" if size > 255 else ""


def escape_problem(file: str) -> str:
    """Return how ``chain[].file`` leads out of the run as written, ``""`` when it does not (decision D5)."""
    if "\0" in file:
        return "it contains NUL"
    if "\\" in file:
        return "it contains a backslash"
    if file.startswith("/"):
        return "it is absolute"
    if _names_drive(file):
        return "it names a Windows drive"
    return "it climbs with '..'" if ".." in file and ".." in file.split("/") else ""


def stem_of(file: str) -> str:
    """Return the last path component without its last suffix (run-records §1)."""
    name = file.rpartition("/")[2]
    if name in ("", "."):
        name = next((part for part in file.split("/")[::-1] if part not in ("", ".")), "")
    dot = name.rfind(".")
    return name[:dot] if 0 < dot < len(name) - 1 else name


def _names_drive(text: str) -> bool:
    return text[1:2] == ":" and text[0].isascii() and text[0].isalpha()
