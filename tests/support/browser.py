"""A headless Chromium that tests drive, by the WebDriver protocol of Debian's chromium-driver: nothing else is needed."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile

import pytest

PROGRAMS = ("chromium", "chromedriver")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name of a reference
WAIT_S = 30


def need_chromium():
    """Skips where it is missing; continuous integration must have it."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"needs {' and '.join(missing)}")
    assert not missing, f"{missing}: run scripts/bootstrap"


class Browser:
    """One window with a profile of its own, which is gone afterwards."""

    def __init__(self, width, height):
        self.size = width, height

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.connection.close()
            self.end()

    def begin(self):
        port = next(int(found[1]) for line in self.driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2 * WAIT_S)
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={self.profile.name}"]}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}})
        self.session = f"/session/{session['sessionId']}"
        self.tell("timeouts", {"implicit": 1000 * WAIT_S})  # to find something waits for it
        # A window is never narrower than 500, a phone is.
        phone = {"width": self.size[0], "height": self.size[1], "deviceScaleFactor": 1, "mobile": False}
        self.tell("goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": phone})

    def end(self):
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        self.profile.cleanup()

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body=None if body is None else json.dumps(body), headers={"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        value = json.loads(reply.read())["value"]
        assert reply.status == 200, value
        return value

    def tell(self, verb, body):
        return self.ask("POST", f"{self.session}/{verb}", body)

    def open(self, url):
        self.tell("url", {"url": url})

    def find(self, xpath):
        """The first of them, as soon as it is there."""
        return self.tell("element", {"using": "xpath", "value": xpath})[ELEMENT]

    def click(self, xpath):
        self.tell(f"element/{self.find(xpath)}/click", {})

    def write(self, xpath, text):
        field = self.find(xpath)
        self.tell(f"element/{field}/clear", {})
        self.tell(f"element/{field}/value", {"text": text})

    def text(self, xpath):
        return self.ask("GET", f"{self.session}/element/{self.find(xpath)}/text")

    def value(self, script):
        """What a script of the page returns."""
        return self.tell("execute/sync", {"script": script, "args": []})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask("GET", f"{self.session}/screenshot")))
