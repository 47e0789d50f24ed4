# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the header of test_api_handles.c: a call of every function of pliant.h that takes a handle.

    python3 handle_calls.py OUTPUT

Every handle is the one that is given, every descriptor is a fresh one, every other pointer is to zeros,
every number is 1.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "native"))
import bindgen


class Type(str):
    """bindgen's type, with the tokens of C that it was made from."""

    tokens: list[str]


class Parser(bindgen.Parser):
    def type(self):
        start = self.at
        kind = Type(super().type())
        kind.tokens = [token.text for token in self.tokens[start : self.at] if token.text != "const"]
        return kind


def argument(kind, header):
    """What is given for a parameter of this type."""
    tokens = getattr(kind, "tokens", ["array", "*"])
    if tokens[-1] != "*":
        return "handle" if tokens[0] in header.handles else "1"
    return f"&a_{tokens[0]}" if tokens[0] in header.structs and len(tokens) == 2 else "(void*)zeros"


def render(header):
    calls, rows, structs = [], [], set()
    for function in header.functions.values():
        taken = {
            kind.tokens[0]
            for _, kind in function.arguments
            if getattr(kind, "tokens", []) and len(kind.tokens) == 1 and kind.tokens[0] in header.handles
        }
        if not taken:
            continue
        given = [argument(kind, header) for _, kind in function.arguments]
        structs |= {a[3:] for a in given if a.startswith("&a_")}
        call = f"{function.name}({', '.join(given)})"
        if function.result.tokens != ["pliant_status"]:
            call = f"status_of_text({call})"
        calls += [f"static pliant_status call_{function.name}(uint64_t handle)", "{", f"    return {call};", "}"]
        kinds = " ".join(sorted(taken))
        rows.append(f'    {{"{function.name}", "{kinds}", call_{function.name}}},')
    fresh = [
        f"    {name}_init(&a_{name}, sizeof a_{name});"
        for name in sorted(structs)
        if f"{name}_init" in header.functions
    ]
    return "\n".join(
        [
            "/* Written by handle_calls.py from pliant.h. */",
            *(f"static {name} a_{name};" for name in sorted(structs)),
            "static void make_descriptors(void)",
            "{",
            *fresh,
            "}",
            *calls,
            "static const handle_call calls[] = {",
            *rows,
            "};",
            "",
        ]
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(Parser(bindgen.HEADER.read_text(encoding="utf-8")).header), encoding="utf-8")
