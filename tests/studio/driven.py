"""A Chromium that is driven as a person would: by what is seen and said, with mouse or keyboard.

It speaks the DevTools protocol over two pipes, so that it takes nothing but Chromium. What is looked for is found
in the accessibility tree: a role, and a name as a screen reader reads it.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# The pipes are 3 and 4 in the browser, whatever numbers they have here.
_START = (
    "import os, sys; r, w = (os.dup(int(n)) for n in sys.argv[1:3]); r, w = os.dup(r), os.dup(w); "
    "os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Nothing here needs a process for graphics, or one that waits for a page that may come.
    "--in-process-gpu", "--disable-software-rasterizer", "--disable-extensions", "--disable-default-apps",
    "--disable-breakpad", "--mute-audio", "--disable-features=SpareRendererForSitePerProcess,Translate,MediaRouter",
    # One process draws all tabs, in one thread: to start one takes longer than most pages.
    "--renderer-process-limit=1", "--process-per-site", "--disable-site-isolation-trials", "--num-raster-threads=1",
)  # fmt: skip
_SOON, _LATER = 0.05, 0.4
"""Seconds between two looks at a page, at first and when something takes longer: to look costs more than to wait."""
_KEYS = {
    "Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""),
    "ArrowRight": (39, ""), "ArrowDown": (40, ""), "Home": (36, ""), "End": (35, ""), "Delete": (46, ""),
}  # fmt: skip


class NotSeen(AssertionError):
    """What should be in the page is not there."""


class Chromium:
    """One browser; `page` opens a tab."""

    def __init__(self, program: str, profile: Path, *options: str) -> None:
        there, self._into = os.pipe()
        self._out, back = os.pipe()
        command = [
            sys.executable,
            "-c",
            _START,
            str(there),
            str(back),
            program,
            *_OPTIONS,
            *options,
            f"--user-data-dir={profile}",
        ]
        self._process = subprocess.Popen(
            command, pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(there)
        os.close(back)
        self._buffer = b""
        self._last = 0
        self._listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; what happens meanwhile goes to the pages."""
        self._last += 1
        number = self._last
        told = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._into, json.dumps(told).encode() + b"\0")
        while True:
            message = self._read(60)
            if message is None:
                raise TimeoutError(f"Chromium does not answer {method}")
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def listen(self, seconds: float) -> None:
        """Take in what happens for some time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._read(left)

    def _read(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message that is an answer, or None if there is none in time or it was an event."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._out], [], [], seconds)
            if not ready:
                return None
            more = os.read(self._out, 1 << 20)
            if not more:
                raise ConnectionError("Chromium has ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            listener = self._listeners.get(message.get("sessionId", ""))
            if listener is not None:
                listener(message["method"], message["params"])
        return message

    def page(self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> Page:
        """Open a tab of this size, in light or dark."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        self._listeners[session] = page.heard
        for domain in ("Page", "Runtime", "DOM", "Accessibility", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.look(width, height, dark=dark)
        page.go(address)
        return page

    def close(self) -> None:
        """End the browser."""
        try:
            self.send("Browser.close")
        except (RuntimeError, OSError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._into)
        os.close(self._out)


class Page:
    """One tab."""

    def __init__(self, browser: Chromium, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target
        self._dark: bool | None = None
        self.wrong: list[str] = []
        """Errors, refused scripts and styles, answers of 500 and more."""
        self.asked: list[str] = []
        """Addresses that the page asked for."""

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this tab."""
        return self._browser.send(method, self._session, **params)

    def heard(self, method: str, params: dict[str, Any]) -> None:
        """Note what goes wrong, and what is asked for."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.wrong.append(str(details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.wrong.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            # What the server refuses is said in the page; a browser calls it an error as well.
            if not (
                entry["source"] == "network" and any(f"status of 4{n}" in entry["text"] for n in ("04", "09", "22"))
            ):
                self.wrong.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    def go(self, address: str) -> None:
        """Open an address, and wait until its page is there."""
        self.send("Page.navigate", url=address)
        self.until(lambda: self.run("document.readyState") == "complete", f"{address} is there")

    def run(self, script: str) -> Any:
        """Return what a script comes to."""
        done = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return done["result"].get("value")

    def until(self, true: Callable[[], bool], what: str, seconds: float = 120) -> None:
        """Wait until something is true."""
        end, pause = time.monotonic() + seconds, _SOON
        while not self._holds(true):
            if time.monotonic() > end:
                raise NotSeen(f"{what}: not within {seconds:g} s. The page says:\n{self.text()[:1500]}")
            self._browser.listen(pause)
            pause = min(1.5 * pause, _LATER)

    @staticmethod
    def _holds(true: Callable[[], bool]) -> bool:
        try:
            return true()
        except RuntimeError:  # the page went elsewhere, or drew anew, between two commands
            return False

    def text(self) -> str:
        """Return all text that is seen."""
        return str(self.run("document.body?.innerText ?? ''"))

    def sees(self, text: str, seconds: float = 120) -> None:
        """Wait until a text is seen."""
        self.until(lambda: text in self.text(), f"“{text}” is seen", seconds)

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Make the window so large, light or dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        if dark is not self._dark:  # all of a page is drawn anew for that
            wanted = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
            features = [{"name": name, "value": value} for name, value in wanted.items()]
            self.send("Emulation.setEmulatedMedia", features=features)
            self._dark = dark

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save the whole page, or what is seen of it, as a PNG."""
        asked: dict[str, Any] = {}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            asked = {"captureBeyondViewport": True, "clip": clip}
        made = self.send("Page.captureScreenshot", format="png", **asked)
        path.write_bytes(base64.b64decode(made["data"]))

    def found(self, role: str) -> Iterator[tuple[str, int]]:
        """Yield the names and nodes of all that has a role."""
        root = self.send("DOM.getDocument", depth=0)["root"]["nodeId"]
        for node in self.send("Accessibility.queryAXTree", nodeId=root, role=role)["nodes"]:
            if not node.get("ignored"):
                yield str(node.get("name", {}).get("value", "")), node["backendDOMNodeId"]

    def front(self) -> None:
        """Bring the tab to the front: others do not take in what is typed or clicked."""
        self.send("Page.bringToFront")

    def node(self, role: str, name: str, *, seconds: float = 120) -> int:
        """Wait for a part of the page by its role and its name, or the beginning of that, and return it."""
        seen: list[str] = []
        end, pause = time.monotonic() + seconds, _SOON
        while True:
            found = list(self.found(role))
            exact = [node for title, node in found if title == name]
            begins = [node for title, node in found if title.startswith(name)]
            if exact or begins:
                return (exact or begins)[0]
            seen = [title for title, _ in found]
            if time.monotonic() > end:
                raise NotSeen(f"no {role} “{name}”; there are: {seen}. The page says:\n{self.text()[:2000]}")
            self._browser.listen(pause)
            pause = min(1.5 * pause, _LATER)

    def is_there(self, role: str, name: str) -> bool:
        """Return whether something with this role and name is in the page."""
        return any(title == name for title, _ in self.found(role))

    def click(self, role: str, name: str) -> None:
        """Click on something, once it can be."""
        self.until(lambda: not self.property(self.node(role, name), "disabled"), f"{role} “{name}” can be pressed")
        x, y = 0.0, 0.0

        def is_seen() -> bool:
            nonlocal x, y
            node = self.node(role, name)
            x, y = self.middle(node)
            return self._is_seen_at(x, y, node)

        self.until(is_seen, f"“{name}” is in view")
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def _is_seen_at(self, x: float, y: float, node: int) -> bool:
        """Whether a click there hits something, and nothing that lies over it or has moved there meanwhile."""
        made = self.send("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        script = "function(x, y) { const hit = document.elementFromPoint(x, y); return this.contains(hit) }"
        done = self.send(
            "Runtime.callFunctionOn", objectId=made, returnByValue=True, functionDeclaration=script,
            arguments=[{"value": x}, {"value": y}],
        )  # fmt: skip
        return bool(done["result"].get("value"))

    def drag(self, role: str, name: str, by: float) -> None:
        """Drag something to the right."""
        x, y = self.middle(self.node(role, name))
        self.mouse("mousePressed", x, y)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + by * step / 5, y)
        self.mouse("mouseReleased", x + by, y)

    def drop(self, path: Path, onto: str) -> None:
        """Drop a file from elsewhere onto what says something."""
        x, y = self.middle(self.node("StaticText", onto))
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def hand_over(self, name: str, path: Path) -> None:
        """Choose a file for a field that takes one."""
        self.send("DOM.setFileInputFiles", files=[str(path)], backendNodeId=self.node("button", name))

    def unfold(self, name: str) -> None:
        """Open what is folded behind a line, unless it is open."""
        node = self.node("DisclosureTriangle", name)
        made = self.send("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        script = "function() { return this.closest('details').open }"
        seen = self.send("Runtime.callFunctionOn", objectId=made, returnByValue=True, functionDeclaration=script)
        if not seen["result"]["value"]:
            self.click("DisclosureTriangle", name)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Send one event of the mouse."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def middle(self, node: int) -> tuple[float, float]:
        """Return the middle of something, which is brought into view."""
        self.send("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
        quads = self.send("DOM.getContentQuads", backendNodeId=node)["quads"]
        if not quads:  # it is in the page, and not yet drawn, or no longer
            raise RuntimeError("it has no place")
        quad = quads[0]
        return sum(quad[0::2]) / 4, sum(quad[1::2]) / 4

    def property(self, node: int, name: str) -> Any:
        """Return a property of an element."""
        made = self.send("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        done = self.send(
            "Runtime.callFunctionOn", objectId=made, returnByValue=True,
            functionDeclaration=f"function() {{ return this[{json.dumps(name)}] }}",
        )  # fmt: skip
        return done["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        code, text = _KEYS[key]
        kind = "keyDown" if text else "rawKeyDown"
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", type=kind, **common, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def choose(self, name: str, option: str) -> None:
        """Choose from a list by the beginning of a choice. Its menu is the browser's own, not the page's."""
        self.send("DOM.focus", backendNodeId=self.node("combobox", name))
        found = self.run(
            f"""(() => {{
              const list = document.activeElement;
              const wanted = [...list.options].findIndex((one) => one.text.startsWith({json.dumps(option)}));
              if (wanted < 0) return [...list.options].map((one) => one.text);
              list.selectedIndex = wanted;
              list.dispatchEvent(new Event("change", {{ bubbles: true }}));
              return null;
            }})()"""
        )
        assert found is None, f"“{name}” has no choice “{option}”, but {found}"

    def arrow_to(self, option: str, most: int = 20) -> None:
        """Press the arrow keys until the list that has the focus shows a choice."""
        chosen = "document.activeElement.selectedOptions[0].text"
        for key in ("ArrowUp", "ArrowDown"):
            for _ in range(most):
                if str(self.run(chosen)).startswith(option):
                    return
                self.press(key)
        raise NotSeen(f"the arrow keys do not come to “{option}”")

    def write(self, role: str, name: str, text: str) -> None:
        """Replace what a field says, and leave it."""
        self.send("DOM.focus", backendNodeId=self.node(role, name))
        self.run("document.activeElement.select()")
        self.send("Input.insertText", text=text)
        self.press("Tab")

    def focused(self) -> tuple[str, str]:
        """Return role and name of what has the focus."""
        made = self.send("Runtime.evaluate", expression="document.activeElement")["result"]["objectId"]
        nodes = self.send("Accessibility.getPartialAXTree", objectId=made, fetchRelatives=False)["nodes"]
        return str(nodes[0].get("role", {}).get("value", "")), str(nodes[0].get("name", {}).get("value", ""))

    def tab_to(self, role: str, name: str, most: int = 250) -> None:
        """Press Tab until something has the focus."""
        self.node(role, name)
        passed: list[str] = []
        for _ in range(most):
            found, title = self.focused()
            if found == role and title.startswith(name):
                return
            passed.append(f"{found} {title}")
            self.press("Tab")
        raise NotSeen(f"Tab never comes to {role} “{name}”, but to {passed}")

    def close(self) -> None:
        """Close the tab."""
        self._browser.send("Target.closeTarget", targetId=self._target)


@contextmanager
def chromium(program: str, profile: Path, *options: str) -> Iterator[Chromium]:
    """Start a browser and end it."""
    browser = Chromium(program, profile, *options)
    try:
        yield browser
    finally:
        browser.close()
