"""A headless Chromium, driven over the DevTools protocol through a pipe; standard library only."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--remote-debugging-pipe",
         # no process that is not used: for graphics without a screen, for a page that may come
         "--disable-software-rasterizer", "--renderer-process-limit=1", "--process-per-site", "--disable-features=SpareRendererForSitePerProcess"]


class Navigated(RuntimeError):
    """The page that was asked has gone; the next one may come."""


class Browser:
    """One tab, `bars` with scroll bars.  `problems` gathers console errors, exceptions and failed requests.
    To start a browser takes longer than to look at most pages: `tab` is for the next one."""

    def __init__(self, width=1280, height=800, dark=False, limit=60, bars=False):
        program = shutil.which("chromium")
        if program is None:
            raise FileNotFoundError("chromium is not installed")
        self.profile = tempfile.mkdtemp(prefix="view-chromium.")
        to_read, self.write_fd = os.pipe()
        self.read_fd, to_write = os.pipe()
        # the browser reads commands from descriptor 3 and writes answers to 4
        shell = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, program, *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.limit, self.number, self.buffer = limit, 0, b""
        self.context = None
        self.tab(width, height, dark, bars)

    def tab(self, width=1280, height=800, dark=False, bars=False):
        """A new tab takes the place of the one before, and shares nothing with it."""
        self.session = None
        if self.context is not None:
            self.call("Target.disposeBrowserContext", browserContextId=self.context)
        self.problems, self.requests = [], []
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setScrollbarsHidden", hidden=not bars)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        try:
            self.process.kill()
            self.process.wait()
        finally:
            shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _message(self, end):
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("the browser did not answer")
            chunk = os.read(self.read_fd, 1 << 20)
            if not chunk:
                raise EOFError("the browser ended")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if message.get("sessionId") != self.session:
            return  # of a tab before
        if method == "Runtime.exceptionThrown":
            self.problems.append(values["exceptionDetails"].get("exception", {}).get(
                "description", values["exceptionDetails"]["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.problems.append(str([a.get("value", a.get("description")) for a in values["args"]]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(values["entry"]["text"])
        elif method == "Network.loadingFailed" and not values.get("canceled"):  # the page gives up what it no longer wants
            self.problems.append("request failed: " + values.get("errorText", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        end = time.monotonic() + self.limit
        while True:
            answer = self._message(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    kind = Navigated if method == "Runtime.evaluate" else RuntimeError
                    raise kind(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def js(self, expression):
        """The value of an expression in the page; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + str(answer["exceptionDetails"].get(
                "exception", {}).get("description")))
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true."""
        end = time.monotonic() + self.limit
        while time.monotonic() < end:
            try:
                if self.js(f"!!({expression})"):
                    return
                self.js("new Promise(done => setTimeout(done, 20))")
            except Navigated:
                time.sleep(0.02)
        raise TimeoutError("never true: " + expression)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && window.hrView && window.hrView.ready")

    def settle(self):
        """Until what was changed has been drawn, the profile too."""
        self.wait("hrView.idle()")

    def mouse(self, kind, x, y, **values):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **values)

    def drag(self, x1, y1, x2, y2, **values):
        self.mouse("mousePressed", x1, y1, button="left", clickCount=1, **values)
        for i in range(1, 5):
            self.mouse("mouseMoved", x1 + (x2 - x1) * i / 4, y1 + (y2 - y1) * i / 4, button="left",
                       buttons=1, **values)
        self.mouse("mouseReleased", x2, y2, button="left", clickCount=1, **values)

    def key(self, key, **values):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      **({"text": key} if kind == "keyDown" and len(key) == 1 else {}), **values)

    def screenshot(self, path, full=False):
        values = {"captureBeyondViewport": True} if full else {}
        data = self.call("Page.captureScreenshot", format="png", **values)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
