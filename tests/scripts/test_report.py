"""Tests of scripts/test-report: skips that are listed, that are not, and lists that say too much."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.sax.saxutils

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/test-report"


def junit(*cases):
    """A file as cargo-nextest writes it; a case is its program, its name, what it printed and whether it failed."""
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="nextest-run"><testsuite name="samplin">\n'
    for program, name, said, failed in cases:
        text += f'<testcase name={xml.sax.saxutils.quoteattr(name)} classname="samplin::{program}">'
        text += '<failure type="test failure">failed</failure>' if failed else ""
        text += f"<system-out>{xml.sax.saxutils.escape(said)}</system-out></testcase>\n"
    return text + "</testsuite></testsuites>\n"


def records(*cases):
    """The same from a program that copies itself for each test."""
    keys = ("program", "test", "output", "failed")
    return "".join(json.dumps(dict(zip(keys, case, strict=True))) + "\n" for case in cases)


def case(name, *reasons, program="e2e", failed=False):
    return program, name, "running 1 test\n" + "".join(f"\nSKIP: {reason}\n" for reason in reasons) + "ok\n", failed


PASSED = case("plain")
SKIPPED = case("borders/custom", "the device lacks customBorderColors [1, 2]")
LISTED = "e2e borders/custom, the device lacks customBorderColors [1, 2]"


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-report-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, content, *lines, shared=(), arguments=(), name="driver.xml"):
        """Runs the script on one report. Returns exit status and output."""
        (self.folder / "lists").mkdir(exist_ok=True)
        (self.folder / "lists/driver.txt").write_text("# a comment\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
        (self.folder / "lists/environment.txt").write_text("\n".join(shared) + "\n", encoding="utf-8")
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        command = [SCRIPT, "--lists", self.folder / "lists", *arguments, path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_ends(self, expected, status_and_output, *texts):
        status, output = status_and_output
        self.assertEqual(status, expected, output)
        for text in texts:
            self.assertIn(text, output)

    def test_listed(self):
        self.assert_ends(0, self.report(junit(PASSED, SKIPPED), LISTED), "1 passed, 0 failed, 1 skipped")
        self.assert_ends(0, self.report(junit(PASSED, SKIPPED), shared=[LISTED]), "1 passed, 0 failed, 1 skipped")

    def test_several_files_of_a_run(self):
        (self.folder / "driver.xml").write_text(junit(PASSED), encoding="utf-8")
        arguments = ["--whole", self.folder / "driver.xml"]
        name = "driver.e2e.jsonl"
        self.assert_ends(0, self.report(records(SKIPPED), LISTED, arguments=arguments, name=name), "1 passed, 0 failed, 1 skipped")
        self.assert_ends(1, self.report(records(SKIPPED), arguments=arguments, name=name), "driver: skip that is not listed")
        failed = records(case("borders/custom", failed=True))
        self.assert_ends(1, self.report(failed, LISTED, arguments=arguments, name=name), "1 passed, 1 failed, 0 skipped")
        self.assert_ends(3, self.report(records(SKIPPED)[:9], LISTED, arguments=arguments, name=name), name)

    def test_unlisted(self):
        self.assert_ends(1, self.report(junit(PASSED, SKIPPED)), f"driver: skip that is not listed: {LISTED}\n")

    def test_stale(self):
        ran = junit(PASSED, case("borders/custom"))
        self.assert_ends(1, self.report(ran, LISTED), "no longer skips: e2e borders/custom (driver.txt:3", "2 passed")

    def test_another_reason_is_another_skip(self):
        ran = junit(PASSED, case("borders/custom", "no loader"))
        self.assert_ends(1, self.report(ran, LISTED), "not listed: e2e borders/custom, no loader", "no longer skips")

    def test_one_part_of_several(self):
        ran = junit(PASSED, case("every_path", "Push: no", "Heap: no"))
        first, second = "e2e every_path, Push: no", "e2e every_path, Heap: no"
        self.assert_ends(0, self.report(ran, first, second))
        self.assert_ends(1, self.report(ran, first), f"not listed: {second}")
        self.assert_ends(1, self.report(ran, first, second, "e2e every_path, Copy: no"), "no longer skips")

    def test_the_list_of_another_driver(self):
        self.assert_ends(1, self.report(junit(PASSED, SKIPPED), LISTED, name="other.xml"), "not listed")

    def test_a_filter_selects_other_tests(self):
        self.assert_ends(0, self.report(junit(PASSED), LISTED), "1 passed, 0 failed, 0 skipped")
        self.assert_ends(1, self.report(junit(PASSED), LISTED, arguments=["--whole"]), "no test of this name ran: driver.txt:3")
        self.assert_ends(0, self.report(junit(PASSED, SKIPPED), LISTED, arguments=["--whole"]))

    def test_patterns(self):
        ran = junit(PASSED, case("a/1", "llvmpipe (1) filters"), case("a/2", "llvmpipe (2) filters"))
        self.assert_ends(0, self.report(ran, "e2e a/?, llvmpipe (*) filters"))
        self.assert_ends(1, self.report(ran, "e2e a/?, llvmpipe"), "not listed")
        # All that it matches have to skip.
        self.assert_ends(1, self.report(ran, "e2e *, llvmpipe (*) filters"), "no longer skips: e2e plain")

    def test_conditions(self):
        lines = ["if root: e2e a, only without root", "if not root: e2e a, only with root"]
        held, other = ("only without root", "only with root")
        if os.geteuid() != 0:
            held, other = other, held
        self.assert_ends(0, self.report(junit(PASSED, case("a", held)), shared=lines, arguments=["--whole"]))
        self.assert_ends(1, self.report(junit(PASSED, case("a", other)), shared=lines), "not listed", "no longer skips")
        both = ["if root and not root: e2e a, never"]
        self.assert_ends(0, self.report(junit(PASSED, case("a")), shared=both, arguments=["--whole"]))
        self.assert_ends(3, self.report(junit(PASSED), shared=["if raining: e2e a, wet"]), "no condition: raining")

    def test_a_failure_is_told_once(self):
        ran = junit(PASSED, case("borders/custom", failed=True))
        status, output = self.report(ran, LISTED)
        self.assertEqual((status, "no longer" in output), (1, False), output)

    def test_nothing_ran(self):
        self.assert_ends(1, self.report(junit()), "0 passed")
        self.assert_ends(1, self.report(junit(SKIPPED), LISTED), "0 passed")

    def test_unreadable(self):
        self.assert_ends(3, self.report("<"))
        self.assert_ends(3, self.report(junit(PASSED), "e2e only-a-name"), "not PROGRAM TEST, REASON")

    def test_output_of_cargo_test(self):
        text = """\
   Compiling samplin v0.1.0
     Running unittests src/lib.rs (target/debug/deps/VkLayer_samplin-0123456789abcdef)

