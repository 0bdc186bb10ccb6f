"""Tests of how scripts/clients judges a client: by its pictures and its traces."""

import json
import pathlib
import tempfile
import unittest

from loaded import load

clients = load("clients")


class Clients(unittest.TestCase):
    """A run without and one with the layer."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-clients-")
        self.addCleanup(folder.cleanup)
        self.run_of = clients.Run(pathlib.Path(folder.name) / "client")

    def pictures(self, name, *contents):
        self.run_of.pictures[name] = [self.run_of.folder / f"{name}-{at}" for at in range(len(contents))]
        for path, content in zip(self.run_of.pictures[name], contents):
            path.write_text(content, encoding="utf-8")

    def trace(self, name, *records):
        text = "".join(json.dumps(record) + "\n" for record in ({"event": "layer"}, {"event": "device", "device": "D"}) + records)
        (self.run_of.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        self.run_of.traced(name)

    def test_same(self):
        self.pictures("off", "one", "two")
        self.pictures("on", "one", "two")
        self.trace("on", {"event": "sampler", "changes": []})
        self.assertEqual(self.run_of.outcome(), (True, "2 pictures, 2 runs (off, on) on D; on: 1 samplers"))

    def test_different_pictures(self):
        self.pictures("off", "one", "two")
        self.pictures("on", "one", "other")
        same, text = self.run_of.outcome()
        self.assertFalse(same)
        self.assertIn("on differ from off", text)

    def test_missing_picture(self):
        self.pictures("off", "one", "two")
        self.pictures("on", "one")
        self.assertFalse(self.run_of.outcome()[0])

    def test_frames_that_are_one(self):
        # A black screen is the same with and without anything.
        self.pictures("off", "black", "black")
        self.pictures("on", "black", "black")
        self.assertFalse(self.run_of.outcome()[0])

    def test_something_was_changed(self):
        self.pictures("off", "one")
        self.pictures("on", "one")
        self.trace("on", {"event": "pair", "changes": [{"field": "magFilter", "from": "LINEAR", "to": "NEAREST"}]})
        same, text = self.run_of.outcome()
        self.assertFalse(same)
        self.assertIn("magFilter was changed from LINEAR to NEAREST", text)

    def test_layer_not_loaded(self):
        with self.assertRaisesRegex(clients.Failed, "it was not loaded"):
            self.run_of.traced("on")

    def test_settings_are_wrong(self):
        with self.assertRaisesRegex(clients.Failed, "unknown key"):
            self.trace("on", {"event": "settings", "message": "unknown key"})

    def one_link(self, *records):
        path = self.run_of.folder / "links.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return clients.one_link(path)

    def test_one_link(self):
        change = {"field": "magFilter", "from": "LINEAR", "to": "NEAREST"}
        repaired = {"event": "pair", "path": "draw", "changes": [change], "variant": "0x1"}
        legal = {"event": "pair", "path": "draw", "changes": []}
        self.assertEqual(self.one_link(legal, repaired, {"event": "sampler", "changes": []}), repaired)
        with self.assertRaisesRegex(clients.Failed, "0 pairs"):
            self.one_link(legal)
        with self.assertRaisesRegex(clients.Failed, "2 pairs"):
            self.one_link(repaired, repaired)
        with self.assertRaisesRegex(clients.Failed, "1 pairs in .'update'"):
            self.one_link(repaired | {"path": "update"})
        with self.assertRaisesRegex(clients.Failed, "unresolved: .'bindless'"):
            self.one_link(repaired, {"event": "unresolved", "what": "bindless"})

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(clients.Skipped, r"no-such-program is not installed \(Debian package some-package\)"):
            clients.need("no-such-program", "some-package")


if __name__ == "__main__":
    unittest.main()
