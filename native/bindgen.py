#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes addon/solver/_abi.py (ctypes) from native/include/pliant.h.

    python3 native/bindgen.py            writes the module
    python3 native/bindgen.py --check    exits 1 if the module on disk is not what the header says

The header is written in a small, disciplined subset of C: integer and string macros, enums, structs
of scalars, arrays, pointers and other structs, typedefs of integers and of callbacks, prototypes
marked PLIANT_API. This reads that subset and nothing else: what it does not understand stops it with
the line's number, so that a binding is never silently wrong.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
HEADER = HERE / "include" / "pliant.h"
MODULE = HERE.parent / "addon" / "solver" / "_abi.py"

SCALARS = {
    "char": "c_char",
    "float": "c_float",
    "double": "c_double",
    "int8_t": "c_int8",
    "int16_t": "c_int16",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "uint8_t": "c_uint8",
    "uint16_t": "c_uint16",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "size_t": "c_size_t",
}

# The only conditions the header may ask, and their answers for the purpose of binding.
CONDITIONS = {"ifndef PLIANT_H": True, "ifdef __cplusplus": False}
# A conditional block that starts so only says how symbols are exported; it is skipped whole.
EXPORT_BLOCK = "if defined(_WIN32) && defined(PLIANT_BUILDING)"


class HeaderError(Exception):
    """The header holds something that bindgen does not understand."""


@dataclass
class Token:
    text: str
    line: int


@dataclass
class Struct:
    name: str
    fields: list[tuple[str, str]] = field(default_factory=list)  # name, ctypes expression


@dataclass
class Function:
    name: str
    result: str
    arguments: list[tuple[str, str]]  # name, ctypes expression


