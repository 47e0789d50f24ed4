# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets and bars in hertz compared with theory, measured by tests/bench/beams.py."""

import sys
import unittest

import support

sys.path.insert(0, str(support.ROOT / "tests" / "bench"))
import beams


class Beams(unittest.TestCase):
    def test_sheets_bend_by_their_thickness(self):
        """With rigid goals .06 and .01."""
        for thin in (50, 100):
            with self.subTest(thin=thin):
                ratio, _, warnings = beams.measure(
                    True, slender=thin, width=0.5, sheet=True, count=1500, goal=beams.QUADRATIC, beta=0.3
                )
                self.assertLess(abs(ratio - 1), 0.2)
                self.assertFalse([text for text in warnings if "bends less" in text])

    def test_sheets_of_rigid_goals_warn(self):
        _, _, warnings = beams.measure(True, slender=50, width=0.5, sheet=True, count=300, patience=0.1)
        self.assertTrue([text for text in warnings if "Quadratic goals" in text])

    def test_hertz_are_those_of_any_goals(self):
        """Without what goals follow 1.8."""
        for goal in (beams.RIGID, beams.LINEAR, beams.QUADRATIC):
            with self.subTest(goal=goal):
                ratio, _, _ = beams.measure(False, goal=goal, hertz=True)
                self.assertLess(abs(ratio - 1), 0.15)


if __name__ == "__main__":
    unittest.main()
