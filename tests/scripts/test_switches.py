"""Tests of how scripts/switches judges a run: by its exit status, by what was repaired, and by its modules."""

import pathlib
import shutil
import struct
import tempfile
import unittest

from loaded import load

switches = load("switches")
# A header, OpCapability Shader, OpMemoryModel Logical GLSL450: without entry points, which Vulkan does not take.
EMPTY = (0x07230203, 0x10000, 0, 1, 0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 1)


@unittest.skipUnless(shutil.which("spirv-val"), "spirv-val is not installed")
class Judging(unittest.TestCase):
    """What a run left behind."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-switches-")
        self.addCleanup(folder.cleanup)
        self.made = pathlib.Path(folder.name)

    def module(self, name, words):
        (self.made / name).write_bytes(struct.pack(f"<{len(words)}I", *words))

    def test_copies(self):
        (self.made / "1-0.set").touch()
        self.assertEqual(switches.judge("wgpu", "shadow", 0, self.made), ([], "0 modules read, 1 copies of sets, 0 views, 0 modules, 0 refused by spirv-val"))
        # A module is what the other switch is about.
        self.assertEqual(switches.judge("wgpu", "split", 0, self.made)[0], ["the switch did nothing"])

    def test_nothing_to_repair(self):
        self.assertEqual(switches.judge("vkcube", "shadow", 0, self.made)[0], [])
        self.assertEqual(switches.judge("separate", "shadow", 0, self.made)[0], ["the switch did nothing"])

    def test_a_module_that_is_wrong(self):
        self.module("1-0.spv", EMPTY)
        wrong, text = switches.judge("wgpu", "split", 0, self.made)
        self.assertIn("1 modules, 1 refused", text)
        self.assertRegex(wrong[0], r"1-0\.spv: error")

    def test_modules_that_are_the_same(self):
        self.module("1-0.spv", EMPTY)
        self.module("1-1.spv", EMPTY)
        self.module("2-0.read", EMPTY)
        # One of them is refused; what the application had is not looked at.
        self.assertIn("1 modules read, 0 copies of sets, 0 views, 2 modules, 1 refused", switches.judge("cts", "split", 0, self.made)[1])

    def test_exit_status(self):
        self.assertIn("exit status 101", switches.judge("vkcube", "split", 101, self.made)[0][0])


if __name__ == "__main__":
    unittest.main()
