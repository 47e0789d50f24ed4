# SPDX-License-Identifier: GPL-3.0-or-later
"""What the texts of this repository refer to is in this repository.

Checked are Markdown (all of it), comments of C, comments and docstrings of Python, and comments of
scripts and build files. A reference is

    a Markdown link         from the folder of its file; behind a # a heading of the target
    a name of a file        mesh.c, docs/robustness.md, test_*.py: the end of the path of some file
    a path from the root    tests/bench, native/src/...: a file or a folder

An asterisk stands for anything, and so does a part in capitals (regressions/HARNESS, OUTPUT.h; but
not README.md), and what would stand before a name that begins with an underscore. The changelog may
name files that are gone.
Papers are cited by author and year: a number is an entry in a list that readers do not have.
"""

import io
import re
import subprocess
import tokenize
import unittest
from collections import namedtuple
from fnmatch import fnmatchcase
from pathlib import Path

from support import ROOT

Reference = namedtuple("Reference", "line target")

# Folders whose files are inputs of tests and no texts.
DATA = ("tests/fuzz/corpus/", "tests/fuzz/regressions/")
HISTORY = "CHANGELOG.md"
# File names in texts that are not names of our files, and what they are.
FOREIGN = {"lapacke.h": "a header of LAPACK's"}
NAME = re.compile(r"(?<![\w./*$}>-])((?:[\w.*-]+/)*[\w*-][\w.*-]*\.(?:c|h|py|md))(?![\w(/]|\.\w)")
PATH = re.compile(
    r"(?<![\w./*$}>-])((?:native|tests|addon|examples)/(?:[\w*-][\w.*-]*/)*"
    r"(?:[\w*-][\w.*-]*[\w*])?)(?![\w(])"
)
LINK = re.compile(r"\]\(([^()\s]+)\)")
NUMBERED_PAPER = re.compile(r"\bpapers?\s+(?:number\s+|#)?\d+", re.I)
PLACEHOLDER = re.compile(r"(?<![^/])[A-Z][A-Z_]+(?=/|$|\.(?:c|h|py)$)")


