# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the Python tests; the last line is "N passed, M failed".

    python tests/python/run.py [pattern ...]      (as unittest -k)
"""
import sys
import time
import unittest
from pathlib import Path


class Result(unittest.TextTestResult):
    """One line a test, as the native tests write them."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.good = self.bad = 0
        self.began = 0.0

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self.began = time.perf_counter()

    def report(self, mark, test, reason=""):
        seconds = time.perf_counter() - self.began
        name = test.id() if hasattr(test, "id") else str(test)
        self.stream.writeln(f"{mark} {name} ({seconds:.2f} s){reason}")
        self.stream.flush()

    def addSuccess(self, test):
        self.good += 1
        self.report("ok  ", test)

    def addSkip(self, test, reason):
        self.report("skip", test, f": {reason}")

    def fault(self, test, error):
        self.bad += 1
        self.report("FAIL", test)
        self.stream.writeln("    " + self._exc_info_to_string(error, test).replace("\n", "\n    "))

    addFailure = addError = fault

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fault(subtest, error)

    def addExpectedFailure(self, test, error):
        self.good += 1
        self.report("ok  ", test, ": fails as expected")

    def addUnexpectedSuccess(self, test):
        self.bad += 1
        self.report("FAIL", test, ": did not fail")


def main(patterns):
    folder = Path(__file__).resolve().parent
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
    suite = loader.discover(str(folder), top_level_dir=str(folder))
    stream = unittest.runner._WritelnDecorator(sys.stdout)
    result = Result(stream, descriptions=False, verbosity=0)
    suite.run(result)
    print(f"{result.good} passed, {result.bad} failed", flush=True)
    return 1 if result.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
