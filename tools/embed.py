#!/usr/bin/env python3
"""Turns text files into C constants at build time.

    embed.py [--deflate] OUT.c OUT.h PREFIX FILE...

Each FILE becomes `const struct str PREFIX_<stem>`, without its final line ends; a script for Redis keeps its first
line, which names it, but no other line of comments and no indentation. With --deflate it becomes `const struct str
PREFIX_<stem>_<suffix>`, in the format of zlib, and `PREFIX_<stem>_<suffix>_size`, its length as text; comments and
blanks of scripts and style sheets, which mean nothing, are left out. The output depends only on the contents and names,
so that the same tree always builds the same binary.
"""
import pathlib
import re
import string
import sys
import zlib

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


SCRIPT = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)
  | (?P<regex>/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)
  | (?P<blank>[ \t\r]+)
  | (?P<end>\n\s*)
  | (?P<word>[\w$]+)
  | (?P<mark>.)
""", re.X | re.S)


SHORTER = {"const": "let", "true": "!0", "false": "!1", "undefined": "void 0"}


def squeeze_script(text):
    """Keeps line ends, so that no statement runs into the next. A slash is a division behind a word or a bracket."""
    out, at, pending, before = [], 0, "", "("
    while at < len(text):
        found = SCRIPT.match(text, at)
        divides = re.search(r"[\w$)\]]$", before) and before not in ("return", "typeof", "case")
        if found.lastgroup == "regex" and divides:
            found = re.compile(r"(?P<mark>/)").match(text, at)
        kind, token, at = found.lastgroup, found.group(), found.end()
        if kind == "comment" or kind == "blank" or kind == "end":
            pending = "\n" if kind == "end" or pending == "\n" else " "
            continue
        token = SHORTER.get(token, token) if before != "." else token
        if token == "}" and out and out[-1] == ";":
            out.pop() # every body has braces or a statement of its own
        last = out[-1][-1] if out else "\n"
        if pending == "\n" and last not in "{(,;\n=&|?:" and token[0] not in "}).,:?&|=*":
            out.append("\n")
        elif pending and (re.match(r"[\w$]", last) and re.match(r"[\w$]", token) or last in "+-" and token[0] in "+-"):
            out.append(" ")
        out.append(token)
        pending, before = "", token
    return "".join(out)


def squeeze_style(text):
    """Custom properties, which no script uses, get short names."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r";\s*}", "}", text)
    names = list(dict.fromkeys(re.findall(r"--[a-z-]+", text)))
    text = re.sub(r"--[a-z-]+", lambda m: "--" + string.ascii_letters[names.index(m.group())], text)
    blank = r"\s*([{};,>!])\s*|:\s+|\s+"
    return re.sub(blank, lambda m: m.group(1) or (":" if ":" in m.group() else " "), text).strip()


def squeeze_page(text):
    return re.sub(r'(?<=[\w-])="([\w./#-]+)"', r"=\1", text)


SQUEEZE = {".js": squeeze_script, ".css": squeeze_style, ".html": squeeze_page}


def squeeze_lua(text):
    first, *rest = text.splitlines()
    return "\n".join([first] + [line.strip() for line in rest if not line.strip().startswith("--")])


def octal(data):
    """The same for bytes."""
    lines = ["".join("\\%03o" % byte for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
    return "\n".join('\t"%s"' % line for line in lines)


def main(*args):
    is_deflated = args[0] == "--deflate"
    out_c, out_h, prefix, *paths = args[is_deflated:]
    note = "/* Made by tools/embed.py; edit the text files instead. */\n"
    guard = "EMBEDDED_%s_H" % prefix.upper()
    header = [note, "#ifndef %s\n#define %s\n\n#include \"base/str.h\"\n\n" % (guard, guard)]
    source = [note, '#include "%s"\n' % pathlib.Path(out_h).name]
    for path in sorted(map(pathlib.Path, paths), key=lambda path: (path.stem, path.suffix)):
        name = "%s_%s" % (prefix, path.name.replace(".", "_") if is_deflated else path.stem)
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            sys.exit("embed.py: %s: the file's name must make a C name (a-z, 0-9 and _)" % path)
        text = path.read_text(encoding="utf-8").rstrip("\n")
        header.append("extern const struct str %s;\n" % name)
        if is_deflated:
            text = SQUEEZE.get(path.suffix, str)(text)
            data = zlib.compress(text.encode("utf-8"), 9)
            header.append("enum { %s_size = %d };\n" % (name, len(text.encode("utf-8"))))
            source.append("\nconst struct str %s = {\n%s,\n\t%d};\n" % (name, octal(data), len(data)))
            continue
        if path.suffix == ".lua":
            text = squeeze_lua(text)
        source.append("\nconst struct str %s = {\n%s,\n\t%d};\n" % (name, literal(text), len(text.encode("utf-8"))))
    header.append("\n#endif\n")
    pathlib.Path(out_c).write_text("".join(source), encoding="ascii")
    pathlib.Path(out_h).write_text("".join(header), encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
