"""SHA-256 digests in the two written forms, their short form, and Merkle roots (run-records §§3, 11)."""

from __future__ import annotations

try:
    # What hashlib hands out; hashlib itself also loads every other digest: start-up.
    import _hashlib

    sha256 = _hashlib.openssl_sha256
except (ImportError, AttributeError):
    import hashlib

    sha256 = hashlib.sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeGuard

_HEX = "0123456789abcdef"
PREFIX = "sha256:"


def digest_bytes(data: bytes) -> str:
    """Return ``sha256:`` and 64 lower-case hex digits."""
    return PREFIX + sha256(data).hexdigest()


def is_digest(value: object) -> TypeGuard[str]:
    """Tell whether `value` is exactly ``sha256:`` and 64 lower-case hex digits."""
    # strip() takes hex digits off both ends: nothing is left only if nothing else was there.
    return (
        isinstance(value, str) and len(value) == 71 and value.startswith(PREFIX) and not value[7:].strip(_HEX)
    )


def is_bare_digest(value: object) -> TypeGuard[str]:
    """Tell whether `value` is exactly 64 lower-case hex digits."""
    return isinstance(value, str) and len(value) == 64 and not value.strip(_HEX)


def short_form(value: str | None) -> str:
    """Return what texts show of a digest: 12 characters, without the prefix (run-records §3)."""
    if not value:
        return "(none)"
    return value[7:19] if value.startswith(PREFIX) else value[:12]


def merkle_leaf(preimage: bytes) -> bytes:
    """Return the 32 bytes of a leaf."""
    return sha256(b"\x00" + preimage).digest()


def merkle_node(left: bytes, right: bytes) -> bytes:
    """Return the 32 bytes of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def merkle_root(leaves: Iterable[bytes]) -> str:
    """Return the root over leaves in order, 64 bare hex; an odd leaf moves up unchanged."""
    level = list(leaves)
    if not level:
        return merkle_leaf(b"").hex()
    while len(level) > 1:
        above = [merkle_node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            above.append(level[-1])
        level = above
    return level[0].hex()


def proof_root(preimage: bytes, proof: Sequence[object]) -> str | None:
    """Return the root an inclusion proof leads to, None when a step is malformed (run-records §11)."""
    node = merkle_leaf(preimage)
    for step in proof:
        if not isinstance(step, dict):
            return None
        if step.get("promoted") in (True, "true") and "sibling" not in step:
            continue
        sibling = step.get("sibling")
        if not is_bare_digest(sibling) or step.get("side") not in ("left", "right"):
            return None
        other = bytes.fromhex(sibling)
        node = merkle_node(other, node) if step["side"] == "left" else merkle_node(node, other)
    return node.hex()