def project_files():
    """Paths of the project's files from its root, as git knows them."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        paths = listed.stdout.splitlines()
    else:
        paths = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
        paths = [path for path in paths if not path.startswith(("build", "out/"))]
    return sorted(path for path in paths if (ROOT / path).is_file())


class Tree:
    """Which files and folders there are, asked by the end of their paths."""

    def __init__(self, files):
        self.ends = set()
        for path in files:
            parts = path.split("/")
            for begin in range(len(parts)):
                for end in range(begin + 1, len(parts) + 1):
                    self.ends.add("/".join(parts[begin:end]))

    def has(self, target):
        target = PLACEHOLDER.sub("*", target.rstrip("/"))
        target = f"*{target}" if target.startswith("_") else target
        if target in self.ends:
            return True
        if "*" not in target:
            return False
        return any(fnmatchcase(end, target) for end in self.ends if end.count("/") == target.count("/"))


# ---------------------------------------------------------------- what is text


def blank(text, pieces):
    """The text with nothing but these pieces (begin, end) and its line ends."""
    kept, last = [], 0
    for begin, end in pieces:
        kept += [re.sub(r"[^\n]", " ", text[last:begin]), text[begin:end]]
        last = end
    return "".join(kept) + re.sub(r"[^\n]", " ", text[last:])


def c_comments(text):
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return blank(text, [match.span() for match in token.finditer(text) if match.group().startswith("/")])


def python_comments(text):
    """Comments, and strings that stand alone: docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    pieces, alone = [], True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and alone):
            pieces.append((starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            alone = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return blank(text, pieces)


def script_comments(text):
    return blank(text, [match.span() for match in re.finditer(r"(?<!\S)#[^\n]*", text)])


def prose(path, text):
    """What of a file a person reads, where it stands in the file."""
    suffix = Path(path).suffix
    if suffix == ".md":
        programs = re.finditer(r"^```(?:c|python)$.*?^```$", text, flags=re.M | re.S)
        places = [0, *(place for match in programs for place in match.span()), len(text)]
        return blank(text, list(zip(places[::2], places[1::2])))
    if suffix in (".c", ".h"):
        return c_comments(text)
    if suffix == ".py":
        return python_comments(text)
    return script_comments(text)


# ---------------------------------------------------------------- what it refers to


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def links(text):
    return [
        Reference(line_of(text, match.start()), match.group(1))
        for match in LINK.finditer(text)
        if "://" not in match.group(1)
    ]


def names(text):
    """File names and paths, but for what is foreign."""
    found = {}
    for pattern in (NAME, PATH):
        for match in pattern.finditer(text):
            target = re.sub(r"^(\.\.?/)+", "", match.group(1))
            if target not in FOREIGN:
                found[match.span(1)] = Reference(line_of(text, match.start()), target)
    return [found[span] for span in sorted(found)]


def numbered_papers(text):
    return [
        Reference(line_of(text, match.start()), " ".join(match.group().split()))
        for match in NUMBERED_PAPER.finditer(text)
    ]


def headings(text):
    """Anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    seen = set()
    for title in re.findall(r"^#+ (.*?)\s*#*$", text, flags=re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        seen.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return seen


def broken_links(path, text):
    for reference in links(text):
        place, _, heading = reference.target.partition("#")
        target = (ROOT / path).parent / place if place else ROOT / path
        if not target.exists():
            yield f"{path}:{reference.line}: the link {reference.target} leads nowhere"
        elif heading and heading not in headings(target.read_text(encoding="utf-8")):
            yield f"{path}:{reference.line}: {target.name} has no heading #{heading}"


# ---------------------------------------------------------------- the tests


class References(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = files = project_files()
        cls.tree = Tree(files)
        cls.texts = {}
        for path in files:
            if path.startswith(DATA):
                continue
            try:
                text = (ROOT / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture
            cls.texts[path] = prose(path, text)

    def complain(self, wrong, advice):
        if wrong:
            self.fail("\n".join([f"{len(wrong)} references, {advice}:", *wrong]))

    def test_files_are_there(self):
        self.assertGreater(len(self.texts), 100)
        wrong = [
            f"{path}:{reference.line}: there is no {reference.target}"
            for path, text in self.texts.items()
            if path != HISTORY
            for reference in names(text)
            if not self.tree.has(reference.target)
        ]
        self.complain(wrong, "correct the path, or add the name to FOREIGN in test_references.py")

    def test_links_lead_somewhere(self):
        wrong = [line for path, text in self.texts.items() if path.endswith(".md") for line in broken_links(path, text)]
        self.complain(wrong, "links start from the folder of their file")

    def test_every_module_is_in_the_architecture(self):
        page = "native/docs/architecture.md"
        modules = sorted(
            {
                "/".join(path.split("/")[:3])
                for path in self.files
                if path.startswith("native/src/") and path.count("/") > 2
            }
        )
        self.assertGreater(len(modules), 3)
        self.assertEqual([m for m in modules if f"`{m}`" not in self.texts[page]], [], f"{page} has no row for them")

    def test_papers_have_authors(self):
        wrong = [
            f'{path}:{reference.line}: "{reference.target}"'
            for path, text in self.texts.items()
            for reference in numbered_papers(text)
        ]
        self.complain(wrong, "cite a paper by author and year")


class Finding(unittest.TestCase):
    """What is found in texts, so that the tests above can fail."""

    def targets(self, path, text):
        return [reference.target for reference in names(prose(path, text))]

    def test_c(self):
        text = '#include "gone.h"\n/* see setup/gone.c */\nx = a.c; // GONE.md, gone.simd.c\n'
        self.assertEqual(self.targets("a.c", text), ["setup/gone.c", "GONE.md", "gone.simd.c"])

    def test_python(self):
        text = '"""As gone.py\nand tests/gone does."""\nname = "other.py"  # gone.c (line 2)\n'
        self.assertEqual(self.targets("a.py", text), ["gone.py", "tests/gone", "gone.c"])

    def test_markdown(self):
        text = (
            "`native/src/gone/`, build/tests/tool, `test_*.c`, [x](../gone.md), e.g. tests/run.\n"
            "```c\n#include <stdio.h>\n```\n"
        )
        self.assertEqual(self.targets("a.md", text), ["native/src/gone/", "test_*.c", "gone.md", "tests/run"])

    def test_papers(self):
        text = "paper 001, Papers 2 and 3; the paper's 4.1, the paper: 3, a paper of 2007\n"
        self.assertEqual([found.target for found in numbered_papers(text)], ["paper 001", "Papers 2"])

    def test_tree(self):
        tree = Tree(["native/src/some/thing.c", "tests/made/it_up.py"])
        for target in (
            "thing.c",
            "some/thing.c",
            "native/src/some",
            "native/src/",
            "th*.c",
            "native/ANY/some/thing.c",
            "tests/made/*.py",
            "THING.c",
            "_up.py",
        ):
            self.assertTrue(tree.has(target), target)
        for target in ("hing.c", "src/thing.c", "native/some", "thi*.h", "tests/*.py", "THING.md", "up.py"):
            self.assertFalse(tree.has(target), target)

    def test_headings(self):
        page = "# Two words, `code`\n```\n# no heading\n```\n## A [link](b.md)\n"
        self.assertEqual(headings(page), {"two-words-code", "a-link"})


if __name__ == "__main__":
    unittest.main()
