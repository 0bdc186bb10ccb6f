"""Tests of scripts/piglit with programs that stand in for piglit and glxinfo."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/piglit"
PIGLIT = """#!/usr/bin/env python3
import bz2, json, os, pathlib, sys
if sys.argv[1] == "print-cmd":
    print("spec@texwrap 2d\\nspec@texdepth\\nspec@blending\\nspec@multisample depth")
    sys.exit()
tests = pathlib.Path(sys.argv[sys.argv.index("--test-list") + 1]).read_text().split("\\n")[:-1]
layers = os.environ.get("VK_INSTANCE_LAYERS", "")
samplin, validation = "samplin" in layers, "validation" in layers
if samplin and not os.environ.get("FAKE_UNLOADED"):
    path = pathlib.Path(os.environ["SAMPLIN_TRACE"].replace("%e", "fake").replace("%p", str(os.getpid())))
    path.write_text('{"event":"layer"}\\n{"event":"pair","changes":[{"rule":"linear-filter"}]}\\n')
state = pathlib.Path(os.environ["FAKE_STATE"])
worse = samplin and os.environ.get("FAKE_WORSE")
if worse == "once":
    worse = not state.exists()
    state.touch()
result = {name: {"result": "pass", "subtests": {}, "out": "", "err": ""} for name in tests}
if "spec@texwrap 2d" in result:
    result["spec@texwrap 2d"]["subtests"] = {"__type__": "Subtests", "repeat": "pass", "clamp": "fail" if worse else "pass"}
    if os.environ.get("FAKE_BETTER") and not samplin:
        result["spec@texwrap 2d"]["subtests"]["repeat"] = "crash"
report = "Validation Error: [ VUID-vkCmdDraw-magFilter-04553 ] see VUID-vkCmdDraw-magFilter-04553"
if validation and (not samplin or os.environ.get("FAKE_REPORTS")):
    result["spec@texdepth"]["out"] = report
if validation and samplin and os.environ.get("FAKE_NEW"):
    result["spec@texdepth"]["out"] = report.replace("04553", "00000")
out = pathlib.Path(sys.argv[-1])
out.mkdir(parents=True)
with bz2.open(out / "results.json.bz2", "wt") as file:
    json.dump({"tests": result}, file)
"""
GLXINFO = """#!/bin/sh
echo "OpenGL renderer string: ${FAKE_RENDERER:-zink (fake)}"
"""


VULKANINFO = """#!/bin/sh
echo "driverName = llvmpipe"
echo "driverInfo = Mesa 22.3.6 (fake)"
"""


@unittest.skipUnless(shutil.which("Xvfb"), "Xvfb is not installed")
class Piglit(unittest.TestCase):
    """Two tests are chosen from four; one has subtests."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-piglit-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("piglit", PIGLIT), ("glxinfo", GLXINFO), ("vulkaninfo", VULKANINFO)):
            program = self.folder / name
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)

    def assert_ends(self, expected, *texts, arguments=(), **fake):
        names = {key: value for key, value in os.environ.items() if not key.startswith(("VK_", "SAMPLIN_", "FAKE_"))}
        names |= {f"FAKE_{key.upper()}": value for key, value in fake.items()}
        names |= {"PATH": f"{self.folder}:{names['PATH']}", "FAKE_STATE": str(self.folder / "state")}
        command = [SCRIPT, "--out", self.folder / "out", "--expectations", self.folder / "lists", *arguments]
        done = subprocess.run(command, env=names, capture_output=True, text=True, timeout=120, check=False)
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, expected, output)
        for text in texts:
            self.assertIn(text, output)

    def test_no_difference(self):
        self.assert_ends(0, "without  2 tests: 3 pass", "changes  1 linear-filter", "0 of 4 results worse, 0 once, 0 worse as listed, 0 better")

    def test_worse(self):
        self.assert_ends(1, "worse: spec@texwrap 2d@@clamp: pass without, fail with; repeated: pass, fail", "1 of 4", worse="always")

    def test_worse_once(self):
        self.assert_ends(0, "repeated: pass, pass", "0 of 4 results worse, 1 once", worse="once")

    def test_worse_as_listed(self):
        (self.folder / "lists").mkdir()
        (self.folder / "lists/lavapipe-22-worse.txt").write_text("# why\nspec@texwrap 2d@@clamp\n", encoding="utf-8")
        self.assert_ends(0, "driver   lavapipe-22", "0 of 4 results worse, 0 once, 1 worse as listed", worse="always")
        self.assert_ends(1, "listed as worse, and is not: spec@texwrap 2d@@clamp", "0 worse as listed")

    def test_results_are_reused(self):
        self.assert_ends(1, "1 of 4 results worse", worse="always")
        self.assert_ends(1, "1 of 4 results worse", arguments=["--reuse"])

    def test_better(self):
        self.assert_ends(0, "better: spec@texwrap 2d@@repeat: crash without, pass with", "1 better", better="1")

    def test_not_through_zink(self):
        self.assert_ends(4, "does not go through zink but through llvmpipe", renderer="llvmpipe")

    def test_layer_not_loaded(self):
        self.assert_ends(4, "it was not loaded", unloaded="1")

    def test_reports_disappear(self):
        validated = ("validated without: 1 tests; VUID-vkCmdDraw-magFilter-04553: 1 in 1 tests", "validated with: 1 tests; no report")
        self.assert_ends(0, *validated, arguments=["--only-validate"])

    def test_new_reports(self):
        self.assert_ends(1, "reported only with the layer: VUID-vkCmdDraw-magFilter-00000", arguments=["--validate"], new="1")


if __name__ == "__main__":
    unittest.main()
