# SPDX-License-Identifier: GPL-3.0-or-later
"""Work beside other work: one thing at a time, in a thread of its own."""

import queue
import threading


class BackgroundWorker:
    """start() hands something over and comes back at once; wait() comes back when that is done, and
    raises what went wrong with it. Never more than one thing is under way, so that nothing changes
    its order and nobody runs ahead."""

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
        """Waits for what is under way, as wait() does; the thread is then gone."""
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
            except BaseException as raised:  # the one who waits gets it
                error = raised
            self._done.put(error)
            del item, function, arguments, error  # nothing is kept alive until the next
