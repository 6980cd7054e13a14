"""Written forms of digests, and Merkle roots with the format's worked example."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratadiff.core.digests import (
    digest_bytes,
    is_bare_digest,
    is_digest,
    merkle_leaf,
    merkle_node,
    merkle_root,
    proof_root,
    short_form,
)

HEX = "0123456789abcdef" * 4


def test_the_digest_of_the_empty_configuration() -> None:
    assert digest_bytes(b"{}") == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_well_formed_digests() -> None:
    assert is_digest("sha256:" + HEX)
    assert is_bare_digest(HEX)


@pytest.mark.parametrize(
    "value",
    [None, True, 5, [], {}, b"", "", HEX[:-1], HEX + "0", HEX.upper(), HEX[:-1] + "g", HEX[:-1] + "\n",
     HEX[:30] + "g" + HEX[31:], "\u0660" + HEX[1:], "Sha256:" + HEX, "sha256:" + HEX[:-1] + " "],
)  # fmt: skip
def test_malformed_digests(value: object) -> None:
    assert not is_digest(value)
    assert not is_bare_digest(value)
    if isinstance(value, str):
        assert not is_digest("sha256:" + value)


def test_short_forms() -> None:
    assert short_form("sha256:" + HEX) == HEX[:12]
    assert short_form(HEX) == HEX[:12]
    assert short_form("x") == "x"
    assert short_form("") == short_form(None) == "(none)"


DOCUMENTS = ("a/one.txt", "b/two.txt", "c/three.txt")
LEAVES = [
    merkle_leaf(name.encode() + b"\0sha256:" + str(i).encode() * 64) for i, name in enumerate(DOCUMENTS, 1)
]


def test_the_worked_example() -> None:
    assert [leaf.hex() for leaf in LEAVES] == [
        "a9bc10bc565dab218384afea6305adb7ba8a7813011be47a829c38a8cc6be871",
        "2eea6b39d9ada4af8a6b223156f13d53d619b7da34562891b3c2d878b45cfcee",
        "5ca5cc9735c293c5d040e5db5a745d18d4ea155684f0f221a246040ce5a3fed8",
    ]
    pair = "fc21e7e9732a9f4550eae4483b60481e8589db289564f6ec9608e9e6091bf2eb"
    assert merkle_root(LEAVES[:2]) == merkle_node(*LEAVES[:2]).hex() == pair
    assert merkle_root(LEAVES) == "17414e9e9960bd8b479406b5bd8206c0c64e8658438ecd7dbd9f53768addcdf2"
    assert merkle_root([]) == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=4), min_size=1, max_size=40), st.data())
def test_a_proof_made_from_the_levels_leads_to_the_root(preimages: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(preimages) - 1))
    preimage = preimages[place]
    level = [hashlib.sha256(b"\0" + item).digest() for item in preimages]
    root = merkle_root(level)
    proof: list[object] = []
    while len(level) > 1:
        other = place ^ 1
        if other < len(level):
            side = "left" if other < place else "right"
            proof.append({"sibling": level[other].hex(), "side": side})
        else:
            proof.append({"promoted": True})
        level = [
            hashlib.sha256(b"\1" + level[i] + level[i + 1]).digest() if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
        place //= 2
    assert proof_root(preimage, proof) == root
    assert proof_root(preimage + b"x", proof) != root


@pytest.mark.parametrize(
    "step", [None, [], {}, {"sibling": HEX}, {"sibling": HEX, "side": "up"}, {"sibling": "x", "side": "left"}]
)
def test_malformed_steps(step: object) -> None:
    assert proof_root(b"x", [step]) is None
