"""Tests of scripts/cts with a program that stands in for the CTS: it must notice what it is there for."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "scripts/cts"
CASES = [f"dEQP-VK.texture.case_{number}" for number in range(20)]


class Cts(unittest.TestCase):
    """One folder, one list of cases, one run."""

    runner = "own"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-cts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.list = self.folder / "cases.txt"
        self.list.write_text("\n".join(CASES) + "\n", encoding="utf-8")
        (self.folder / "lists").mkdir()
        self.ran = self.folder / "ran"

    def expect(self, kind, *lines):
        """Writes a list of expectations."""
        (self.folder / f"lists/fake-{kind}.txt").write_text("# a comment\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def run_script(self, *arguments, listed=True, **fake):
        """Runs the script; `fake` are the variables of the program. Returns exit status and output."""
        names = {key: value for key, value in os.environ.items() if not key.startswith(("VK_", "SAMPLIN_", "FAKE_"))}
        names |= {f"FAKE_{key.upper()}": str(value) for key, value in fake.items()}
        names |= {"FAKE_STATE": str(self.folder / "state"), "FAKE_RAN": str(self.ran)}
        command = [SCRIPT, "--deqp", HERE / "fake-deqp", "--driver", "fake", "--runner", self.runner, "--timeout", "5"]
        command += ["--out", self.folder / "out", "--expectations", self.folder / "lists", "--jobs", "2"]
        if listed:
            command += ["--list", self.list]
        done = subprocess.run(command + list(arguments), env=names, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_ends(self, expected, status_and_output, *texts):
        status, output = status_and_output
        self.assertEqual(status, expected, output)
        for text in texts:
            self.assertIn(text, output)

    def runs(self):
        """How many cases the program has run."""
        return len(self.ran.read_text(encoding="utf-8").splitlines())

    def test_no_difference(self):
        self.assert_ends(0, self.run_script(), "0 of 20 cases differ", "changes  none")
        self.assertEqual(self.runs(), 40)

    def test_regression(self):
        self.assert_ends(
            1,
            self.run_script(regression=CASES[7]),
            f"differs: {CASES[7]}: Pass without, Fail with (the same when repeated)",
            "1 of 20 cases differ",
        )

    def test_crash(self):
        self.assert_ends(
            1, self.run_script(crash=CASES[7]), f"differs: {CASES[7]}: Pass without, Crash with", "1 of 20 cases differ"
        )

    def test_hang(self):
        self.assert_ends(1, self.run_script(hang=CASES[7]), f"differs: {CASES[7]}: Pass without, Timeout with")

    def test_layer_not_loaded(self):
        self.assert_ends(4, self.run_script(unloaded=1), "it was not loaded")

    def test_changes_are_counted(self):
        self.assert_ends(0, self.run_script(changed=CASES[3]), "changes  1 linear-filter")

    def test_a_shader_that_is_not_read(self):
        self.assert_ends(1, self.run_script(unreadable=CASES[3]), "shader that was not read: no words", "changes  none", "1 shaders were not read")

    def test_unlisted_failure(self):
        self.assert_ends(1, self.run_script(failing=CASES[2]), f"unexpected: {CASES[2]}: Fail", "0 of 20 cases differ")

    def test_listed_failure(self):
        self.expect("fails", f"{CASES[2]},Fail")
        self.assert_ends(0, self.run_script(failing=CASES[2]), "0 unexpected")

    def test_listed_failure_that_passes(self):
        self.expect("fails", f"{CASES[2]},Fail")
        self.assert_ends(1, self.run_script(), f"unexpected: {CASES[2]}: Pass")

    def test_malformed_list(self):
        self.expect("fails", CASES[2])
        self.assert_ends(3, self.run_script(), "not CASE,RESULT")

    def test_unknown_name(self):
        self.list.write_text("\n".join([*CASES[:9], "dEQP-VK.texture.unknown", *CASES[9:]]) + "\n", encoding="utf-8")
        self.assert_ends(
            1,
            self.run_script(),
            "did not run: dEQP-VK.texture.unknown",
            "0 of 20 cases differ, 0 flakes, 0 unexpected, 1 did not run twice",
        )
        self.assertEqual(self.runs(), 40)

    def test_unknown_name_beside_a_crash(self):
        self.list.write_text("\n".join(["dEQP-VK.texture.unknown", *CASES]) + "\n", encoding="utf-8")
        self.assert_ends(
            1,
            self.run_script(crash=CASES[19]),
            f"differs: {CASES[19]}: Pass without, Crash with",
            "1 of 20 cases differ, 0 flakes, 0 unexpected, 1 did not run twice",
        )

    def test_only_unknown_names(self):
        self.list.write_text("a.unknown\nb.unknown\n", encoding="utf-8")
        self.assert_ends(1, self.run_script(), "0 of 0 cases differ", "2 did not run twice")

    def test_program_that_runs_nothing(self):
        self.assert_ends(4, self.run_script(broken=1), "ran no")

    def test_skips(self):
        self.expect("skips", "*.case_1?")
        self.assert_ends(0, self.run_script(regression=CASES[12]), "cases    10 of 20", "10 skipped", "0 of 10 cases differ")

    def test_shards_are_disjoint_and_complete(self):
        for part in (1, 2, 3):
            self.assert_ends(0, self.run_script("--shard", f"{part}/3", "--out", self.folder / f"out{part}"))
        names = sorted(line.split()[1] for line in self.ran.read_text(encoding="utf-8").splitlines())
        self.assertEqual(names, sorted(CASES * 2))
        self.assert_ends(2, self.run_script("--shard", "4/3"))

    def test_resumes(self):
        self.assert_ends(0, self.run_script("--shard", "1/2"))
        before = self.runs()
        self.assert_ends(0, self.run_script(), "10 from an earlier run")
        self.assertEqual(self.runs() - before, 20)
        self.assert_ends(0, self.run_script("--fresh"), "0 from an earlier run")

    def test_cut_short(self):
        # No time at all: nothing may count as compared.
        self.assert_ends(1, self.run_script("--limit", "0.000001"), "20 did not run twice")

    def test_only_what_is_worse(self):
        # What passes with the layer need not run without it.
        passed = "20 with, which did not run without"
        self.assert_ends(0, self.run_script("--worse"), passed, "0 of 20 cases differ", "0 did not run twice")
        self.assertEqual(self.runs(), 20)
        differs = f"differs: {CASES[7]}: Pass without, Fail with (the same when repeated)"
        regressed = self.run_script("--worse", "--fresh", regression=CASES[7])
        self.assert_ends(1, regressed, differs, "1 of 20 cases differ")
        cut_short = self.run_script("--worse", "--fresh", "--limit", "0.000001")
        self.assert_ends(1, cut_short, "20 did not run twice")

    def test_results_are_lines_for_the_export(self):
        self.run_script("--shard", "2/2", regression=CASES[7])
        text = (self.folder / "out/fake/cases.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([line["case"] for line in lines], CASES[1::2])
        by_case = {line["case"]: line for line in lines}
        self.assertEqual(
            {key: by_case[CASES[7]][key] for key in ("event", "device", "without", "with", "verdict", "shard")},
            {"event": "case", "device": "fake", "without": "Pass", "with": "Fail", "verdict": "different", "shard": "2/2"},
        )
        self.assertEqual(by_case[CASES[1]]["verdict"], "same")

    def test_changes_keep_whose_they_are(self):
        self.run_script(changed=CASES[3])
        text = (self.folder / "out/fake/changes.jsonl").read_text(encoding="utf-8")
        events = [json.loads(line)["event"] for line in text.splitlines()]
        self.assertEqual(events, ["layer", "pair"])

    def test_default_groups(self):
        self.assert_ends(0, self.run_script(listed=False), "cases    3 of 3")

    def test_unusable_program(self):
        self.assert_ends(3, self.run_script("--deqp", self.folder), "neither a program nor a folder")


class CtsWithOwnRunner(Cts):
    """What deqp-runner does by itself, running failures again, this script does only for its own processes."""

    def test_unsteady_difference(self):
        self.assert_ends(1, self.run_script(flake=CASES[5]), f"differs: {CASES[5]}")

    def test_flakes(self):
        self.expect("flakes", CASES[5])
        self.assert_ends(0, self.run_script(flake=CASES[5]), f"flake: {CASES[5]}", "0 of 20 cases differ, 1 flakes")


@unittest.skipUnless(shutil.which("deqp-runner"), "deqp-runner is not installed")
class CtsWithDeqpRunner(Cts):
    """The same with deqp-runner."""

    runner = "deqp-runner"


# Stands in for deqp-runner: a case passes, but under the layer one that is listed as a flake is seen to be one.
RUNNER = """#!/usr/bin/env python3
import json, os, pathlib, re, sys
options = dict(argument.split("=", 1) for argument in sys.argv if argument.startswith("--") and "=" in argument)
out = pathlib.Path(options["--output"])
out.mkdir()
layer = "VK_INSTANCE_LAYERS" in os.environ
if layer:
    pathlib.Path(os.environ["SAMPLIN_TRACE"].replace("%p", "1")).write_text('{"seq":0,"event":"layer"}\\n')
