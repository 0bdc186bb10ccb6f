"""Tests of how scripts/lib.sh waits for the package manager, with a program that stands in for apt-get."""

import os
import pathlib
import subprocess
import tempfile
import unittest

LIB = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/lib.sh"
# Says what apt-get says, as often as the file `held` has lines.
FAKE = """#!/usr/bin/env bash
echo "$*" >>"$FAKE_FOLDER/calls"
if [[ -s $FAKE_FOLDER/held ]]; then
    sed -i 1d "$FAKE_FOLDER/held"
    echo "E: Could not get lock /var/lib/$FAKE_LOCK. It is held by process 4711 (other)" >&2
    exit 100
fi
if [[ -n ${FAKE_BROKEN:-} ]]; then
    echo "E: Unable to locate package" >&2
    exit 100
fi
echo done
"""


class Apt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-apt-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = self.folder / "apt-get"
        program.write_text(FAKE, encoding="utf-8")
        program.chmod(0o755)

    def run_script(self, command, held=0, patience="30", **fake):
        (self.folder / "held").write_text("x\n" * held, encoding="utf-8")
        names = os.environ | {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "FAKE_FOLDER": str(self.folder),
            "FAKE_LOCK": "apt/lists/lock",
            "SAMPLIN_APT_PAUSE": "0.01",
            "SAMPLIN_APT_PATIENCE": patience,
        }
        names |= {f"FAKE_{key.upper()}": value for key, value in fake.items()}
        script = f'set -euo pipefail; source "{LIB}"; {command}'
        done = subprocess.run(["bash", "-c", script], env=names, capture_output=True, text=True, timeout=60, check=False)
        calls = self.folder / "calls"
        return done, calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def test_a_held_lock_is_waited_for(self):
        for lock in ("apt/lists/lock", "dpkg/lock-frontend"):
            with self.subTest(lock):
                (self.folder / "calls").unlink(missing_ok=True)
                done, calls = self.run_script("apt_get update", held=3, lock=lock)
                self.assertEqual((done.returncode, len(calls)), (0, 4), done.stderr)
                self.assertEqual(done.stderr.count("waiting for another program"), 1, done.stderr)
                self.assertIn(f"{lock}. It is held by process 4711 (other)", done.stderr)

    def test_what_is_missing_is_installed_all_the_same(self):
        if os.geteuid() != 0:
            self.skipTest("only root installs packages")
        done, calls = self.run_script("want no-such-package thing false; install_missing", held=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["-q update"] * 2 + ["-q install -y --no-install-recommends no-such-package"])

    def test_waiting_has_an_end(self):
        done, calls = self.run_script("apt_get update", held=3, patience="0")
        self.assertEqual((done.returncode, len(calls)), (100, 1), done.stderr)
        self.assertIn("Could not get lock", done.stderr)

    def test_another_error_is_not_waited_for(self):
        done, calls = self.run_script("apt_get install x", broken="1")
        self.assertEqual((done.returncode, len(calls)), (100, 1), done.stderr)
        self.assertNotIn("waiting", done.stderr)

    def test_nothing_is_said_where_nothing_is_held(self):
        done, calls = self.run_script("apt_get update")
        self.assertEqual((done.returncode, calls, done.stdout), (0, ["-q update"], ""))
        self.assertNotIn("waiting", done.stderr)


if __name__ == "__main__":
    unittest.main()
