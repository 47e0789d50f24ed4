# SPDX-License-Identifier: GPL-3.0-or-later
"""The ctypes module matches the header, and the library exports what the header declares."""

import ctypes
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ADDON, COMPILER, HEADER

import bindgen
from solver import _abi, library


def probe_source():
    """A C program that prints the layout of every struct and the value of every constant."""
    lines = ["#include <pliant.h>", "#include <stdio.h>", "int main(void)", "{"]
    for tag, struct in _abi.STRUCTS.items():
        lines.append(f'    printf("{tag} %zu\\n", sizeof({tag}));')
        for name, _ in struct._fields_:
            lines.append(
                f'    printf("{tag}.{name} %zu %zu\\n", offsetof({tag}, {name}), sizeof((({tag}*)0)->{name}));'
            )
    for tag, members in parsed().enums.items():
        lines.append(f'    printf("{tag} %zu\\n", sizeof({tag}));')
        for name in members:
            lines.append(f'    printf("{name} %lld\\n", (long long){name});')
    for name in parsed().constants:
        lines.append(f'    printf("{name} %.17g\\n", (double){name});')
    return "\n".join([*lines, "    return 0;", "}", ""])


def parsed():
    return bindgen.Parser(HEADER.read_text(encoding="utf-8")).header


class Generated(unittest.TestCase):
    def test_module_is_what_the_header_gives(self):
        text = bindgen.generate(HEADER.read_text(encoding="utf-8"))
        self.assertEqual((ADDON / "solver" / "_abi.py").read_text(encoding="utf-8"), text, "run native/bindgen.py")

    def test_every_prototype_is_bound(self):
        declared = HEADER.read_text(encoding="utf-8").count("    PLIANT_API ")
        self.assertEqual(len(_abi.FUNCTIONS), declared)

    @unittest.skipUnless(COMPILER, "no C compiler")
    def test_layout_is_the_compilers(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "probe.c", Path(folder) / "probe"
            source.write_text(probe_source())
            subprocess.run(
                [COMPILER, "-std=c17", "-Wall", "-Werror", f"-I{HEADER.parent}", str(source), "-o", str(program)],
                check=True,
            )
            printed = subprocess.run([str(program)], check=True, capture_output=True, text=True)
        rows = {name: values for name, *values in map(str.split, printed.stdout.splitlines())}
        for tag, struct in _abi.STRUCTS.items():
            self.assertEqual(int(rows.pop(tag)[0]), ctypes.sizeof(struct), tag)
            for name, _ in struct._fields_:
                member = getattr(struct, name)
                self.assertEqual(
                    [int(v) for v in rows.pop(f"{tag}.{name}")], [member.offset, member.size], f"{tag}.{name}"
                )
        header = parsed()
        for tag, members in header.enums.items():
            self.assertEqual(int(rows.pop(tag)[0]), ctypes.sizeof(ctypes.c_int), tag)
            self.assertEqual(
                [int(rows.pop(name)[0]) for name in members], [int(member) for member in _abi.ENUMS[tag]], tag
            )
        for name in header.constants:
            self.assertEqual(float(rows.pop(name)[0]), getattr(_abi, name.removeprefix("PLIANT_")), name)
        self.assertEqual(rows, {})


class Reader(unittest.TestCase):
    """What the reader must not take for granted."""

    def refuse(self, text, sentence):
        with self.assertRaises(bindgen.HeaderError) as caught:
            bindgen.Parser(text)
        self.assertIn(sentence, str(caught.exception))

    def test_refuses_what_it_does_not_know(self):
        self.refuse("#if defined(ODD)\n#endif\n", "pliant.h:1: a condition that is not known")
        self.refuse("#pragma pack(1)\n", "a directive that is not known")
        self.refuse("#include <math.h>\n", "a directive that is not known")
        self.refuse("#define PLIANT_X (1 + 2)\n", "cannot read '+ 2)'")
        self.refuse("#define PLIANT_X OTHER\n", "PLIANT_X is not a number")
        self.refuse("\n\ntypedef struct a\n{\n  long b;\n} a;\n", "pliant.h:5: a type that is not")
        self.refuse("typedef struct a { uint32_t b : 3; } a;", "cannot read ': 3")
        self.refuse("typedef struct a { uint32_t b[N]; } a;", "an array's size is not known: N")
        self.refuse("typedef struct a { uint32_t b, c; } a;", "',' where ; was expected")
        self.refuse("typedef union a { float b; } a;", "a type that is not known: union")
        self.refuse("typedef struct a { float b; } other;", "'other' where a was expected")
        self.refuse("typedef enum a { A = B } a;", "not a number: B")
        self.refuse("PLIANT_API void f(float);", "')' where a name was expected")
        self.refuse("PLIANT_API void f(float a, ...);", "cannot read '...")
        self.refuse("PLIANT_API void f(void)", "ends in the middle")
        self.refuse("PLIANT_API void f(void); PLIANT_API void f(void);", "f is declared twice")
        self.refuse("static int x;", "'static' where typedef was expected")
        self.refuse("#ifndef PLIANT_H\n", "an #if is not closed")

    def test_reads_types_as_they_are(self):
        header = bindgen.Parser("""
            // "a comment with a quote
            #define PLIANT_N 3 /* of them */
            typedef enum pliant_e { PLIANT_E_A = 4, PLIANT_E_B, } pliant_e;
            typedef uint64_t pliant_thing;
            typedef int32_t (*pliant_fn)(void* user, const char* text);
            typedef struct pliant_s { double a[2][PLIANT_N]; const char* b; pliant_fn c; void* d; }
            pliant_s;
            PLIANT_API pliant_e pliant_f(pliant_thing a, const double b[3], const pliant_s* c);
            """).header
        self.assertEqual(header.enums, {"pliant_e": {"PLIANT_E_A": 4, "PLIANT_E_B": 5}})
        self.assertEqual(
            header.structs["pliant_s"].fields,
            [("a", "c_double * 3 * 2"), ("b", "c_char_p"), ("c", "Fn"), ("d", "c_void_p")],
        )
        function = header.functions["pliant_f"]
        self.assertEqual(function.result, "c_int")
        self.assertEqual([kind for _, kind in function.arguments], ["c_uint64", "POINTER(c_double)", "POINTER(S)"])
        self.assertEqual([kind for _, kind in header.callbacks["pliant_fn"].arguments], ["c_void_p", "c_char_p"])


class Exported(unittest.TestCase):
    @unittest.skipUnless(shutil.which("nm"), "no nm")
    def test_symbols_are_the_headers(self):
        path = library.find()
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", str(path)], check=True, capture_output=True, text=True
        ).stdout
        exported = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
        exported -= {"_init", "_fini", "__bss_start", "_edata", "_end"}  # the linker's own
        wanted = set(_abi.FUNCTIONS)
        self.assertEqual(sorted(exported - wanted), [], "exported but not in pliant.h")
        self.assertEqual(sorted(wanted - exported), [], "in pliant.h but not exported")

    def test_loaded_library_has_the_version(self):
        loaded = library.load()
        self.assertEqual(loaded.pliant_abi_version(), _abi.ABI_VERSION)
        for status, text in _abi.STATUS_TEXT.items():
            self.assertEqual(loaded.pliant_status_text(status).decode(), text)
            self.assertTrue(loaded.pliant_status_name(status).decode().endswith(status.name))


if __name__ == "__main__":
    unittest.main()
