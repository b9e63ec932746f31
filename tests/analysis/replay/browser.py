"""A real browser: headless Chromium, driven by chromedriver's plain HTTP (W3C WebDriver).

A few requests are all that is needed, so no package is.
"""

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,800",
]


def require_chromium() -> tuple[str, str]:
    """The browser and its driver; a machine that has none may skip, CI may not."""
    found = shutil.which("chromium"), shutil.which("chromedriver")
    if not all(found) and "PYSIM_CI" not in os.environ:
        pytest.skip("chromium and chromium-driver are not installed")
    browser, driver = found
    assert browser, "chromium is not installed, and in CI it must be"
    assert driver, "chromium-driver is not installed, and in CI it must be"
    return browser, driver


class Browser:
    """One window. `run` executes a script's text and gives what it returns."""

    def __init__(self, address: str, session: str) -> None:
        self._session = f"{address}/session/{session}"

    def open(self, page: Path) -> None:
        """Load a page and wait until its player is there."""
        self._post("url", {"url": page.resolve().as_uri()})
        self.wait("return window.replay !== undefined")

    def run(self, script: str, *arguments: Any) -> Any:
        return self._post("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script: str, seconds: float = 20) -> None:
        """Until a script returns something true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"waited in vain for: {script}\n{self.complaints()}"
            time.sleep(0.05)

    def click(self, x: float, y: float) -> None:
        """Press the mouse at a point of the window, as a hand would."""
        pointer = [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": pointer})

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def complaints(self) -> list[dict[str, Any]]:
        """What the console has said since it was last asked, errors and warnings."""
        entries: list[dict[str, Any]] = self._post("se/log", {"type": "browser"})
        return [entry for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(_request("GET", f"{self._session}/screenshot")))

    def _act(self, source: dict[str, Any]) -> None:
        self._post("actions", {"actions": [source]})

    def _post(self, command: str, body: dict[str, Any]) -> Any:
        return _request("POST", f"{self._session}/{command}", body)


@contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """A browser with an empty profile in `folder`, gone afterwards."""
    chromium, chromedriver = require_chromium()
    log = folder / "chromedriver.log"
    driver = subprocess.Popen(
        [chromedriver, "--port=0", "--log-level=WARNING"],
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
    )
    try:
        address = f"http://127.0.0.1:{_port(log, driver)}"
        options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={folder / 'profile'}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        asked = {"capabilities": {"alwaysMatch": wanted}}
        session = _request("POST", f"{address}/session", asked)["sessionId"]
        try:
            yield Browser(address, session)
        finally:
            _request("DELETE", f"{address}/session/{session}")
    finally:
        driver.terminate()
        driver.wait(20)


def _port(log: Path, driver: subprocess.Popen[bytes]) -> int:
    """The port that the driver has chosen, as it says."""
    end = time.monotonic() + 30
    while time.monotonic() < end and driver.poll() is None:
        for line in log.read_text().splitlines():
            if "started successfully on port" in line:
                return int(line.rstrip(".").split()[-1])
        time.sleep(0.05)
    raise AssertionError(f"chromedriver did not start: {log.read_text()}")


def _request(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is this machine
    try:
        with opener.open(request, timeout=120) as answer:
            return json.loads(answer.read())["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.loads(error.read())["value"]["message"]) from None