@dataclass
class Header:
    constants: dict[str, int | float] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)
    handles: list[str] = field(default_factory=list)
    callbacks: dict[str, Function] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    status: list[tuple[str, int, str]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # structs and callbacks as they appear


def fail(line: int, message: str) -> NoReturn:
    raise HeaderError(f"pliant.h:{line}: {message}")


# ---------------------------------------------------------------- lines, directives, tokens


def logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines without comments, continued lines joined, with the number each began at."""
    text = re.sub(
        r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*',
        lambda m: m.group(1) or " " + "\n" * m.group().count("\n"),
        text,
        flags=re.S,
    )
    lines: list[tuple[int, str]] = []
    open_line = False
    for line_number, line in enumerate(text.split("\n"), 1):
        continues = line.endswith("\\")
        line = line.removesuffix("\\")
        if open_line:
            lines[-1] = (lines[-1][0], lines[-1][1] + " " + line)
        else:
            lines.append((line_number, line))
        open_line = continues
    return lines


TOKEN = re.compile(
    r"""\s*(?:
    (?P<name>[A-Za-z_]\w*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+[uUlL]*|\d*\.?\d+(?:[eE][+-]?\d+)?[fFuUlL]*))
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<mark>[{}()\[\];,*=|-]|<<)
)""",
    re.X,
)


def tokenize(text: str, line: int) -> list[Token]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            fail(line, f"cannot read '{text[at:].strip()[:40]}'")
        tokens.append(Token(match.group().strip(), line))
        at = match.end()
    return tokens


@dataclass
class Macro:
    parameters: list[str] | None
    body: list[Token]


class Preprocessor:
    """Just enough of one: include guards, constants, and lists made with X(...)."""

    def __init__(self, text: str) -> None:
        self.macros: dict[str, Macro] = {}  # also those that are undefined again later
        self.tokens: list[Token] = []
        taken: list[bool | None] = []  # one a nested #if; None: the export block
        for line, content in logical_lines(text):
            stripped = content.strip()
            if stripped.startswith("#"):
                self.directive(line, " ".join(stripped[1:].split()), taken)
            elif all(taken):
                self.tokens += tokenize(content, line)
        if taken:
            fail(text.count("\n") + 1, "an #if is not closed")
        self.tokens = self.expand(self.tokens)

    def directive(self, line: int, text: str, taken: list[bool | None]) -> None:
        word = text.split(" ")[0]
        if word in ("if", "ifdef", "ifndef"):
            if text == EXPORT_BLOCK:
                taken.append(None)
            elif text in CONDITIONS:
                taken.append(CONDITIONS[text])
            else:
                fail(line, f"a condition that is not known: #{text}")
        elif word in ("elif", "else"):
            if not taken or taken[-1] is not None:
                fail(line, f"#{word} is only known in the block that exports symbols")
        elif word == "endif":
            if not taken:
                fail(line, "#endif without #if")
            taken.pop()
        elif taken and taken[-1] is None:
            if not text.startswith("define PLIANT_API"):
                fail(line, f"only PLIANT_API is defined there: #{text}")
        elif not all(taken):
            pass
        elif word == "define":
            self.define(line, text[len("define ") :])
        elif word == "undef":
            if text[len("undef ") :] not in self.macros:
                fail(line, f"never defined: #{text}")
        elif text not in ("include <stddef.h>", "include <stdint.h>"):
            fail(line, f"a directive that is not known: #{text}")

    def define(self, line: int, text: str) -> None:
        match = re.fullmatch(r"(\w+)(\(([\w\s,]*)\))?(?:\s+(.*))?", text)
        if not match:
            fail(line, f"a macro that cannot be read: #define {text}")
        name, bracket, parameters, body = match.groups()
        if name in self.macros:
            fail(line, f"{name} is defined twice")
        names = [p.strip() for p in parameters.split(",")] if bracket else None
        self.macros[name] = Macro(names, tokenize(body or "", line))

    def expand(self, tokens: list[Token]) -> list[Token]:
        """Function-like macros expanded; constants stay names (they may be array sizes)."""
        out, at = [], 0
        while at < len(tokens):
            macro = self.macros.get(tokens[at].text)
            if macro is None or macro.parameters is None:
                out.append(tokens[at])
                at += 1
                continue
            arguments, end = self.arguments(tokens, at)
            if len(arguments) != len(macro.parameters):
                fail(tokens[at].line, f"{tokens[at].text} takes {len(macro.parameters)} arguments")
            given = dict(zip(macro.parameters, arguments))
            body = [new for t in macro.body for new in given.get(t.text, [t])]
            out += self.expand(body)
            at = end
        return out

    @staticmethod
    def arguments(tokens: list[Token], at: int) -> tuple[list[list[Token]], int]:
        if at + 1 >= len(tokens) or tokens[at + 1].text != "(":
            fail(tokens[at].line, f"{tokens[at].text} needs arguments")
        arguments: list[list[Token]] = [[]]
        depth = 0
        for index in range(at + 1, len(tokens)):
            text = tokens[index].text
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth == 0:
                return arguments, index + 1
            if text == "," and depth == 1:
                arguments.append([])
            elif not (text == "(" and depth == 1):
                arguments[-1].append(tokens[index])
        fail(tokens[at].line, f"the arguments of {tokens[at].text} do not end")


def number(text: str, line: int) -> int | float:
    try:
        if re.fullmatch(r"0[xX][0-9a-fA-F]+[uUlL]*", text):
            return int(text.rstrip("uUlL"), 16)
        if re.fullmatch(r"(0|[1-9]\d*)[uUlL]*", text):
            return int(text.rstrip("uUlL"))
        return float(text.rstrip("fF"))
    except ValueError:
        fail(line, f"not a number: {text}")


# ---------------------------------------------------------------- declarations


class Parser:
    def __init__(self, text: str) -> None:
        source = Preprocessor(text)
        self.tokens = source.tokens
        self.at = 0
        self.header = Header()
        self.values: dict[str, int] = {}  # names that may be array sizes
        for name, macro in source.macros.items():
            self.constant(name, macro)
        while self.at < len(self.tokens):
            self.declaration()

    # reading tokens
    @property
    def line(self) -> int:
        return self.tokens[min(self.at, len(self.tokens) - 1)].line

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        text = self.peek()
        if not text:
            fail(self.line, "the header ends in the middle of a declaration")
        if expected and text not in expected:
            fail(self.line, f"'{text}' where {' or '.join(expected)} was expected")
        self.at += 1
        return text

    def name(self) -> str:
        text = self.take()
        if not re.fullmatch(r"[A-Za-z_]\w*", text):
            fail(self.line, f"'{text}' where a name was expected")
        return text

    # macros
    def constant(self, name: str, macro: Macro) -> None:
        body = macro.body
        if name == "PLIANT_STATUS_LIST":
            self.status_list(body)
        elif macro.parameters is None and len(body) == 1 and body[0].text[0] in ".0123456789":
            self.header.constants[name] = value = number(body[0].text, body[0].line)
            if isinstance(value, int):
                self.values[name] = value
        elif macro.parameters is None and body:
            fail(body[0].line, f"{name} is not a number")

    def status_list(self, body: list[Token]) -> None:
        at = 0
        while at < len(body):
            row = body[at : at + 8]
            if [row[i].text for i in (0, 1, 3, 5, 7) if i < len(row)] != ["X", "(", ",", ",", ")"]:
                fail(body[at].line, 'a row of PLIANT_STATUS_LIST is not X(NAME, value, "text")')
            text = row[6].text
            if text[0] != '"' or "\\" in text:
                fail(body[at].line, f"a status text that is not a plain string: {text}")
            self.header.status.append((row[2].text, int(number(row[4].text, row[4].line)), text[1:-1]))
            at += 8

    # declarations
    def declaration(self) -> None:
        if self.peek() == "PLIANT_API":
            self.take()
            result = self.type()
            function = self.signature(self.name(), result)
            self.take(";")
            if function.name in self.header.functions:
                fail(self.line, f"{function.name} is declared twice")
            self.header.functions[function.name] = function
            return
        self.take("typedef")
        if self.peek() == "enum":
            self.enum()
        elif self.peek() == "struct":
            self.struct()
        else:
            self.alias()

    def enum(self) -> None:
        self.take("enum")
        tag = self.name()
        self.take("{")
        members: dict[str, int] = {}
        value = -1
        while self.peek() != "}":
            member = self.name()
            if self.peek() == "=":
                self.take()
                value = int(number(self.take(), self.line))
            else:
                value += 1
            members[member] = self.values[member] = value
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        self.take(tag)
        self.take(";")
        self.header.enums[tag] = members

    def struct(self) -> None:
        self.take("struct")
        tag = self.name()
        self.take("{")
        struct = Struct(tag)
        while self.peek() != "}":
            kind = self.type()
            member = self.name()
            for size in reversed(self.dimensions()):
                kind = f"{kind} * {size}"
            self.take(";")
            struct.fields.append((member, kind))
        self.take("}")
        self.take(tag)
        self.take(";")
        self.header.structs[tag] = struct
        self.header.order.append(tag)

    def alias(self) -> None:
        kind = self.type()
        if self.peek() == "(":
            self.take("(")
            self.take("*")
            tag = self.name()
            self.take(")")
            self.header.callbacks[tag] = self.signature(tag, kind)
            self.header.order.append(tag)
        else:
            tag = self.name()
            if kind != "c_uint64":
                fail(self.line, f"{tag}: only handles (uint64_t) are given a name")
            self.header.handles.append(tag)
        self.take(";")

    def dimensions(self) -> list[int]:
        sizes = []
        while self.peek() == "[":
            self.take()
            text = self.take()
            if text in self.values:
                sizes.append(self.values[text])
            elif text.isdigit():
                sizes.append(int(text))
            else:
                fail(self.line, f"an array's size is not known: {text}")
            self.take("]")
        return sizes

    def signature(self, tag: str, result: str) -> Function:
        arguments: list[tuple[str, str]] = []
        self.take("(")
        if self.peek() == "void" and self.peek(1) == ")":
            self.take()
        while self.peek() != ")":
            kind = self.type()
            argument = self.name()
            sizes = self.dimensions()
            if len(sizes) > 1:
                fail(self.line, f"{tag}: {argument} has more than one dimension")
            if sizes:
                kind = f"POINTER({kind})"  # an array parameter is a pointer
            if kind == "None":
                fail(self.line, f"{tag}: {argument} is void")
            arguments.append((argument, kind))
            if self.peek() != ")":
                self.take(",")
        self.take(")")
        return Function(tag, result, arguments)

    def type(self) -> str:
        """A type with its stars, as a ctypes expression."""
        if self.peek() == "const":
            self.take()
        base = self.name()
        stars = 0
        while self.peek() == "*":
            self.take()
            stars += 1
            if self.peek() == "const":
                self.take()
        if base == "void":
            kind, stars = ("None", 0) if stars == 0 else ("c_void_p", stars - 1)
        elif base == "char" and stars:
            kind, stars = "c_char_p", stars - 1
        elif base in SCALARS:
            kind = SCALARS[base]
        elif base in self.header.enums:
            kind = "c_int"
        elif base in self.header.handles:
            kind = "c_uint64"
        elif base in self.header.structs or base in self.header.callbacks:
            kind = class_name(base)
        else:
            fail(self.line, f"a type that is not known: {base}")
        for _ in range(stars):
            kind = f"POINTER({kind})"
        return kind


# ---------------------------------------------------------------- writing


def class_name(tag: str) -> str:
    """pliant_scene_desc -> SceneDesc"""
    return "".join(word.capitalize() for word in tag.removeprefix("pliant_").split("_"))


def short_names(members: dict[str, int]) -> dict[str, str]:
    """Members without the words that all of them begin with."""
    split = {name: name.split("_") for name in members}
    common = 0
    while all(len(w) > common + 1 for w in split.values()) and len({w[common] for w in split.values()}) == 1:
        common += 1
    return {name: "_".join(words[common:]) for name, words in split.items()}


def is_flags(members: dict[str, int]) -> bool:
    values = list(members.values())
    return len(values) > 2 and all(v == 1 << i for i, v in enumerate(values))


def render(header: Header) -> str:
    out: list[str] = []
    put = out.append
    put("# SPDX-License-Identifier: GPL-3.0-or-later")
    put("# Generated by native/bindgen.py from native/include/pliant.h. Do not edit: run it again.")
    put('"""The C interface of the Pliant library, for ctypes. pliant.h documents all of it."""')
    used = "\n".join(
        [k for s in header.structs.values() for _, k in s.fields]
        + [
            k
            for f in [*header.functions.values(), *header.callbacks.values()]
            for k in [f.result, *(a for _, a in f.arguments)]
        ]
    )
    names = sorted(set(re.findall(r"\bc_\w+|\bPOINTER\b", used)))
    if header.callbacks:
        names.append("CFUNCTYPE")
    line = "from ctypes import " + ", ".join(sorted([*names, "Structure"], key=str.lower))
    while len(line) > 100:
        cut = line.rindex(",", 0, 98) + 1
        put(line[:cut] + " \\")
        line = "    " + line[cut:].strip()
    put(line)
    put("from enum import IntEnum, IntFlag")
    put("")
    for name, value in header.constants.items():
        put(f"{name.removeprefix('PLIANT_')} = {value!r}")
    for tag, members in header.enums.items():
        put("")
        put("")
        put(f"class {class_name(tag)}({'IntFlag' if is_flags(members) else 'IntEnum'}):")
        short = short_names(members)
        for name, value in members.items():
            put(f"    {short[name]} = {value}")
    status = short_names({name: value for name, value, _ in header.status})
    put("")
    put("")
    put("# What each status means in general; pliant_last_error() has the particular sentence.")
    put("STATUS_TEXT = {")
    for name, _, text in header.status:
        put(f'    Status.{status[name]}: "{text}",')
    put("}")
    for tag in header.order:
        put("")
        put("")
        if tag in header.callbacks:
            callback = header.callbacks[tag]
            kinds = [callback.result, *(kind for _, kind in callback.arguments)]
            put(f"# ({', '.join(name for name, _ in callback.arguments)})")
            put(f"{class_name(tag)} = CFUNCTYPE({', '.join(kinds)})")
        else:
            put(f"class {class_name(tag)}(Structure):")
            put("    _fields_ = [")
            for name, kind in header.structs[tag].fields:
                put(f'        ("{name}", {kind}),')
            put("    ]")
    tables(header, put)
    return "\n".join(out) + "\n"


def tables(header: Header, put) -> None:
    for title, tags in (("ENUMS", header.enums), ("STRUCTS", header.structs)):
        put("")
        put(f"{title} = {{")
        for tag in tags:
            put(f'    "{tag}": {class_name(tag)},')
        put("}")
    put("")
    put("# name: (result, arguments)")
    put("FUNCTIONS = {")
    for function in header.functions.values():
        kinds = ", ".join(kind for _, kind in function.arguments)
        comma = "," if len(function.arguments) == 1 else ""
        line = f'    "{function.name}": ({function.result}, ({kinds}{comma})),'
        if len(line) <= 100:
            put(line)
            continue
        put(f'    "{function.name}": ({function.result}, (')
        for name, kind in function.arguments:
            put(f"        {kind},  # {name}")
        put("    )),")
    put("}")
    put("""

def bind(library):
    \"\"\"Declares every function on a loaded ctypes.CDLL; returns the names that it lacks.\"\"\"
    missing = []
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            missing.append(name)
            continue
        function.restype = result
        function.argtypes = arguments
    return missing""")


def generate(text: str) -> str:
    header = Parser(text).header
    if not header.functions or "PLIANT_ABI_VERSION" not in header.constants:
        raise HeaderError("pliant.h: no functions, or no PLIANT_ABI_VERSION")
    if header.enums.get("pliant_status") != {name: value for name, value, _ in header.status}:
        raise HeaderError("pliant.h: pliant_status is not PLIANT_STATUS_LIST")
    return render(header)


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        text = generate(HEADER.read_text(encoding="utf-8"))
    except HeaderError as error:
        print(f"bindgen: {error}", file=sys.stderr)
        return 1
    if arguments:
        same = MODULE.exists() and MODULE.read_text(encoding="utf-8") == text
        if not same:
            print("bindgen: addon/solver/_abi.py is out of date; run native/bindgen.py", file=sys.stderr)
        return 0 if same else 1
    MODULE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
