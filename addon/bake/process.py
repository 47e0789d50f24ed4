# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of this process."""

import os
import sys

try:
    import resource
except ImportError:  # Windows
    resource = None


def memory():
    """Resident memory of the process in bytes; where the system does not report it, the peak so
    far; 0: unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    if resource is not None:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return _windows()


def _windows():
    import ctypes
    from ctypes import wintypes

    class Counters(ctypes.Structure):
        _fields_ = [("cb", wintypes.DWORD), ("PageFaultCount", wintypes.DWORD)] + [
            (name, ctypes.c_size_t)
            for name in (
                "PeakWorkingSetSize",
                "WorkingSetSize",
                "QuotaPeakPagedPoolUsage",
                "QuotaPagedPoolUsage",
                "QuotaPeakNonPagedPoolUsage",
                "QuotaNonPagedPoolUsage",
                "PagefileUsage",
                "PeakPagefileUsage",
            )
        ]

    counters = Counters(cb=ctypes.sizeof(Counters))
    try:
        ask = ctypes.windll.kernel32.K32GetProcessMemoryInfo
        ask.argtypes = wintypes.HANDLE, ctypes.POINTER(Counters), wintypes.DWORD
        ok = ask(ctypes.windll.kernel32.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
    except (AttributeError, OSError):
        return 0
    return counters.WorkingSetSize if ok else 0
