# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker thread with a queue of one."""

import queue
import threading


class BackgroundWorker:
    """start() hands over a call and returns at once; wait() returns when it has finished, and
    raises its exception. At most one call is pending, so that the order is fixed and the worker
    is never more than one call behind."""

    def __init__(self, name):
        self._name = name
        self._thread = None
        self._todo, self._done = queue.SimpleQueue(), queue.SimpleQueue()
        self._busy = False

    def start(self, function, *arguments):
        self.wait()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._busy = True
        self._todo.put((function, arguments))

    def wait(self):
        if self._busy:
            error = self._done.get()
            self._busy = False
            if error is not None:
                raise error

    def close(self):
        """Waits for the pending call as wait() does, then ends the thread."""
        try:
            self.wait()
        finally:
            if self._thread is not None:
                self._todo.put(None)
                self._thread.join()
                self._thread = None

    def _work(self):
        while (item := self._todo.get()) is not None:
            function, arguments = item
            error = None
            try:
                function(*arguments)
            except BaseException as raised:  # raised again in wait()
                error = raised
            self._done.put(error)
            del item, function, arguments, error  # release references before the next wait
