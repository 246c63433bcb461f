# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, read as text: prototypes, and whether a comment stands with each.

Limits: a prototype begins in the first column and ends with a semicolon; its comment is at the ends of its lines, or on
the lines above it without an empty line or another commented prototype in between. That is how these headers are
written.
"""
import pathlib
import re

NAME = re.compile(r"\b(stoker_[a-z0-9_]+)\(")
START = re.compile(r"(enum|struct|const|void|int|int64_t|uint64_t|double|size_t)\b")


def statements(path):
    """(text, comment) of each declaration of a function in the header; several lines are joined."""
    depth, text, comment, above = 0, "", "", ""
    for line in path.read_text().splitlines():
        code, _, note = line.partition("//")
        if not line.strip():
            above = ""
        elif not code.strip():
            above += note
        elif not text and depth == 0 and START.match(code) and "{" not in code and "typedef" not in code:
            text, comment = code, note
        elif text:
            text, comment = text + code, comment + note
        if 'extern "C"' not in code:
            depth = max(0, depth + code.count("{") - code.count("}"))
        if text and text.rstrip().endswith(";"):
            if "(" in text:
                yield re.sub(r"\s+", " ", text), above + comment
            text = ""


def prototypes(folder):
    """Name -> (header, its comment) of every function that the library has, macros and plug-ins' own left out."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.h")):
        for text, comment in statements(path):
            match = NAME.search(text)
            if match and match.group(1) != "stoker_plugin":
                found[match.group(1)] = (path.name, comment.strip())
    return found
