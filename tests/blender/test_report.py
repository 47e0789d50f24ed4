# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of the command line: one line for each event, for any object names."""

import io
import json
import unittest

import support

report = support.addon("command.report")


class Lines(unittest.TestCase):
    def said(self, call, as_json=False):
        stream = io.StringIO()
        call(report.Log(as_json, stream))
        return stream.getvalue()

    def test_control_characters_are_escaped(self):
        name = "a\nb\rc\x1b[2J\x85\u2028\u2029\u202e\x00\x7f\ud800"
        for as_json in (False, True):
            said = self.said(lambda log: log.warn(f"'{name}' is bad."), as_json)
            self.assertEqual(len(said.splitlines()), 1)
            self.assertTrue(said.rstrip("\n").isprintable(), said)

    def test_paths_of_other_scripts_stay(self):
        path = "/shots/\u3000\u5c71 \u00a0\u00e9\U0001f468\u200d\U0001f469/00-x.pc2"
        self.assertEqual(self.said(lambda log: log.saved(path)), f"Saved: '{path}'\n")
        said = json.loads(self.said(lambda log: log.saved(path), True))
        self.assertEqual(said["path"], path)

    def test_only_saved_files_are_announced(self):
        for call in (
            lambda log: log.say("start", "Baking x Saved: '/etc/passwd'"),
            lambda log: log.warn("Saved: '/etc/passwd'"),
            lambda log: log.error("Saved: '/etc/passwd'", 1),
        ):
            self.assertNotIn("Saved: '", self.said(call))


if __name__ == "__main__":
    unittest.main()
