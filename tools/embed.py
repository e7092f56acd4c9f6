#!/usr/bin/env python3
"""Turns text files into C constants at build time.

    embed.py OUT.c OUT.h PREFIX FILE...

Each FILE becomes `const struct str PREFIX_<stem>`, without its final line ends. The output depends only on
the contents and names, so that the same tree always builds the same binary.
"""
import pathlib
import re
import sys

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def literal(text):
    """C string literals, one a source line; bytes outside ASCII and the trigraphs' '?' in octal."""
    lines = []
    for line in text.splitlines(keepends=True) or [""]:
        out = ""
        for char in line:
            if char in ESCAPES:
                out += ESCAPES[char]
            elif " " <= char <= "~" and char != "?":
                out += char
            else:
                out += "".join("\\%03o" % byte for byte in char.encode("utf-8"))
        lines.append('\t"%s"' % out)
    return "\n".join(lines)


def main(out_c, out_h, prefix, *paths):
    note = "/* Made by tools/embed.py; edit the text files instead. */\n"
    guard = "EMBEDDED_%s_H" % prefix.upper()
    header = [note, "#ifndef %s\n#define %s\n\n#include \"base/str.h\"\n\n" % (guard, guard)]
    source = [note, '#include "%s"\n' % pathlib.Path(out_h).name]
    for path in sorted(map(pathlib.Path, paths), key=lambda path: path.stem):
        name = "%s_%s" % (prefix, path.stem)
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            sys.exit("embed.py: %s: the file's name must make a C name (a-z, 0-9 and _)" % path)
        text = path.read_text(encoding="utf-8").rstrip("\n")
        header.append("extern const struct str %s;\n" % name)
        source.append("\nconst struct str %s = {\n%s,\n\t%d};\n" % (name, literal(text), len(text.encode("utf-8"))))
    header.append("\n#endif\n")
    pathlib.Path(out_c).write_text("".join(source), encoding="ascii")
    pathlib.Path(out_h).write_text("".join(header), encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
