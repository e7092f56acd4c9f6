#!/usr/bin/env python3
"""Prints libcodex(3), made from the comments of the header.

    library_page.py codex.h VERSION

A comment belongs to the declaration after it. The comment at the top describes the whole: its first line is the
header's name and purpose.
"""
import re
import sys

COMMENT = r"/\*(?P<text>(?:(?!\*/).)*)\*/\s*"
ITEM = re.compile(COMMENT + r"CODEX_EXPORT (?P<declaration>[^;]+;)", re.S)
CONSTANT = re.compile(r"(CODEX_[A-Z]+) = (-?\d+),?\s*(?:/\*(.*?)\*/)?", re.S)
NAMES = re.compile(r"(?<![\w\"$])(codex_\w+|CODEX_[A-Z]+|NULL)\b")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti").replace("`", "\\(ga").replace("…", "...")
    return re.sub(r"[^\x00-\x7f]", lambda match: "\\[u%04X]" % ord(match[0]), text)


def output_lines(text):
    """An indented line of a comment stands alone."""
    was_indented = False
    for line in text.splitlines():
        is_indented = line.startswith(" ")
        if is_indented or was_indented:
            yield ".br"
        was_indented = is_indented
        line = line.strip()
        yield ("\\&" if line[:1] in (".", "'") else "") + line


def prose(comment, is_inner=True):
    """Paragraphs of a comment, names in bold."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]
    blocks = re.split(r"\n\s*\n", "\n".join(lines))
    out = []
    for block in blocks:
        text = NAMES.sub(r"\\fB\1\\fR", escape(block.strip()))
        out.append("\n".join(output_lines(text)))
    return "\n.IP\n".join(out) if is_inner else "\n.PP\n".join(out)


def sentence(text):
    text = text.strip()
    return prose(text[:1].upper() + text[1:]) + "."


def synopsis(declaration):
    return escape(re.sub(r"\s+", " ", declaration).strip())


def page(header, version):
    top = re.match(COMMENT, header, re.S)["text"]
    purpose, _, description = top.partition(".\n")
    purpose = purpose.split(" — ")[1]
    items = [match for match in ITEM.finditer(header)]
    functions = re.findall(r"CODEX_EXPORT [^;]*?(codex_\w+)\(", header)
    if len(items) != len(functions):
        sys.exit("library_page: a function without a comment before it: %s" % functions)
    constants = CONSTANT.findall(re.search(r"enum codex_status \{(.*?)\};", header, re.S)[1])
    out = ['.\\" Generated from codex.h; do not edit.', '.TH LIBCODEX 3 "" "codex %s" "Codex manual"' % version,
           ".nh", ".ad l", ".SH NAME", "libcodex \\- " + escape(purpose[0].lower() + purpose[1:]),
           ".SH SYNOPSIS", ".nf", ".B #include <codex/codex.h>", ""]
    out += [".B " + synopsis(item["declaration"]) for item in items]
    out += [".PP", "Compile and link with", ".B $(pkg\\-config \\-\\-cflags \\-\\-libs codex)", ".fi",
            ".SH DESCRIPTION", prose(description, False), ".SH FUNCTIONS"]
    for item in items:
        out += [".TP", ".B " + synopsis(item["declaration"]), prose(item["text"])]
    out += [".SH CONSTANTS"]
    for name, value, text in constants:
        out += [".TP", ".BR %s \" (%s)\"" % (name, escape(value)), sentence(text) if text else "Success."]
    out += [".SH SEE ALSO", ".BR codex (1),", ".BR codex\\-proto (1),", ".BR codex\\-config (5)"]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(page(file.read(), sys.argv[2]))
