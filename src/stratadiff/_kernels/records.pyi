"""Records that are Python dictionaries: which of them are turns, and what stands in the turns."""

from array import array
from typing import Any, Final

METADATA: Final = 0
CHAT_REQUEST: Final = 1
CHAT_RESPONSE: Final = 2
TOOL_CALL: Final = 3
OTHER: Final = 10

# Kinds; payloads of responses; per response the payload of its request; first record that names the trace.
# ValueError(index) for a record that is no dictionary.
def split(records: list[Any], /) -> tuple[bytes, list[dict[str, Any]], list[dict[str, Any] | None], int]: ...

# Text of each turn; of each call its turn, the tool's name, and its id if ids are wanted.
def contents(
    responses: list[dict[str, Any]], with_ids: bool, /
) -> tuple[list[str], array[int], list[str], list[str] | None]: ...
