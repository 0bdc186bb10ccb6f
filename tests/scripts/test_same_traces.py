"""Tests of scripts/same-traces with small traces: what may be different in every run, and everything else."""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

from loaded import SCRIPTS, load

SCRIPT = SCRIPTS / "same-traces"
# Settings as the layer writes them, all but one of no interest here.
SETTINGS = {"trace": {"value": "/one", "source": "environment"}, "mode": {"value": "legalize", "source": "default"}}
# Stands in for a program: says which layer it was given and how it is set up.
PROGRAM = """#!/bin/sh
echo "{\\"seq\\":0,\\"t_ns\\":1,\\"pid\\":1,\\"tid\\":1,\\"event\\":\\"$VK_INSTANCE_LAYERS $VK_LAYER_PATH\\",\\"level\\":\\"$SAMPLIN_TRACE_LEVEL\\",\\"device\\":\\"$SAMPLIN_DEVICE\\"}" \
    >"$SAMPLIN_TRACE"
echo "LAYER: Loading layer library ${2:-$VK_LAYER_PATH/./target/release/libVkLayer_samplin.so}"
exit "${1:-0}"
"""


def sampler(handle, **members):
    return {"event": "sampler", "sampler": handle, "state": {"magFilter": "VK_FILTER_LINEAR"}, "changes": []} | members


def pair(handle, view, **members):
    return {"event": "pair", "sampler": handle, "view": view, "format": "VK_FORMAT_R8_UINT", "changes": [], "variant": None} | members


