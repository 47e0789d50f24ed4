# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen that a test's Blender is on: a hand on its mouse and keyboard, and an eye.

Events are sent by libxdo, which is xdotool's library, and pictures are taken by Xlib, both in this
process: a program of its own for each of some hundred movements would be slower than all else.
"""

import ctypes
import zlib

import numpy as np

CURRENT = 0  # libxdo: whichever window is under the mouse, or has the keyboard


class _Image(ctypes.Structure):
    """The beginning of Xlib's XImage."""

    _fields_ = [
        ("width", ctypes.c_int),
        ("height", ctypes.c_int),
        ("xoffset", ctypes.c_int),
        ("format", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("byte_order", ctypes.c_int),
        ("bitmap_unit", ctypes.c_int),
        ("bitmap_bit_order", ctypes.c_int),
        ("bitmap_pad", ctypes.c_int),
        ("depth", ctypes.c_int),
        ("bytes_per_line", ctypes.c_int),
        ("bits_per_pixel", ctypes.c_int),
    ]


class Screen:
    def __init__(self):
        self._xdo_library = ctypes.CDLL("libxdo.so.3")
        self._xdo_library.xdo_new.restype = ctypes.c_void_p
        self._xdo = self._xdo_library.xdo_new(None)
        x = self._x = ctypes.CDLL("libX11.so.6")
        x.XOpenDisplay.restype = ctypes.c_void_p
        x.XDefaultRootWindow.restype = ctypes.c_ulong
        x.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        x.XGetImage.restype = ctypes.POINTER(_Image)
        x.XGetImage.argtypes = [
            ctypes.c_void_p,
            ctypes.c_ulong,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_uint,
            ctypes.c_uint,
            ctypes.c_ulong,
            ctypes.c_int,
        ]
        x.XDestroyImage.argtypes = [ctypes.POINTER(_Image)]
        x.XDisplayWidth.argtypes = x.XDisplayHeight.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self._display = x.XOpenDisplay(None)
        assert self._xdo and self._display, "there is no screen"

    def _do(self, name, *arguments):
        function = getattr(self._xdo_library, name)
        function.argtypes = None
        code = function(ctypes.c_void_p(self._xdo), *arguments)
        assert code == 0, f"{name}{arguments} failed with {code}"

    # ------------------------------------------------------------ the hand

    def move(self, x, y):
        self._do("xdo_move_mouse", x, y, 0)

    def down(self, button):
        self._do("xdo_mouse_down", ctypes.c_ulong(CURRENT), button)

    def up(self, button):
        self._do("xdo_mouse_up", ctypes.c_ulong(CURRENT), button)

    def key(self, names):
        """A key, or several at once: "n", "ctrl+z", "Escape"."""
        self._do("xdo_send_keysequence_window", ctypes.c_ulong(CURRENT), names.encode(), 12000)

    def type(self, text):
        self._do("xdo_enter_text_window", ctypes.c_ulong(CURRENT), text.encode(), 40000)

    # ------------------------------------------------------------ the eye

    def picture(self):
        """The screen as an array (height, width, 3) of bytes."""
        x, display = self._x, self._display
        width, height = x.XDisplayWidth(display, 0), x.XDisplayHeight(display, 0)
        everything, as_pixels = ctypes.c_ulong(-1).value, 2
        image = x.XGetImage(display, x.XDefaultRootWindow(display), 0, 0, width, height, everything, as_pixels)
        assert image, "the screen cannot be read"
        try:
            about = image.contents
            assert about.bits_per_pixel == 32 and about.byte_order == 0, "an unusual screen"
            data = ctypes.string_at(about.data, about.bytes_per_line * height)
        finally:
            x.XDestroyImage(image)
        rows = np.frombuffer(data, np.uint8).reshape(height, -1)[:, : 4 * width]
        return np.ascontiguousarray(rows.reshape(height, width, 4)[:, :, 2::-1])


def write_png(path, picture):
    """A picture as a file, 8 bits for each of red, green and blue."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = picture.reshape(height, -1)

    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 3))
        + chunk(b"IEND", b"")
    )