flakes = pathlib.Path(options["--flakes"]).read_text().split() if "--flakes" in options else []
with open(out / "results.csv", "w") as file:
    for case in pathlib.Path(options["--caselist"]).read_text().split():
        flake = layer and any(re.search(flake, case) for flake in flakes)
        file.write(f"{case},{'Flake' if flake else 'Pass'},0.1\\n")
"""


class ListsForDeqpRunner(unittest.TestCase):
    """What is handed to deqp-runner, and what is made of its results."""

    def test_flakes_are_handed_down_and_do_not_differ(self):
        test = CtsWithOwnRunner("test_flakes")
        test.setUp()
        self.addCleanup(test.doCleanups)
        test.runner = "deqp-runner"
        program = test.folder / "bin/deqp-runner"
        program.parent.mkdir()
        program.write_text(RUNNER, encoding="utf-8")
        program.chmod(0o755)
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = f"{program.parent}:{before}"
        test.assert_ends(0, test.run_script(), "0 of 20 cases differ, 0 flakes")
        # One dot is no pattern: the names are taken literally but for * and ?.
        test.expect("flakes", "dEQP-VK.texture.case_1?", "dEQP-VKxtexture.case_2")
        test.assert_ends(0, test.run_script("--fresh"), "0 of 20 cases differ, 10 flakes", f"flake: {CASES[10]}")
        lines = (test.folder / "out/fake/cases.jsonl").read_text(encoding="utf-8").splitlines()
        verdicts = [json.loads(line)["verdict"] for line in lines]
        self.assertEqual(verdicts, ["same"] * 10 + ["flake"] * 10)


del Cts

if __name__ == "__main__":
    unittest.main()
