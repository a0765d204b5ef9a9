# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium through chromedriver (the W3C WebDriver protocol).

Uses only Python's standard library.
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--force-device-scale-factor=1", "--force-prefers-reduced-motion",
]
CONTROL = "\ue009"
ENTER = "\ue007"


class Browser:
    """One window. A failed command raises RuntimeError with chromedriver's message."""

    def __init__(self, width=1366, height=768, arguments=()):
        self.folder = tempfile.mkdtemp(prefix="browser-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        self._await_driver()
        options = {"args": [*ARGUMENTS, *arguments, f"--user-data-dir={self.folder}",
                            f"--window-size={width},{height}"]}
        wanted = {"goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + answer["sessionId"]

    def close(self):
        try:
            self._ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, path):
        self._ask("POST", "/url", {"url": "file://" + str(path)})

    def run(self, script, *arguments):
        """Returns the result of the script, which reads its arguments as `arguments[0]` etc."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def point(self, selector):
        """Moves the pointer onto the middle of an element."""
        self._act([{"type": "pointerMove", "origin": self._find(selector), "x": 0, "y": 0,
                    "duration": 0}])

    def click(self, selector):
        self._ask("POST", f"/element/{self._find(selector)[ELEMENT]}/click", {})

    def type(self, selector, text):
        self._ask("POST", f"/element/{self._find(selector)[ELEMENT]}/value", {"text": text})

    def wheel(self, selector, delta, control=False):
        """Turns the wheel over the middle of an element."""
        turn = {"type": "scroll", "origin": self._find(selector), "x": 0, "y": 0, "deltaX": 0,
                "deltaY": delta, "duration": 0}
        keys = [{"type": "keyDown", "value": CONTROL}, {"type": "pause"},
                {"type": "keyUp", "value": CONTROL}]
        actions = [{"type": "wheel", "id": "wheel", "actions": [{"type": "pause"}, turn]}]
        if control:
            actions.append({"type": "key", "id": "keys", "actions": keys})
        self._ask("POST", "/actions", {"actions": actions})

    def drag(self, selector, right, down):
        self._act([
            {"type": "pointerMove", "origin": self._find(selector), "x": 0, "y": 0, "duration": 0},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "origin": "pointer", "x": right // 2, "y": down // 2,
             "duration": 20},
            {"type": "pointerMove", "origin": "pointer", "x": right - right // 2,
             "y": down - down // 2, "duration": 20},
            {"type": "pointerUp", "button": 0},
        ])

    def resize(self, width, height):
        self._ask("POST", "/window/rect", {"width": width, "height": height})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", "/screenshot")))

    def complaints(self):
        """Warnings and errors on the console since the last call."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self):
        """Addresses that pages have requested since the last call."""
        entries = self._ask("POST", "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def _act(self, actions):
        self._ask("POST", "/actions",
                  {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def _find(self, selector):
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})

    def _await_driver(self):
        for _ in range(600):
            try:
                if self._ask("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + self.session + path, data,
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None
