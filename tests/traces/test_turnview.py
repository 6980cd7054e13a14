"""What a rule sees of a trace: texts, calls, sessions (agentlog 7)."""

from __future__ import annotations

from typing import Any

import pytest

from stratadiff.traces.reader import trace_of
from stratadiff.traces.turnview import TurnView
from traces.records import call, request, response, session, use

Record = dict[str, Any]


def calls(*records: Record) -> list[tuple[int, str]]:
    return pairs(view_of(*records))


def pairs(view: TurnView) -> list[tuple[int, str]]:
    return list(zip(view.calls.turns, view.calls.names, strict=True))


def view_of(*records: Record) -> TurnView:
    return TurnView(trace_of(records))


def test_blocks_are_calls_of_their_turn() -> None:
    assert calls(response(use("a"), "text", use("b")), response(), response(use("a"))) == [
        (0, "a"), (0, "b"), (2, "a"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", [None, 5, True, ["a"], {}])
def test_a_name_that_is_no_string_is_empty(name: Any) -> None:
    assert calls(response(use(name)), call(name)) == [(0, ""), (0, "")]


def test_odd_content() -> None:
    odd = [5, None, "x", {"type": ["tool_use"]}, {}, use("a")]
    assert calls(response(*[block for block in odd if not isinstance(block, str)])) == [(0, "a")]
    assert calls({"kind": "chat_response", "payload": {"content": "tool_use"}}) == []
    assert calls({"kind": "chat_response", "payload": [1]}) == []
    assert calls() == []


def test_a_record_announced_above_is_not_counted_again() -> None:
    assert calls(response(use("a", "1")), call("a", "1")) == [(0, "a")]
    assert calls(response(use("a", "1")), call("b", "2"), call("b", "2")) == [(0, "a"), (0, "b")]
    assert calls(response(use("a", "1")), response("x"), call("a", "1")) == [(0, "a")]
    # A block always counts, and announces for what is below it only.
    assert calls(call("a", "1"), response(use("a", "1"))) == [(0, "a"), (0, "a")]
    assert calls(response("x"), call("a", "1"), response(use("a", "1"))) == [(0, "a"), (1, "a")]


@pytest.mark.parametrize("call_id", ["", None, 5, True, []])
def test_a_record_without_an_id_is_always_counted(call_id: Any) -> None:
    assert calls(response(use("a", call_id)), call("a", call_id), call("a", call_id)) == [(0, "a")] * 3


def test_a_record_belongs_to_the_turn_whose_response_precedes_it() -> None:
    found = calls(
        call("first", "1"),
        response(use("x", "2")),
        call("y", "3"),
        call("z", "4"),
        response("b"),
        call("w", "5"),
    )
    assert found == [(0, "first"), (0, "x"), (0, "y"), (0, "z"), (1, "w")]
    assert calls(call("a", "1"), call("b", "2")) == [(0, "a"), (0, "b")]


def test_texts_are_joined_by_line_feeds() -> None:
    view = view_of(response("a", use("x"), "b"), response(), response({"type": "text", "text": 5}, "c"))
    assert view.texts == ["a\nb", "", "\nc"]
    assert view_of({"kind": "chat_response", "payload": {"content": "whole"}}).texts == ["whole"]


def test_tokens() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2.9, "thinking_tokens": "x"}
    view = view_of(response(usage=usage), response(usage=None), response(usage={"thinking_tokens": 2**63}))
    assert view.token_total == 7 + 2**63
    assert view.where(lambda _, payload: payload["usage"] is not None).token_total == 7 + 2**63
    assert view.where(lambda _, payload: payload["usage"] == usage).token_total == 7


def test_narrowed_views_keep_the_numbers_of_the_trace() -> None:
    view = view_of(response("a", use("x")), response("b", use("y")), response("c", use("x")))
    odd = view.where(lambda _, payload: payload["content"][0]["text"] != "b")
    assert list(odd.turns) == [0, 2]
    assert odd.texts == ["a", "c"]
    assert pairs(odd) == [(0, "x"), (2, "x")]
    assert {name: (found.first, found.turns) for name, found in odd.tools.items()} == {"x": (0, [0, 2])}
    last = odd.where(lambda _, payload: payload["content"][0]["text"] == "c")
    assert (list(last.turns), last.texts, pairs(last)) == ([2], ["c"], [(2, "x")])


def test_the_request_of_a_turn() -> None:
    view = view_of(request(n=0), request(n=1), response("a"), response("b"), request(n=2), response("c"))
    seen: list[Any] = []
    view.where(lambda asked, _: bool(seen.append(asked)))
    assert seen == [{"n": 1}, None, {"n": 2}]


def test_sessions() -> None:
    records = [
        *session(response("a", use("p"))),
        *session(),
        *session(call("q"), response("b", use("r")), response("c"), call("s")),
        *session(call("t")),
    ]
    views = view_of(*records).sessions()
    assert [list(view.turns) for view in views] == [[0], [], [1, 2], []]
    assert [view.texts for view in views] == [["a"], [], ["b", "c"], []]
    # A record's call is made in the session it stands in, whatever turn it counts for.
    found = [pairs(view) for view in views]
    assert found == [[(0, "p")], [], [(0, "q"), (1, "r"), (2, "s")], [(2, "t")]]
    assert view_of().sessions() == []


def test_records_before_the_first_session() -> None:
    views = view_of(call("p"), response(use("q")), *session(response(use("r")))).sessions()
    assert [view.calls.names for view in views] == [["p", "q"], ["r"]]
