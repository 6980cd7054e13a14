"""Runs that a process pool can pickle."""

from __future__ import annotations

import os
import threading
import time
from typing import Any


class HTTPError(Exception):
    """Cannot be made again from its arguments, as exceptions of many packages cannot."""

    def __init__(self, code: int, *, url: str) -> None:
        super().__init__(f"{code} from {url}")
        self.lock = threading.Lock()  # cannot be pickled either


class Categorised(Exception):  # noqa: N818
    category = "rate-limit"


def identity(profile: Any) -> str:
    return str(profile["profileId"] if isinstance(profile, dict) else profile.profile_id)


def run(profile: Any, data_package: bytes) -> bytes | str:
    """Do what the profile's id says."""
    name = identity(profile)
    if name == "text":
        return f"# {data_package.decode()}\n"
    if name == "bytes":
        return b"# " + data_package
    if name == "slow":
        time.sleep(0.05)
        return "slow"
    if name == "timeout":
        raise TimeoutError("no answer after 30 s")
    if name == "http":
        raise HTTPError(500, url="x")
    if name == "category":
        raise Categorised("too many")
    if name == "silent":
        raise ValueError
    if name == "long":
        raise ValueError("é" * 2000)
    if name == "nothing":
        return None  # type: ignore[return-value]
    if name == "surrogate":
        return "\ud800"
    if name == "die":
        os._exit(1)
    if name == "interrupt":
        raise KeyboardInterrupt
    if name == "exit":
        raise SystemExit(3)
    return name
