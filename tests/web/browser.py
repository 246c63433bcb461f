# SPDX-License-Identifier: Apache-2.0
"""A browser for tests: Debian's Chromium with its driver, and Selenium and axe-core from PyPI. Those two are
looked for in this interpreter, then in a virtual environment in the build folder, which is made on the
first call where pip finds them; where something is missing the test is skipped, and says what."""

import base64
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

PACKAGES = ["selenium>=4.10,<5", "axe-core-python==0.1.0"]
MODULES = ["selenium", "axe_core_python"]
READY = "const m = document.getElementById('main'); return m && m.dataset.ready === '1' && !m.dataset.later"
QUIET = "const s = document.getElementById('tl-status'); return !s || s.dataset.waiting === '0'"


def missing(folder: pathlib.Path) -> str:
    """Why there is no browser; '' where there is one. May start this script again in an environment in `folder`."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not here (Debian: chromium, chromium-driver)"
    if all(importlib.util.find_spec(name) for name in MODULES):
        return ""
    python = folder / "bin/python"
    if pathlib.Path(sys.prefix) == folder:
        return "selenium and axe-core-python are not here"
    if not (folder / "complete").exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode == 0:
            made = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], capture_output=True, text=True)
        if made.returncode:
            return "pip cannot get selenium and axe-core-python"
        (folder / "complete").touch()
    os.execv(python, [str(python), *sys.argv])


class Browser:
    """One window. `width` and `height` in CSS pixels."""

    def __init__(self, shots: pathlib.Path, width=1280, height=800):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        options.binary_location = shutil.which("chromium")
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(word)
        options.add_argument(f"--window-size={width},{height}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.shots = shots
        self.size(width, height)

    def close(self):
        self.driver.quit()

    def js(self, code, *words):
        return self.driver.execute_script(code, *words)

    def cdp(self, command, **words):
        return self.driver.execute_cdp_cmd(command, words)

    def size(self, width, height, scale=1):
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def media(self, **features):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])

    def wait(self, code, what, seconds=30):
        """Until the script returns what is true; what it returned."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.js(code)
            if value:
                return value
            time.sleep(0.03)
        raise TimeoutError(f"waited {seconds} s for {what} at {self.driver.current_url}")

    def open(self, base, page):
        """Loads the page again, until it is whole."""
        self.driver.get("about:blank")
        self.driver.get(base + page)
        self.wait(READY, "the page")
        self.wait(QUIET, "its tiles")

    def shot(self, name):
        """Keeps the whole page, up to 5000 pixels, for a person to look at."""
        height = min(5000, self.js("return document.documentElement.scrollHeight"))
        width = self.js("return innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        self.shots.mkdir(parents=True, exist_ok=True)
        (self.shots / f"{name}.png").write_bytes(base64.b64decode(data))

    def errors(self):
        """What the page complained of since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def axe(self):
        """Breaches of WCAG 2.2 AA that axe-core finds, each with a place."""
        import axe_core_python

        if not self.js("return Boolean(window.axe)"):
            source = next(pathlib.Path(axe_core_python.__file__).parent.rglob("axe.min.js"))
            self.js(source.read_text())
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        options = json.dumps({"runOnly": tags, "resultTypes": ["violations"]})
        self.driver.set_script_timeout(60)
        found = self.driver.execute_async_script(
            f"const done = arguments[0]; axe.run(document, {options}).then(r => done(r.violations), e => done(String(e)))"
        )
        return [f"{v['id']}: {v['nodes'][0]['html'][:160]} {v['nodes'][0]['failureSummary'][:200]}" for v in found]

    def key(self, *keys):
        """Keys to what has the focus: one character, or a name of Selenium's Keys."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(getattr(Keys, key) if len(key) > 1 else key).perform()

    def type(self, text):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver, duration=0).send_keys(text).perform()

    def text(self, selector):
        return self.js("const n = document.querySelector(arguments[0]); return n && n.textContent", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)