class SameTraces(unittest.TestCase):
    """Two samplers, each with a view, and a device."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-same-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        change = {"field": "magFilter", "from": "VK_FILTER_LINEAR", "to": "VK_FILTER_NEAREST"}
        self.before = [
            {"event": "layer", "version": "0.1.0", "settings": SETTINGS},
            {"event": "device", "device": "llvmpipe", "limits": {"maxSamplerLodBias": 16.0}},
            sampler("0x10"),
            sampler("0x20"),
            pair("0x10", "0xa0", variant="0xb0", changes=[change]),
            pair("0x20", "0xa1"),
            {"event": "summary", "scope": "device", "device": "0xd0", "dropped": 0},
        ]
        self.after = copy.deepcopy(self.before)
        self.threads = [1]

    def write(self, name, records, pid=7):
        """Writes a trace. Records may bring members of their own that are different in every run."""
        lines = []
        for at, record in enumerate(records):
            tid = pid + at % len(self.threads)
            lines.append(json.dumps({"seq": at, "t_ns": at * pid, "pid": pid, "tid": tid} | record) + "\n")
        (self.folder / name).write_text("".join(lines), encoding="utf-8")

    def compare(self, *arguments):
        """Runs the script on the files. Returns exit status and output."""
        command = [SCRIPT, "--compare", self.folder / "before", self.folder / "after", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_ends(self, expected, *texts, arguments=()):
        self.write("before", self.before)
        self.write("after", self.after, pid=11)
        status, output = self.compare(*arguments)
        self.assertEqual(status, expected, output)
        for text in texts:
            self.assertIn(text, output)

    def test_what_is_different_in_every_run(self):
        self.assert_ends(0, "7 records, 0 differ")
        self.after[0] |= {"version": "0.2.0", "settings": SETTINGS | {"trace": {"value": "/other", "source": "file"}}}
        self.assert_ends(0)
        # Lines come in another order than their numbers, and a number can be left out.
        self.after = [record | {"seq": 2 * at} for at, record in enumerate(self.after)][::-1]
        self.assert_ends(0)

    def test_each_member_counts(self):
        self.after[0]["settings"] = SETTINGS | {"mode": {"value": "audit", "source": "default"}}
        self.assert_ends(1, '1 times layer.settings.mode.value: "legalize" -> "audit"', "record 0")
        self.after[0] = self.before[0]
        self.after[4]["changes"][0]["to"] = "VK_FILTER_CUBIC_EXT"
        self.assert_ends(1, "7 records, 1 differ", "pair.changes[].to: ", "process 0, record 4")
        self.after[4]["changes"] = []
        self.assert_ends(1, "pair.changes[]: {", "-> absent")
        self.after[4] = self.before[4]
        self.after[6]["more"] = None
        self.assert_ends(1, "summary.more: absent -> null")

    def test_kinds_of_values(self):
        for value in (16, True, None, "16.0"):
            self.after[1]["limits"]["maxSamplerLodBias"] = value
            self.assert_ends(1, "device.limits.maxSamplerLodBias: 16.0 -> ")

    def test_names_are_no_handles(self):
        self.after[1]["device"] = "SwiftShader"
        self.assert_ends(1, 'device.device: "llvmpipe" -> "SwiftShader"')

    def test_handles_have_other_values(self):
        text = json.dumps(self.after)
        for handle in ("10", "20", "a0", "a1", "b0", "d0"):
            text = text.replace(f'"0x{handle}"', f'"0x7f{handle}"')
        self.after = json.loads(text)
        self.assert_ends(0)
        # The second pair is about the first sampler.
        self.after[5]["sampler"] = self.after[4]["sampler"]
        self.assert_ends(1, "pair.sampler: ", "another object")

    def test_two_objects_are_not_one(self):
        self.after[5]["view"] = self.after[4]["view"]
        self.assert_ends(1, "pair.view: ", "another object")

    def test_handles_are_given_out_again(self):
        # The driver gives the first handle again, or a new one.
        self.before[6:6] = [sampler("0x10"), pair("0x10", "0xa2")]
        self.after[6:6] = [sampler("0x30"), pair("0x30", "0xa2")]
        self.assert_ends(0)
        self.after[7]["sampler"] = "0x10"
        self.assert_ends(1, "pair.sampler: ")

    def test_devices_come_and_go(self):
        # The second device has the address of the first, and its views have addresses of their own, or not.
        self.before += [sampler("0x10"), pair("0x10", "0xa1"), self.before[6]]
        self.after += [sampler("0x10"), pair("0x10", "0xa0"), self.after[6] | {"device": "0xd1"}]
        self.assert_ends(0)

    def test_records_that_one_has_alone(self):
        self.after.insert(4, {"event": "unresolved", "what": "limit", "why": "no place"})
        self.assert_ends(1, "1 differ", "unresolved: absent -> {")
        self.before, self.after = self.after, self.before
        self.assert_ends(1, "1 differ", "unresolved: {", "-> absent")

    def test_order(self):
        self.after[2:4] = [sampler("0x20", state={"magFilter": "VK_FILTER_NEAREST"}), sampler("0x10")]
        self.assert_ends(1, "sampler.state.magFilter")

    def test_threads_have_no_order(self):
        self.threads = [1, 2]
        self.after[4:6] = self.after[5:3:-1]
        self.assert_ends(0)
        self.after[4]["format"] = "VK_FORMAT_R8_SINT"
        self.assert_ends(1, "2 differ")
        self.after[4] = self.after[5]
        self.assert_ends(1, "pair.variant: ")

    def test_members_have_no_order(self):
        # Of two members that come first in turn, the records of threads are put in order by the same one.
        self.before[4:6] = [pair("0x10", "0xa0", format=name, levels=levels) for name, levels in (("A", 2), ("B", 1))]
        self.after[4:6] = [dict(reversed(record.items())) for record in self.before[4:6]]
        for self.threads in ([1], [1, 2]):
            self.assert_ends(0)

    def test_pipelines_and_what_they_took(self):
        shader = {"event": "shader", "pipeline": "0xc0", "pass": "split", "ms": 0.5}
        counts = {"compile_ms": 1.5, "splits": 1}
        self.before[6:6] = [shader, pair("0x10", "0xa0", pipeline="0xc0")]
        self.after[6:6] = [shader | {"pipeline": "0xc7", "ms": 0.25}, pair("0x10", "0xa0", pipeline="0xc7")]
        self.before[8] |= {"separate": counts}
        self.after[8] |= {"separate": counts | {"compile_ms": 0.0}}
        self.assert_ends(0, "9 records, 0 differ")
        self.after[8]["separate"] = counts | {"splits": 2}
        self.assert_ends(1, "summary.separate.splits: 1 -> 2")
        self.after[8]["separate"], self.after[7]["pipeline"] = counts, "0xc0"
        self.assert_ends(1, "pair.pipeline: ", "another object")

    def test_processes(self):
        self.write("before", self.before)
        self.write("after", self.before)
        with open(self.folder / "after", "a", encoding="utf-8") as file:
            file.write(json.dumps({"seq": 0, "t_ns": 0, "pid": 8, "tid": 8, "event": "layer", "settings": SETTINGS}) + "\n")
        status, output = self.compare()
        self.assertEqual((status, "process: 1 -> 2" in output), (1, True), output)

    def test_members_to_leave_out(self):
        self.after[6]["more"] = 1
        self.assert_ends(0, arguments=["--ignore", "summary.more"])
        self.assert_ends(0, arguments=["--ignore", "summary.*"])
        self.assert_ends(1, arguments=["--ignore", "device.more"])

    def test_not_a_trace(self):
        self.write("after", self.after)
        for text in ("", "{", '{"event": "layer"}\n', "[]\n"):
            (self.folder / "before").write_text(text, encoding="utf-8")
            self.assertEqual(self.compare()[0], 3, text)

    def test_what_is_started(self):
        program = self.folder / "program"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        script = load("same-traces")
        (trace,) = script.run("vkcube", [program], self.folder, "apple-a12", self.folder / "out")
        ((_, (record,)),) = script.read(trace)
        wanted = {"event": f"VK_LAYER_SAMPLIN_sampling {self.folder}", "level": "all", "device": "apple-a12"}
        self.assertEqual(record, wanted)
        for arguments, said in ((["3"], "ended with 3"), (["0", "/other/libVkLayer_samplin.so"], "loaded /other/lib"), (["0", "-"], "no library")):
            with self.assertRaisesRegex(script.Missing, said):
                script.run("vkcube", [program, *arguments], self.folder, None, self.folder / "out")

    def test_wrong_usage(self):
        for arguments in ([], ["HEAD", "--compare", "a", "b"], ["HEAD", "--driver", "other"]):
            done = subprocess.run([SCRIPT, *arguments], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
        done = subprocess.run([SCRIPT, "no-such-commit"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, "there is no commit no-such-commit" in done.stderr), (4, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
