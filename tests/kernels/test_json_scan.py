"""Strict JSON in one pass: the pretty form (textdiff 6), canonical or not (run-records 2), depth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference import jsonform
from stratadiff._kernels import json_scan
from strategies import (
    JSON_PIECES,
    JSON_STRINGS,
    bad_byte_buffers,
    byte_buffers,
    damaged,
    in_four_threads,
    json_texts,
)

FINE, NOT_UTF8, NOT_JSON, TOO_DEEP, DUPLICATE, BYTE_ORDER_MARK = range(6)
STATUS = {
    jsonform.NOT_UTF8: NOT_UTF8,
    jsonform.NOT_JSON: NOT_JSON,
    jsonform.TOO_DEEP: TOO_DEEP,
    jsonform.DUPLICATE: DUPLICATE,
    jsonform.BYTE_ORDER_MARK: BYTE_ORDER_MARK,
}

texts = json_texts().map(str.encode)
without_numbers = json_texts(scalars=(*JSON_STRINGS, "true", "false", "null"))


def expected(data: bytes, max_depth: int = 512) -> tuple[int, bytes | None]:
    try:
        return FINE, jsonform.pretty(jsonform.parse(data, max_depth)).encode("utf-8", "surrogatepass")
    except jsonform.JsonError as error:
        return STATUS[error.fault], None


def scanned(data: Any, *options: int) -> tuple[int, bytes | None]:
    status, offset, text = json_scan.pretty(data, *options)
    assert isinstance(offset, int)
    assert (status == FINE) == (text is not None)
    assert 0 <= offset <= len(data)
    return status, text


def canonical_bytes(value: Any) -> bytes:
    return jsonform.dump(value).encode("utf-8", "surrogatepass")


@given(texts)
def test_pretty_form_is_the_references(data: bytes) -> None:
    assert scanned(data) == expected(data)


@given(damaged(texts, JSON_PIECES))
def test_damaged_text_is_refused_as_the_reference_does(data: bytes) -> None:
    status, text = expected(data)
    found_status, found_text = scanned(data)
    assert found_text == text
    if status in (FINE, BYTE_ORDER_MARK):
        assert found_status == status
    elif b"\xff" not in data and status != NOT_UTF8:
        # Of two faults in one text, either may be found first; a repeated member is not seen in bad grammar.
        assert found_status in (status, NOT_JSON)
    else:
        assert found_status != FINE


@given(st.binary(max_size=12))
def test_any_bytes(data: bytes) -> None:
    assert scanned(data)[1] == expected(data)[1]


@given(st.binary(max_size=16))
def test_any_bytes_in_a_string(content: bytes) -> None:
    data = b'["' + content + b'"]'
    assert scanned(data)[1] == expected(data)[1]


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=8))
def test_any_characters_in_a_string(content: str) -> None:
    spelt = json.dumps([content])
    raw = json.dumps([content], ensure_ascii=False).encode("utf-8", "surrogatepass")
    for data in (spelt.encode(), raw):
        assert scanned(data) == expected(data)


@given(st.text(alphabet='0123456789-+.eE_ "', max_size=9))
def test_numbers_are_kept_as_written(spelling: str) -> None:
    for data in (spelling.encode(), f'{{"n":{spelling}}}'.encode()):
        assert scanned(data) == expected(data)


@given(st.binary(max_size=30))
def test_keys_are_sorted_by_code_point(raw: bytes) -> None:
    spelt = "".join("ab|\ufb33|😀|\uffff\U00010000é\x7f|\x00"[byte % 13] for byte in raw)
    keys = sorted(set(spelt.split("|")))
    data = json.dumps(dict.fromkeys(sorted(keys, key=spelt.index), True)).encode()
    text = scanned(data)[1]
    assert text is not None
    assert list(json.loads(text)) == keys
    assert scanned(data) == expected(data)


@given(texts)
def test_pretty_form_of_the_pretty_form(data: bytes) -> None:
    """A second pass changes nothing, wherever the form is UTF-8."""
    text = scanned(data)[1]
    if text is not None and b"\xed\xa0" not in text and b"\xed\xb8" not in text:
        assert scanned(text) == (FINE, text)


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", "[{}]", '{"a":[]}', "[[],[]]", " \t\r\n[ ] \t\r\n", '{ "a" : 1 , "b" : [ 1 , 2 ] }',
        '""', "0", "-0", "true", "null", "1e5", "1E+05", "0.0", "-1.5e-9", '"\\/"', '"\x7f\u2028"',
        '"\\u0041"',
    ],
)  # fmt: skip
def test_plain_examples(text: str) -> None:
    assert scanned(text.encode()) == expected(text.encode())
    assert scanned(text.encode())[0] == FINE


def test_layout_of_the_pretty_form() -> None:
    data = b'{"b":[1,{"x":[]}],"a":{"c":null,"B":"\\u002f\\t\\u001F"}}'
    assert scanned(data)[1] == (
        b'{\n  "a": {\n    "B": "/\\t\\u001f",\n    "c": null\n  },\n  "b": [\n    1,\n    {\n      "x": []\n'
        b"    }\n  ]\n}\n"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"", b" ", b"\n", b"[", b"]", b"{", b"}", b"[1", b"[1,", b"[1,]", b"[,1]", b"[1 2]", b"[1]]",
        b"[1]x", b"[1] []", b"{1:2}", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{,"a":1}', b'{"a" 1}',
        b'{"a":1 "b":2}', b'{"a":1]', b"[1}", b"01", b"-", b"+1", b"1.", b".5", b"1e", b"1e+", b"--1",
        b"0x1", b"1_0", b"00", b"-01", b"1.e1", b"1 .5", b"NaN", b"Infinity", b"-Infinity", b"[NaN]",
        b"nul", b"nulll", b"True", b"TRUE", b"tru", b"falsey", b'"', b'"a', b'"\\"', b'"\\x41"', b'"\\u12"',
        b'"\\u12G4"', b'"\\ud83d\\u"', b'"\t"', b'"\n"', b'"\x00"', b'"\x1f"', b"'a'", b"a", b"//\n1",
        b"/**/1", b"1//", b"\x0b1", b"\x0c1", b"\xc2\xa01", b"1\x00", b"\x001", b"[1\x00]", b'"\\',
        b'{"a":"b"', b'["\\u', b"\\u0031", b"[\\n]", b"undefined", b"[1;2]", b"{}{}", b"1,", b":", b",",
    ],
)  # fmt: skip
def test_bad_grammar(data: bytes) -> None:
    assert expected(data) == (NOT_JSON, None)
    assert scanned(data) == (NOT_JSON, None)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff", 0),
        (b'"\xff"', 1),
        (b'["a", "b\x80"]', 8),
        (b'"\xc0\xaf"', 1),
        (b'"\xe0\x80\xaf"', 1),
        (b'"\xed\xa0\x80"', 1),
        (b'"\xed\xbf\xbf"', 1),
        (b'"\xf4\x90\x80\x80"', 1),
        (b'"\xf5\x80\x80\x80"', 1),
        (b'"\xe2\x82"', 1),
        (b'"\xf0\x9f\x98"', 1),
        (b'"\xf0\x9f\x98', 1),
        (b'{"\xc3":1}', 2),
        (b"[1]\xff", 3),
    ],
)
def test_u14_not_utf8(data: bytes, place: int) -> None:
    assert expected(data) == (NOT_UTF8, None)
    status, offset, text = json_scan.pretty(data)
    assert text is None
    if data.count(b'"') == 1 or data in (b"\xff", b"[1]\xff"):
        # Outside a string, or in one that is not closed, it is bad grammar as well.
        assert status in (NOT_UTF8, NOT_JSON)
    else:
        assert status == NOT_UTF8
        # The sequence begins at `place`; the byte that breaks it is within it or right after.
        assert place <= offset <= place + 3
    assert not json_scan.is_canonical(data)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf{}", b"\xef\xbb\xbf", b"\xef\xbb\xbf[1", b"\xef\xbb\xbf\xff"])
def test_u17_byte_order_mark(data: bytes) -> None:
    assert json_scan.pretty(data) == (BYTE_ORDER_MARK, 0, None)
    assert not json_scan.is_canonical(data)


def test_u17_a_mark_inside_is_a_character() -> None:
    assert scanned(b'"\xef\xbb\xbf"') == (FINE, b'"\xef\xbb\xbf"\n')
    assert scanned(b" \xef\xbb\xbf1") == (NOT_JSON, None)


@pytest.mark.parametrize(
    ("data", "key", "repeat"),
    [
        (b'{"total":2,"total":3}', b'"total"', 11),
        (b'{"total":2,"tot\\u0061l":3}', b'"tot\\u0061l"', 11),
        (b'{"tot\\u0061l":2,"total":3}', b'"total"', 16),
        (b'{"\\u00e9":2,"\xc3\xa9":3}', b'"\xc3\xa9"', 12),
        (b'{"\\ud83d\\ude00":2,"\xf0\x9f\x98\x80":3}', b'"\xf0\x9f\x98\x80"', 18),
        (b'{"\\ud800":2,"\\uD800":3}', b'"\\uD800"', 12),
        (b'{"\\/":2,"/":3}', b'"/"', 8),
        (b'{"":2,"":3}', b'""', 6),
        (b'{"a":1,"b":2,"c":3,"a":4}', b'"a"', 19),
        (b'{"error":{"x":1,"x":1}}', b'"x"', 16),
        (b'[[{"x":1}],{"x":1,"y":{},"x":2}]', b'"x"', 25),
        (b'{"x":{"x":1},"x":2}', b'"x"', 13),
    ],
)
def test_u12_duplicate_member(data: bytes, key: bytes, repeat: int) -> None:
    assert data[repeat:].startswith(key)
    status, offset, text = json_scan.pretty(data)
    assert (status, text) == (DUPLICATE, None)
    assert repeat <= offset <= repeat + len(key)
    assert not json_scan.is_canonical(data.replace(b"1", b'""').replace(b"2", b'""').replace(b"3", b'""'))


def test_u12_the_same_key_in_different_objects() -> None:
    data = b'[{"x":{"x":1}},{"x":2},{"X":3,"x":4,"x ":5}]'
    assert scanned(data) == expected(data)
    assert scanned(data)[0] == FINE


def test_u12_a_repeat_among_many_members() -> None:
    members = [f'"key {number}":{number}' for number in range(5000)]
    data = ("{" + ",".join(members) + "}").encode()
    assert scanned(data) == expected(data)
    data = ("{" + ",".join([*members, '"key 4\\u0032":0']) + "}").encode()
    assert scanned(data) == (DUPLICATE, None)


def test_u14_lone_surrogates_are_kept() -> None:
    assert scanned(b'{"k":"\\ud800"}') == (FINE, b'{\n  "k": "\xed\xa0\x80"\n}\n')
    assert scanned(b'["\\ude00\\ud83d"]') == (FINE, b'[\n  "\xed\xb8\x80\xed\xa0\xbd"\n]\n')
    assert scanned(b'"\\ud83d\\ud83d\\ude00\\ude00"') == (
        FINE,
        b'"\xed\xa0\xbd\xf0\x9f\x98\x80\xed\xb8\x80"\n',
    )
    assert scanned(b'"\\ud83dx\\ude00"') == (FINE, b'"\xed\xa0\xbdx\xed\xb8\x80"\n')
    assert scanned(b'"\\ud83d\\\\ude00"') == (FINE, b'"\xed\xa0\xbd\\\\ude00"\n')
    assert scanned(b'"\\uDBFF\\uDFFF\\ud7ff\\ue000"') == (FINE, '"\U0010ffff\ud7ff\ue000"\n'.encode())


@pytest.mark.parametrize(
    "data",
    [
        b'{"k":"\\ud800"}',
        b'{"k":"\\ude00\\ud83d"}',
        b'{"k":"\\ud83d\\ude00"}',
        b'{"k":"\xed\xa0\x80"}',
        b'{"k":"\xff"}',
        b'{"\\u006b":""}',
    ],
)
def test_u14_no_escape_of_a_character_is_canonical(data: bytes) -> None:
    assert not json_scan.is_canonical(data)


def test_u14_key_order_is_by_code_point() -> None:
    # UTF-16 units would put U+1F600 (d83d de00) before U+FB33.
    assert json_scan.is_canonical('{"\ufb33":"","😀":""}'.encode())
    assert not json_scan.is_canonical('{"😀":"","\ufb33":""}'.encode())
    pretty = b'{\n  "\xef\xac\xb3": 1,\n  "\xf0\x9f\x98\x80": 2\n}\n'
    assert scanned(b'{"\\ud83d\\ude00":2,"\\ufb33":1}') == (FINE, pretty)
    # A lone surrogate is a code point below U+E000 and above U+D7FF.
    text = scanned(b'{"\\ue000":1,"\\ud800":2,"\\ud7ff":3}')[1]
    assert text == b'{\n  "\xed\x9f\xbf": 3,\n  "\xed\xa0\x80": 2,\n  "\xee\x80\x80": 1\n}\n'


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_u15_depth_limit(opening: bytes) -> None:
    closing = opening.replace(b'"a":', b"")[::-1].translate(bytes.maketrans(b"[{", b"]}"))
    per = len(closing)
    for depth in (1, 2, 16, 126, 128, 510, 512, 514, 600):
        data = opening * (depth // per) + b"1" + closing * (depth // per)
        depth = depth // per * per
        assert json_scan.depth(data) == depth
        for max_depth in (max(1, depth - 1), max(1, depth), 512):
            assert scanned(data, max_depth) == expected(data, max_depth)
            assert (scanned(data, max_depth)[0] == TOO_DEEP) == (depth > max_depth)


def test_u15_default_limit_is_512() -> None:
    assert scanned(b"[" * 512 + b"]" * 512)[0] == FINE
    assert json_scan.pretty(b"[" * 513 + b"]" * 513) == (TOO_DEEP, 512, None)
    assert json_scan.is_canonical(b'{"":' + b"[" * 511 + b"]" * 511 + b"}")
    assert not json_scan.is_canonical(b'{"":' + b"[" * 512 + b"]" * 512 + b"}")


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_u15_two_hundred_thousand_brackets(opening: bytes) -> None:
    data = opening * 200_000
    assert scanned(data) == (TOO_DEEP, None)
    assert not json_scan.is_canonical(data)
    assert json_scan.depth(data) == 200_000 * sum(opening.count(bracket) for bracket in (b"[", b"{"))


@given(texts)
def test_depth_is_the_references(data: bytes) -> None:
    assert json_scan.depth(data) == jsonform.depth(data)


def test_depth_ignores_brackets_in_strings() -> None:
    assert json_scan.depth(b"") == 0
    assert json_scan.depth(b'"[[[["') == 0
    assert json_scan.depth(b'["[","]","\\"[","\\\\",["{"]]') == 2
    assert json_scan.depth(b'["\\\\"[["') == 3
    assert json_scan.depth(b'[[]{}{"}":[{}]}') == 4
    assert json_scan.depth(b'"[\\"[') == 0


@given(without_numbers)
def test_canonical_bytes_are_canonical(text: str) -> None:
    try:
        value = {"": jsonform.parse(text.encode())}
    except jsonform.JsonError:
        value = {"": text}
    data = canonical_bytes(value)
    assert json_scan.is_canonical(data) == jsonform.is_canonical(data)
    for other in (data + b"\n", b" " + data, data[:-1], data[1:], data + b"}", text.encode()):
        assert json_scan.is_canonical(other) == jsonform.is_canonical(other)


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=6), max_size=3))
def test_what_a_canonical_writer_writes(value: dict[str, Any]) -> None:
    data = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    assert json_scan.is_canonical(data)
    assert scanned(data) == expected(data)


CANONICAL_PIECES = (
    *JSON_PIECES,
    b"\\n",
    b"\\u000a",
    b"\\u001f",
    b"\\u001F",
    b"\\/",
    b"\\u007f",
    b"\x7f",
    b'"",',
    b"{}",
    b"[]",
)


@given(damaged(without_numbers.map(lambda text: b'{"a":' + text.strip().encode() + b"}"), CANONICAL_PIECES))
@example(b'{"a":"\\u001F"}')
@example(b'{"a":"\\u000a"}')
def test_damaged_canonical_bytes(data: bytes) -> None:
    assert json_scan.is_canonical(data) == jsonform.is_canonical(data)


@pytest.mark.parametrize(
    "data",
    [
        b"{}", b'{"a":"b"}', b'{"a":[],"b":{},"c":null,"d":true,"e":false}', b'{"a":["x",["y",{"z":""}]]}',
        b'{"a":"\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\\u000b"}', '{"a":"\x7f\u2028/😀é"}'.encode(),
        b'{"A":"","a":"","aa":"","b":""}', '{"\ue000":"","\U00010000":""}'.encode(), b'{"":"","a":""}',
        b'{"\\n":"","\\u001f":""," ":"","\\"":"","\\\\":""}',
    ],
)  # fmt: skip
def test_canonical_examples(data: bytes) -> None:
    assert jsonform.is_canonical(data)
    assert json_scan.is_canonical(data)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b'""', b"null", b"true", b"[{}]", b"{} ", b"{}\n", b"\n{}", b" {}", b'{"a": ""}',
        b'{"a":"" }', b'{"a":"","b":"" }', b'{"a":1}', b'{"a":-0}', b'{"a":1.5e3}', b'{"a":NaN}',
        b'{"a":[0]}', b'{"a":{"b":[{"c":0}]}}', b'{"b":"","a":""}', b'{"a":"","a":""}',
        b'{"x":{"b":"","a":""}}', b'{"aa":"","a":""}', b'{"a":"\\u0041"}', b'{"a":"\\/"}',
        b'{"a":"\\u0009"}', b'{"a":"\\u001F"}', b'{"a":"\\u000A"}', b'{"a":"\\u0022"}', b'{"a":"\\u005c"}',
        b'{"a":"\\u007f"}', b'{"a":"\\u2028"}', b'{"a":"\t"}', b'{"a":"\x1f"}', b'{"a":tru}', b'{"a":"b"',
        b'{"a"}', b'{"a":}', b'{"a":"",}', b'{"a":[""}', b'{"a":["",]}', b'{"\\u0008":""}', b'{"a":True}',
        b"{a:null}", b"{'a':null}", b'{"a":"\xff"}', b"\xef\xbb\xbf{}", b"{}\x00", b"{}{}",
    ],
)  # fmt: skip
def test_not_canonical_examples(data: bytes) -> None:
    assert not jsonform.is_canonical(data)
    assert not json_scan.is_canonical(data)


@pytest.mark.parametrize("data", [b'{"a":["x",{}]}', b"", b"[1"])
def test_every_kind_of_buffer(data: bytes) -> None:
    for kind, buffer in byte_buffers(data).items():
        assert scanned(buffer) == expected(data), kind
        assert json_scan.is_canonical(buffer) == jsonform.is_canonical(data), kind
        assert json_scan.depth(buffer) == jsonform.depth(data), kind


@pytest.mark.parametrize("kind", bad_byte_buffers())
def test_other_buffers_are_refused(kind: str) -> None:
    bad = bad_byte_buffers()[kind]
    for call in (json_scan.pretty, json_scan.is_canonical, json_scan.depth):
        with pytest.raises(ValueError):
            call(bad)


def test_neighbouring_memory_is_not_read() -> None:
    around = memoryview(b'[12]"\\u00e9"')
    assert scanned(around[1:2]) == (FINE, b"1\n")
    assert scanned(around[:3]) == (NOT_JSON, None)
    assert scanned(around[4:8]) == (NOT_JSON, None)
    assert scanned(memoryview(b"truenull")[:3]) == (NOT_JSON, None)
    assert scanned(memoryview(b'"\xe2\x82\xac"')[:3])[0] in (NOT_UTF8, NOT_JSON)


def test_a_million_elements() -> None:
    data = b"[" + b",".join(b'{"b":%d,"a":"x"}' % number for number in range(200_000)) + b"]"
    status, text = scanned(data)
    assert status == FINE
    assert text is not None
    assert text.count(b"\n") == 200_000 * 4 + 2
    assert text.startswith(b'[\n  {\n    "a": "x",\n    "b": 0\n  },\n  {\n')
    flat = b"[" + b",".join([b"0"] * 1_000_000) + b"]"
    assert scanned(flat) == (FINE, b"[\n" + b",\n".join([b"  0"] * 1_000_000) + b"\n]\n")


def test_wide_objects() -> None:
    """Members are sorted and compared without costing the square of their number."""
    keys = [f"{number * 7919 % 100_003:06d}" for number in range(100_003)]
    data = ("{" + ",".join(f'"{key}":null' for key in keys) + "}").encode()
    text = scanned(data)[1]
    assert text is not None
    assert text.splitlines()[1:-1] == [
        f'  "{number:06d}": null{"," if number < 100_002 else ""}'.encode() for number in range(100_003)
    ]


def test_one_huge_string() -> None:
    content = "aé\\n" * 500_000
    assert scanned(f'"{content}"'.encode()) == (FINE, f'"{content}"\n'.encode())
    assert json_scan.is_canonical(f'{{"a":"{content}"}}'.encode())


def test_threads_get_the_same() -> None:
    data = json.dumps([{f"key {number % 17}": [number, None]} for number in range(2000)]).encode()
    wanted = expected(data)
    assert all(result == wanted for result in in_four_threads(lambda: scanned(data)))