running 2 tests
test decide::one ... ok
test decide::left ... ignored, slow

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/e2e/main.rs (target/debug/deps/e2e-0123456789abcdef)

running 2 tests
test borders/custom ...\x20
SKIP: no
ignored
test plain          ... ok

     Running tests/settings.rs (target/debug/deps/settings-0123456789abcdef)

running 2 tests
test rights ... ok
test other ... FAILED

successes:

---- rights stdout ----

SKIP: only root
"""
        status, output = self.report(text, name="driver.log")
        self.assertEqual(status, 1)
        self.assertIn("driver: 2 passed, 1 failed, 3 skipped", output)
        for name in ("VkLayer_samplin decide::left, ignored", "e2e borders/custom, no", "settings rights, only root"):
            self.assertIn(f"not listed: {name}\n", output)
        lines = ["VkLayer_samplin decide::left, ignored", "e2e borders/custom, no", "settings rights, only root"]
        text = text.replace("test other ... FAILED", "test other ... ok")
        self.assert_ends(0, self.report(text, *lines, name="driver.log", arguments=["--whole"]), "3 passed, 0 failed, 3 skipped")

    def test_output_of_unittest(self):
        text = """\
test_one (test_cts.Own.test_one) ... ok
test_two (test_cts.Own.test_two)
What it is about. ... ok
test_three (test_cts.Runner.test_three) ... skipped 'deqp-runner is not installed'
"""
        listed = "test_cts Runner.*, deqp-runner is not installed"
        self.assert_ends(1, self.report(text, name="driver.unittest"), "not listed: test_cts Runner.test_three, deqp-runner")
        self.assert_ends(0, self.report(text, listed, name="driver.unittest"), "2 passed, 0 failed, 1 skipped")
        self.assert_ends(1, self.report(text.replace("test_one) ... ok", "test_one) ... FAIL"), listed, name="driver.unittest"))

    def test_skips_of_steps(self):
        skips = self.folder / "driver.skips"
        skips.write_text("steps dependencies, cargo-deny is not installed\n", encoding="utf-8")
        self.assert_ends(1, self.report(junit(PASSED), arguments=[skips]), "driver: skip that is not listed: steps dependencies")


if __name__ == "__main__":
    unittest.main()
