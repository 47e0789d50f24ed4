# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker thread: calls in order, one at a time, exceptions raised."""

import threading
import unittest

import support  # noqa: F401 - makes addon importable
from addon.bake.background import BackgroundWorker


class Besides(unittest.TestCase):
    def test_one_after_the_other(self):
        beside, done, open_gate = BackgroundWorker("test"), [], threading.Event()

        def slow(number):
            open_gate.wait(10)
            done.append((number, threading.current_thread().name))

        beside.start(slow, 1)
        self.assertEqual(done, [])  # start() does not wait for its own work
        threading.Timer(0.02, open_gate.set).start()
        beside.start(slow, 2)  # but for the work before
        self.assertEqual(done[0], (1, "test"))
        beside.wait()
        self.assertEqual(done, [(1, "test"), (2, "test")])
        beside.wait()  # nothing to wait for
        beside.close()
        beside.close()

    def test_errors_come_to_the_one_who_waits_and_once(self):
        def fail():
            raise OSError(28, "full")

        beside = BackgroundWorker("test")
        beside.start(fail)
        self.assertRaises(OSError, beside.start, lambda: None)
        beside.start(fail)
        self.assertRaises(OSError, beside.wait)
        beside.start(fail)
        thread = beside._thread
        self.assertRaises(OSError, beside.close)
        self.assertFalse(thread.is_alive())
        beside.close()

    def test_a_thread_only_where_there_is_work(self):
        before = threading.active_count()
        BackgroundWorker("test").close()
        beside = BackgroundWorker("test")
        self.assertEqual(threading.active_count(), before)
        beside.start(lambda: None)
        beside.close()
        self.assertEqual(threading.active_count(), before)


if __name__ == "__main__":
    unittest.main()
