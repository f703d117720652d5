"""Headless Chromium by its DevTools protocol over a pipe, with nothing but the standard library."""
import base64
import glob
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        def keep():  # the browser reads 3 and writes 4
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=keep, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.inward, self.outward, self.number, self.rest, self.events = ours_in, ours_out, 0, b"", []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")

    def read(self, timeout=60):
        end = time.monotonic() + timeout
        while b"\0" not in self.rest:
            if not select.select([self.inward], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.inward, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.outward, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def shape(self, width, dark=False, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path, width, dark=False, scripts=True):
        """Loads a page; the messages of its console, and what it asked the network for."""
        self.events.clear()
        self.shape(width, dark)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        # The viewer says when it has drawn.
        for _ in range(600 if scripts else 0):
            if self.run("'ready' in document.documentElement.dataset"):
                break
            time.sleep(0.05)
        texts = []
        for event in self.events:
            if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                texts.append(json.dumps(event["params"])[:500])
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith("file://" + os.path.abspath(path)):
                    texts.append("loads " + url)
        return texts

    def seconds(self):
        """What the processes that draw pages have taken of the CPU: the clock is other work's too."""
        children, found = {}, {}
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(stat) as file, open(os.path.dirname(stat) + "/cmdline") as words:
                    fields, command = file.read().rsplit(")", 1)[1].split(), words.read()
            except OSError:  # it has ended
                continue
            process = int(stat.split("/")[2])
            children.setdefault(int(fields[1]), []).append(process)
            found[process] = int(fields[11]) + int(fields[12]) if "--type=renderer" in command else 0
        total, family = 0, [self.process.pid]
        while family:
            process = family.pop()
            total += found.get(process, 0)
            family += children.get(process, [])
        return total / os.sysconf("SC_CLK_TCK")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def picture(self, path, whole=False):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.inward)
        os.close(self.outward)
        self.folder.cleanup()
