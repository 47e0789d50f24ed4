# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command: every outcome becomes a line and an exit code."""

import traceback

from ..solver import LibraryError, library
from . import baking, failures, inspecting, output
from .failures import Failure, Interrupted
from .report import Log, Signals

COMMANDS = {
    "bake": baking.bake,
    "cluster": inspecting.cluster,
    "info": inspecting.info,
    "export": output.export,
    "clear": output.clear,
}


def run(options):
    log = Log(options.log_json)
    with Signals() as signals:
        try:
            library.load()
            COMMANDS[options.command](options, log, signals)
            return failures.DONE
        except Interrupted as stopped:
            log.say("interrupted", str(stopped) or "Stopped by a signal.", code=signals.code)
            return signals.code
        except Exception as error:  # every exception has an exit code
            code = failures.code_of(error)
            sentence = str(error).strip() or type(error).__name__
            if isinstance(error, MemoryError):
                sentence = "There is not enough memory for this."
            if code == failures.FAULT:
                traceback.print_tb(error.__traceback__)  # the sentence below has its text, in one line
                sentence = f"Internal error in Pliant: {type(error).__name__}: {sentence}"
            if isinstance(error, (Failure, LibraryError)) or sentence.endswith("."):
                log.error(sentence, code)
            else:
                log.error(sentence[:1].upper() + sentence[1:] + ".", code)
            return code
