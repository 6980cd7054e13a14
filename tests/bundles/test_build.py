"""One report under several profiles, here, in threads and in processes; what fails, what is cancelled."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bundles.runs_for_pools import run
from bundles.samples import content, members, put
from stratadiff.bundles.build import Profile, attempt, build_bundle, failure_of, utc
from stratadiff.bundles.model import BundleError, Failure
from stratadiff.bundles.reader import open_bundle
from stratadiff.errors import OutputError

REPORT = {
    name: members()[name]
    for name in ("reportId", "validPeriod", "timezone", "promptId", "promptVersion", "promptHash")
}


def profiles(*names: str) -> list[Profile]:
    return [Profile(name, f"model of {name}", "local" if name == "text" else None) for name in names]


@pytest.fixture(params=["here", "threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param == "here":
        yield None
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    else:
        # Not forked: hypothesis and pytest may have threads.
        with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as pool:
            yield pool


def test_profiles_that_succeed_and_profiles_that_fail(executor: Executor | None, tmp_path: Path) -> None:
    names = ["slow", "text", "timeout", "http", "bytes", "category", "silent", "long", "nothing", "surrogate"]
    done = build_bundle(tmp_path / "b", REPORT, b"wind", profiles(*names), run, executor=executor)
    assert done.path == str(tmp_path / "b")
    bundle = open_bundle(done.path)
    assert [result.profile_id for result in bundle.results] == names  # in the order of selection
    assert [result.model_name for result in bundle.results] == [f"model of {name}" for name in names]
    assert bundle.data_package() == b"wind"
    assert bundle.markdown("slow") == b"slow"
    assert bundle.markdown("text") == b"# wind\n"
    assert bundle.markdown("bytes") == b"# wind"
    assert bundle.result_of("text").backend_id == "local"
    errors = {result.profile_id: result.error for result in bundle.results if result.error is not None}
    assert errors == {
        "timeout": Failure("timeout-error", "no answer after 30 s"),
        "http": Failure("http-error", "500 from x"),
        "category": Failure("rate-limit", "too many"),
        "silent": Failure("value-error", "ValueError"),
        "long": Failure("value-error", "é" * 512),
        "nothing": Failure("type-error", "run returned NoneType, and must return text or bytes"),
        "surrogate": errors["surrogate"],
    }
    assert errors["surrogate"].category == "unicode-encode-error"
    assert {result.validation_status for result in bundle.results if result.error} == {None}
    manifest = bundle.manifest
    assert (manifest.succeeded, manifest.failed) == (3, 7)
    assert len(manifest.comparison_id) == 32
    assert manifest.started_at <= manifest.finished_at


def test_all_may_fail(executor: Executor | None, tmp_path: Path) -> None:
    build_bundle(tmp_path / "b", REPORT, b"", profiles("timeout", "http"), run, executor=executor)
    assert open_bundle(tmp_path / "b").manifest.failed == 2


@pytest.mark.parametrize(("name", "error"), [("interrupt", KeyboardInterrupt), ("exit", SystemExit)])
def test_what_is_no_failure_passes_through_and_publishes_nothing(
    name: str, error: type[BaseException], executor: Executor | None, tmp_path: Path
) -> None:
    with pytest.raises(error):
        build_bundle(tmp_path / "b", REPORT, b"", profiles("text", name, "slow"), run, executor=executor)
    assert os.listdir(tmp_path) == []


def test_a_process_that_dies_fails_what_it_had(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as pool:
        build_bundle(tmp_path / "b", REPORT, b"", profiles("die", "text"), run, executor=pool)
        bundle = open_bundle(tmp_path / "b")
        assert {result.error.category for result in bundle.results if result.error} == {"broken-process-pool"}
        # And nothing can be submitted to a pool that broke.
        build_bundle(tmp_path / "c", REPORT, b"", profiles("text", "bytes"), run, executor=pool)
    assert [result.status for result in open_bundle(tmp_path / "c").results] == ["failed", "failed"]


def test_a_run_that_cannot_be_pickled_fails(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as pool:
        build_bundle(tmp_path / "b", REPORT, b"", profiles("x", "y"), lambda *_: "", executor=pool)
    assert open_bundle(tmp_path / "b").manifest.failed == 2


def test_futures_that_are_cancelled_are_failures(tmp_path: Path) -> None:
    started, submitted, go_on = threading.Event(), threading.Event(), threading.Event()

    def wait(profile: Any, data_package: bytes) -> str:
        started.set()
        go_on.wait(10)
        return "text"

    class Pool(ThreadPoolExecutor):
        def submit(self, function: Any, /, run: Any, profile: Any, *rest: Any) -> Future[Any]:  # type: ignore[override]
            future = super().submit(function, run, profile, *rest)
            if profile.profile_id == "c":
                submitted.set()
            return future

    with Pool(1) as pool:

        def cancel() -> None:
            started.wait(10)
            submitted.wait(10)
            pool.shutdown(wait=False, cancel_futures=True)
            go_on.set()

        thread = threading.Thread(target=cancel)
        thread.start()
        build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b", "c"), wait, executor=pool)
        thread.join()
        bundle = open_bundle(tmp_path / "b")
        assert bundle.markdown("a") == b"text"
        assert [result.error for result in bundle.results[1:]] == [
            Failure("cancelled-error", "CancelledError")
        ] * 2
        build_bundle(tmp_path / "c", REPORT, b"", profiles("a", "b"), wait, executor=pool)
        error = open_bundle(tmp_path / "c").results[0].error
        assert error is not None
        assert error.category == "runtime-error"  # cannot schedule new futures after shutdown


def test_an_interrupt_while_waiting_cancels_what_has_not_started(tmp_path: Path) -> None:
    class Interrupted(Future[Any]):
        def result(self, timeout: float | None = None) -> Any:
            raise KeyboardInterrupt

    futures: list[Future[Any]] = []

    class Pool(Executor):
        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            futures.append(Interrupted())
            return futures[-1]

    with pytest.raises(KeyboardInterrupt):
        build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b", "c"), run, executor=Pool())
    assert [future.cancelled() for future in futures] == [True] * 3
    assert os.listdir(tmp_path) == []


def test_profiles_as_mappings_are_handed_on_as_they_are(tmp_path: Path) -> None:
    seen = []

    def note(profile: Any, data_package: bytes) -> str:
        seen.append(profile)
        return "text"

    given = [
        {"profileId": "a", "modelName": "m", "temperature": 0.5},
        {"profileId": "b", "modelName": "m", "backendId": "local"},
    ]
    build_bundle(tmp_path / "b", REPORT, b"", given, note)
    assert seen == given
    assert seen[0] is given[0]
    assert [result.backend_id for result in open_bundle(tmp_path / "b").results] == [None, "local"]


REFUSED: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "no profile": ({}, [], "counts"),
    "one profile": ({}, profiles("a"), "counts"),
    "one id twice": ({}, profiles("a", "b", "a"), "positions"),
    "blank id": ({}, profiles("a", "\u3000"), "identity"),
    "no id": ({}, [{"modelName": "m"}, *profiles("a")], "manifest-fields"),
    "blank model": ({}, [Profile("a", ""), Profile("b", "m")], "identity"),
    "empty backend": ({}, [Profile("a", "m", ""), Profile("b", "m")], "optional-absent"),
    "lone surrogate": ({}, profiles("a", "\ud800"), "manifest-json"),
    "empty period": ({"validPeriod": {"start": "x", "end": "y"}}, profiles("a", "b"), "valid-period"),
    "no report": ({"reportId": ""}, profiles("a", "b"), "identity"),
    "unknown member": ({"note": "x"}, profiles("a", "b"), "manifest-fields"),
    "malformed hash": ({"promptHash": "x"}, profiles("a", "b"), "digest-form"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_break_a_rule_breaks_it_before_any_run(name: str, tmp_path: Path) -> None:
    changes, given, rule = REFUSED[name]
    with pytest.raises(BundleError) as caught:
        build_bundle(tmp_path / "b", {**REPORT, **changes}, b"", given, never)
    assert caught.value.rule == rule
    assert os.listdir(tmp_path) == []


def never(profile: Any, data_package: bytes) -> str:
    raise AssertionError("it was run")


def test_a_destination_that_will_not_do_is_known_before_any_run(tmp_path: Path) -> None:
    put(tmp_path / "b")
    with pytest.raises(OutputError, match="is there already; nothing is replaced"):
        build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b"), never)
    with pytest.raises(OutputError, match="the folder above it is missing"):
        build_bundle(tmp_path / "nowhere/b", REPORT, b"", profiles("a", "b"), never)
    (tmp_path / "b/x").write_bytes(b"")
    with pytest.raises(OutputError, match="only a bundle is replaced"):
        build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b"), never, replace=True)
    (tmp_path / "b/x").unlink()
    assert build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b"), run, replace=True).replaced


def test_the_clock_and_what_is_given_in_its_place(tmp_path: Path) -> None:
    ticks = iter([1_767_592_800_000_000_000, 1_767_592_800_000_000_120, 5, 4])
    build_bundle(tmp_path / "a", REPORT, b"", profiles("a", "b"), run, clock=lambda: next(ticks))
    manifest = open_bundle(tmp_path / "a").manifest
    assert (manifest.started_at, manifest.finished_at) == (
        "2026-01-05T06:00:00Z",
        "2026-01-05T06:00:00.00000012Z",
    )
    build_bundle(tmp_path / "b", REPORT, b"", profiles("a", "b"), run, clock=lambda: next(ticks))
    manifest = open_bundle(tmp_path / "b").manifest  # a clock that was set back
    assert manifest.started_at == manifest.finished_at == "1970-01-01T00:00:00.000000005Z"
    given = {
        **REPORT,
        "comparisonId": "mine",
        "startedAt": "2020-01-01T00:00:00+00:00",
        "finishedAt": "2020-01-02T00:00:00Z",
    }
    build_bundle(tmp_path / "c", given, b"", profiles("a", "b"), run)
    manifest = open_bundle(tmp_path / "c").manifest
    assert (manifest.comparison_id, manifest.started_at, manifest.finished_at) == (
        "mine",
        "2020-01-01T00:00:00Z",
        "2020-01-02T00:00:00Z",
    )
    assert utc(999_999_999) == "1970-01-01T00:00:00.999999999Z"


def test_two_bundles_of_the_same_runs_differ_in_their_ids_and_times_only(tmp_path: Path) -> None:
    for name in ("a", "b"):
        build_bundle(
            tmp_path / name, {**REPORT, "comparisonId": "x"}, b"", profiles("p", "q"), run, clock=lambda: 7
        )
    assert content(tmp_path / "a") == content(tmp_path / "b")


# What is said of an exception.


def raised(name: str, text: object = "text", **attributes: object) -> Exception:
    error = type(name, (Exception,), attributes)
    return error(text) if text is not None else error()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("error", "category", "message"),
    [
        (raised("TimeoutError"), "timeout-error", "text"),
        (raised("HTTPError"), "http-error", "text"),
        (raised("HTTPStatusError"), "http-status-error", "text"),
        (raised("OSError"), "os-error", "text"),
        (raised("my_error"), "my-error", "text"),
        (raised("_PrivateError"), "private-error", "text"),
        (raised("Error2XX"), "error2-xx", "text"),
        (raised("E"), "e", "text"),
        (raised("ÄußererFehler"), "äußerer-fehler", "text"),
        (raised("Error", None), "error", "Error"),
        (raised("Error", " \u3000"), "error", "Error"),
        (raised("Error", " " * 2000 + "x"), "error", "Error"),  # blank once it is cut
        (raised("Error", category="rate"), "rate", "text"),
        (raised("Error", category=" "), "error", "text"),
        (raised("Error", category=5), "error", "text"),
        (raised("Error", category=None), "error", "text"),
        (raised("Error", category=property(lambda self: 1 / 0)), "error", "text"),
        (raised("Error", __str__=lambda self: 1 / 0), "error", "Error"),
        (raised("Error", __str__=lambda self: 5), "error", "Error"),
        (raised("Error", "\ud800"), "error", "\ufffd"),
        (raised("", None), "error", "error"),
        (raised("\u3000", None), "error", "error"),
        (raised("__", "x"), "error", "x"),
        (KeyError("x"), "key-error", "'x'"),
    ],
)
def test_what_is_said_of_an_exception(error: Exception, category: str, message: str) -> None:
    assert failure_of(error) == Failure(category, message)


@pytest.mark.parametrize("size", [1023, 1024, 1025, 1026])
@pytest.mark.parametrize("last", ["x", "é", "€", "😀"])
def test_messages_around_the_limit_are_cut_before_they_are_sent(size: int, last: str) -> None:
    text = "x" * (size - len(last.encode())) + last

    def fails(profile: Any, data_package: bytes) -> str:
        raise ValueError(text)

    _, failure = attempt(fails, None, b"")
    kept = text
    while len(kept.encode()) > 1024:
        kept = kept[:-1]
    assert failure == Failure("value-error", kept)
