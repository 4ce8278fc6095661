"""What the Python client shares with no SDK: starting the program, and the count of the steps."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

MANAGER = "agent:manager"
WORKER = "agent:worker"
KEYS = {MANAGER: "key-of-the-manager-0123456789", WORKER: "key-of-the-worker-0123456789"}

# Longer than the whole flow takes; shorter than a person waits.
RUN_SECONDS = 180
START_SECONDS = 30
STOP_SECONDS = 10

_passed = 0
_failed = 0
_running = []


def program():
    """The program under test."""
    path = os.environ.get("BAILIWICK_BIN")
    if not path:
        sys.exit("BAILIWICK_BIN names the program under test")
    return path


async def step(title, run):
    """Counts one step; false when it failed."""
    global _passed, _failed
    try:
        await run()
    except Exception:
        _failed += 1
        print(f"FAILED: {title}\n{traceback.format_exc()}", flush=True)
        return False
    _passed += 1
    print(f"ok: {title}", flush=True)
    return True


def finish():
    """Prints the count as the last line and ends the process, with 1 if a step failed."""
    for process in _running:
        process.kill()
    print(f"{_passed} passed, {_failed} failed", flush=True)
    os._exit(0 if _failed == 0 else 1)


def give_up_after(seconds):
    """Ends the process as failed when it takes longer than this."""

    def give_up():
        global _failed
        _failed += 1
        print(f"FAILED: not done after {seconds} s", flush=True)
        finish()

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def folder():
    """A fresh folder, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="bailiwick-clients-") as path:
        yield pathlib.Path(path)


class Server:
    """`bailiwick serve` on a free port, with a key for each agent."""

    def __init__(self, path):
        keys = path / "keys.json"
        keys.write_text(json.dumps({"keys": {key: agent for agent, key in KEYS.items()}}))
        keys.chmod(0o600)
        command = [program(), "serve", "--store", f"sqlite:{path / 'desk.db'}", "--port", "0", "--keys", str(keys)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        _running.append(self._process)
        self._said = []
        self._origin = None
        self._heard = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        if not self._heard.wait(START_SECONDS) or self._origin is None:
            self._process.kill()
            raise AssertionError("the server gave no address, it said:\n" + "".join(self._said))

    def _listen(self):
        for line in self._process.stdout:
            self._said.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found and self._origin is None:
                self._origin = found.group()
                self._heard.set()
        self._heard.set()

    @property
    def url(self):
        """Where the MCP endpoint is."""
        return f"{self._origin}/mcp"

    def stop(self):
        """Asks it to end, and insists that it does so cleanly."""
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError("the server did not end when asked to") from None
        assert code == 0, f"the server ended with {code}"
