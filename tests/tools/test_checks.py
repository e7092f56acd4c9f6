#!/usr/bin/env python3
"""The checks of tools/ see what they are for: each gets a small tree with one thing wrong in it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"

HEADER = "/* %s — a thing. */\n#ifndef %s\n#define %s\n\n%s\n#endif\n"
GOOD = {
    "src/LAYERS": "base:\nloop: base\nengine/codex: base loop\nengine/task: base loop\nengine:\n"
                  "ui: base engine/codex/codex.h\n",
    "src/base/meson.build": "codex_sources += files('text.c')\n",
    "src/base/text.h": HEADER % ("text.h", "BASE_TEXT_H", "BASE_TEXT_H", "int text_width(void);"),
    "src/base/text.c": '/* Why. */\n#include "base/text.h"\n\nint text_width(void)\n{\n\treturn 0;\n}\n',
    "src/engine/codex/codex.h": HEADER % ("codex.h", "ENGINE_CODEX_H", "ENGINE_CODEX_H", ""),
    "src/engine/task/task.h": HEADER % ("task.h", "ENGINE_TASK_H", "ENGINE_TASK_H", ""),
    "src/engine/op.def": '/* op.def — Ops. OP(name, "doc") */\nOP(interrupt, "stops")\n',
    "tools/SIZE_ALLOW": "# none\n",
}


def run(tool, *args):
    return subprocess.run([sys.executable, "-B", TOOLS / tool, *map(str, args)], capture_output=True, text=True)


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def put(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def check(self, tool, files):
        self.put(files)
        result = run(tool, self.root)
        self.assertEqual(result.stderr, "")
        return result

    def assert_finds(self, tool, files, words):
        result = self.check(tool, files)
        self.assertIn(words, result.stdout)
        self.assertEqual(result.returncode, 1)


class House(Tree):
    def setUp(self):
        super().setUp()
        self.put(GOOD)

    def finds(self, files, words):
        self.assert_finds("check-house", files, words)

    def source(self, code):
        return {"src/base/text.c": '/* Why. */\n#include "base/text.h"\n' + code}

    def test_a_good_tree_passes(self):
        result = self.check("check-house", {})
        self.assertEqual((result.returncode, result.stdout), (0, "5 files of src/ keep the rules of the house\n"))

    def test_floors(self):
        self.finds(self.source('#include "engine/task/task.h"\n'), "base/ may not include engine/task/task.h")

    def test_a_single_header_opens_only_itself(self):
        page = {"src/ui/meson.build": "files('page.c')",
                "src/ui/page.c": '/* Why. */\n#include "engine/codex/codex.h"\n'}
        self.assertEqual(self.check("check-house", page).returncode, 0)
        self.finds({"src/ui/page.c": '/* Why. */\n#include "engine/task/task.h"\n'},
                   "ui/ may not include engine/task/task.h")

    def test_private_headers(self):
        header = HEADER % ("text_priv.h", "BASE_TEXT_PRIV_H", "BASE_TEXT_PRIV_H", "")
        loop = {"src/loop/meson.build": "files('a.c')", "src/loop/a.c": '/* Why. */\n#include "base/text_priv.h"\n'}
        self.finds({"src/base/text_priv.h": header, **loop}, "base/text_priv.h is private to the module text")

    def test_private_headers_of_another_module_in_the_room(self):
        header = HEADER % ("text_priv.h", "BASE_TEXT_PRIV_H", "BASE_TEXT_PRIV_H", "")
        own = {"src/base/meson.build": "files('text.c', 'text_wrap.c', 'line.c')", "src/base/text_priv.h": header,
               "src/base/text_wrap.c": '/* Why. */\n#include "base/text_priv.h"\n'}
        self.assertEqual(self.check("check-house", own).returncode, 0)
        self.finds({"src/base/line.c": '/* Why. */\n#include "base/text_priv.h"\n'}, "is private to the module text")

    def test_rooms_of_a_floor_look_down(self):
        rooms = {"src/LAYERS": "base:\nloop: base\nengine/task: base\nengine/codex: engine\nengine:\nui: engine\n",
                 "src/engine/task/meson.build": "files('task.c')", "src/engine/codex/meson.build": "files('codex.c')",
                 "src/engine/task/task.c": '/* Why. */\n#include "engine/task/task.h"\n',
                 "src/engine/codex/codex.c": '/* Why. */\n#include "engine/codex/codex.h"\n'
                                             '#include "engine/task/task.h"\n'}
        self.assertEqual(self.check("check-house", rooms).stdout, "7 files of src/ keep the rules of the house\n")
        up = '/* Why. */\n#include "engine/task/task.h"\n#include "engine/codex/codex.h"\n'
        self.finds({"src/engine/task/task.c": up}, "engine/task/ may not include engine/codex/codex.h")

    def test_layers_look_down(self):
        self.finds({"src/LAYERS": "base: engine\nengine:\nloop:\nui: engine\n"}, "floors only look down")

    def test_every_folder_has_a_floor(self):
        self.finds({"src/shed/a.h": HEADER % ("a.h", "SHED_A_H", "SHED_A_H", "")}, "has no line in src/LAYERS")

    def test_cycles(self):
        def header(own, other):
            guard = "BASE_%s_H" % own.upper()
            return HEADER % (own + ".h", guard, guard, '#include "base/%s.h"\n' % other)
        self.finds({"src/base/a.h": header("a", "b"), "src/base/b.h": header("b", "a")},
                   "includes itself: base/a.h -> base/b.h -> base/a.h")

    def test_missing_includes(self):
        self.finds(self.source('#include "base/nothing.h"\n'), "there is no base/nothing.h")

    def test_own_header_first(self):
        self.finds({"src/base/text.c": '/* Why. */\n#include "base/other.h"\n'}, "its own header comes first")

    def test_fallible_functions(self):
        def header(declaration):
            return {"src/base/text.h": HEADER % ("text.h", "BASE_TEXT_H", "BASE_TEXT_H", declaration)}
        self.finds(header("int text_read(int fd,\n              struct error *err);"),
                   "text.h:5: text_read() can fail: must_check")
        self.finds(header("struct text *text_open(struct error *err);"), "text_open() can fail: must_check")
        for fine in ("must_check int text_read(int fd, struct error *err);", "void text_read(struct error *err);",
                     "int text_print(const struct error *err);", "typedef int (*text_fn)(struct error *err);"):
            self.assertEqual(self.check("check-house", header(fine)).returncode, 0, fine)

    def test_long_functions(self):
        self.finds(self.source("int f(void)\n{\n%s}\n" % ("\tg();\n" * 98)), "f() has 101 lines, the gate is 100")

    def test_long_files(self):
        self.finds(self.source("int x;\n" * 999), "the file has 1001 lines, the gate is 1000")

    def test_allowances_only_shrink(self):
        long = self.source("int x;\n" * 999)
        allow = "tools/SIZE_ALLOW"
        self.assertEqual(self.check("check-house", {**long, allow: "src/base/text.c 1001 why\n"}).returncode, 0)
        self.finds({allow: "src/base/text.c 1000 why\n"}, "SIZE_ALLOW grants 1000")
        self.finds({allow: "src/base/text.c 1002 why\n"}, "shrank: write 1001")
        self.finds({allow: "src/base/gone.c 1002 why\n"}, "src/base/gone.c does not exist")
        self.finds({allow: "src/base/text.c 1001\n"}, "not `FILE[:FUNCTION] LINES reason`")
        self.finds({**self.source("int x;\n"), allow: "src/base/text.c 1001 why\n"}, "within the gate again")

    def test_banned_calls(self):
        self.finds(self.source("void f(void)\n{\n\tstrcpy(a, b);\n}\n"), "text.c:5: strcpy() is banned")
        self.finds(self.source("void f(void)\n{\n\tp = malloc(3);\n}\n"), "malloc(): memory comes from base/mem.h")
        self.finds(self.source('void f(void)\n{\n\tprintf("x");\n}\n'), "printf(): only ui/")
        self.finds(self.source("void f(void)\n{\n\texit(1);\n}\n"), "exit(): the library never ends")
        self.finds(self.source('void f(void)\n{\n\tgetenv("X");\n}\n'), "getenv(): the environment")

    def test_what_only_linux_has_stays_in_its_files(self):
        call = self.source("/* pipe2() */\nvoid f(void)\n{\n\tpipe2(ends, 0);\n}\n")
        self.finds(call, "text.c:6: pipe2: only Linux has it")
        self.finds(self.source('void f(void)\n{\n\topen("/proc/self/exe");\n}\n'), "text.c:5: \"/proc/s")
        row = {"docs/porting.md": "| file |\n| `src/base/text.c` | x |\n"}
        self.assertEqual(self.check("check-house", {**call, **row}).returncode, 0)
        self.finds({**self.source("void f(void);\n"), **row}, "src/base/text.c has nothing that only Linux")
        self.finds({"docs/porting.md": "| `src/base/gone.c` | x |\n"}, "there is no src/base/gone.c")
        host = {"code_mode_host/a.c": "void f(void)\n{\n\tpipe2(ends, 0);\n}\n"}
        self.finds(host, "code_mode_host/a.c:3: pipe2: only Linux has it")
        row = {"docs/porting.md": "| `code_mode_host/a.c` | x |\n"}
        self.assertEqual(self.check("check-house", {**host, **row}).returncode, 0)

    def test_what_ends_itself_has_begun(self):
        begun = "void f(void)\n{\n\tauto_buf struct buf a, b;\n\tbuf_init(&a, 1);\n%s\tbuf_init(&b, 1);\n\treturn;\n}\n"
        self.finds(self.source(begun % "\tif (x)\n\t\treturn;\n"), "text.c:8: returns before `b`, declared in line 5,")
        self.assertEqual(self.check("check-house", self.source(begun % "")).returncode, 0)

    def test_words_are_not_calls(self):
        code = '/* strcpy( is banned */\nconst char *text = "system(1)";\nint my_system(int);\nint x = o->gets(1);\n'
        self.assertEqual(self.check("check-house", self.source(code)).returncode, 0)

    def test_unlisted_sources(self):
        self.finds({"src/base/lost.c": "/* Why. */\n"}, "is not listed in src/base/meson.build")

    def test_openings(self):
        self.finds({"src/base/text.c": '#include "base/text.h"\n'}, "opens with a comment")
        self.finds({"src/base/bare.h": "int x;\n"}, 'opens with "/* bare.h — what it is"')
        self.finds({"src/base/bare.h": "/* bare.h — x. */\nint x;\n"}, "has no include guard BASE_BARE_H")

    def test_limits_have_headers_of_their_own(self):
        self.finds(self.source("enum { NONE,\n LIMIT_TEXT = 5,\n};\nint used = LIMIT_TEXT;\n"),
                   "src/base/text.c:4: LIMIT_TEXT: limits are in base/limits.h or in the room's base_limits.h")
        for form in ("enum { LIMIT_TEXT = 5 };", "enum { NONE, LIMIT_TEXT=5 };", "static const int LIMIT_TEXT = 5;",
                     "#define LIMIT_TEXT 5", "# define LIMIT_TEXT (5)"):
            self.finds(self.source(form + "\nint used = LIMIT_TEXT;\n"), "src/base/text.c:3: LIMIT_TEXT: limits are in")
        compared = self.source("bool is_full = used == LIMIT_TEXT, is_new = LIMIT_TEXT == 1;\n")
        self.assertEqual(self.check("check-house", compared).returncode, 0)
        row = "enum {\n\tLIMIT_TEXT = 5, /* bytes */\n};\n"
        both = {"src/base/limits.h": HEADER % ("limits.h", "BASE_LIMITS_H", "BASE_LIMITS_H", row),
                "src/ui/ui_limits.h": HEADER % ("ui_limits.h", "UI_UI_LIMITS_H", "UI_UI_LIMITS_H", "")}
        used = self.source("int used = LIMIT_TEXT;\n")
        self.assertEqual(self.check("check-house", {**both, **used}).returncode, 0)
        both["src/ui/ui_limits.h"] = HEADER % ("ui_limits.h", "UI_UI_LIMITS_H", "UI_UI_LIMITS_H", row)
        self.finds({**both, **used}, "LIMIT_TEXT is in src/base/limits.h, too")

    def test_a_limit_bounds_something(self):
        row = "enum {\n\tLIMIT_TEXT = 5, /* bytes */\n};\n"
        self.finds({"src/base/limits.h": HEADER % ("limits.h", "BASE_LIMITS_H", "BASE_LIMITS_H", row),
                    **self.source("/* LIMIT_TEXT */\n")}, "src/base/limits.h:6: LIMIT_TEXT bounds nothing")

    def test_tables_explain_their_rows(self):
        self.finds({"src/engine/op.def": "/* op.def — Ops. */\nOP(interrupt, x)\n"},
                   "no comment of this table explains OP()")

    def test_names(self):
        self.finds({"src/base/text_util.h": ""}, '"util" says nothing')
        self.finds(self.source("typedef struct text text_t;\n"), "typedefs are for function types alone")
        self.finds(self.source("void done_callback(void);\n"), "done_callback: types of callbacks end in _fn")
        self.finds(self.source("/* TO" "DO: more */\n"), "unfinished work belongs into an issue")


class Figures(Tree):
    def setUp(self):
        super().setUp()
        self.put(GOOD)
        self.put({"docs/GLOSSARY.md": "| term | meaning | not |\n|---|---|---|\n| emit | | is told, fence |\n"})

    def figure(self, text):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        subprocess.run(["git", "-C", self.root, "add", "-A"], check=True)
        result = run("house-figures", self.root)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return int(next(line for line in result.stdout.splitlines() if text in line).split()[0])

    def pair(self, first, second):
        """Two modules of base/ with one function each and these bodies."""
        files = {"src/base/meson.build": "files('text.c', 'line.c', 'page.c')"}
        for name, other, body in (("line", "page", first), ("page", "line", second)):
            guard = "BASE_%s_H" % name.upper()
            files["src/base/%s.h" % name] = HEADER % (name + ".h", guard, guard, "int %s(void);" % name)
            files["src/base/%s.c" % name] = '/* Why. */\n#include "base/%s.h"\n\nint %s(void)\n{\n\t%s\n}\n' % (
                name, name, body)
        self.put(files)

    def test_calls_in_both_directions_are_a_circle(self):
        self.pair("return page();", "return 0;")
        self.assertEqual(self.figure("circles"), 0)
        self.pair("return page();", "return line();")
        self.assertEqual(self.figure("circles"), 1)

    def test_a_call_of_a_room_above_looks_up(self):
        self.pair("return 0;", "return 0;")
        self.put({"src/engine/task/meson.build": "files('task.c')",
                  "src/engine/task/task.c": '/* Why. */\n#include "engine/task/task.h"\n\nint task_end(void)\n'
                                            '{\n\treturn 0;\n}\n'})
        self.assertEqual(self.figure("calls between rooms"), 0)
        self.pair("return task_end();", "return 0;")
        self.assertEqual(self.figure("calls between rooms"), 1)

    def test_words_of_the_glossary(self):
        self.assertEqual(self.figure("check-words"), 0)
        self.put({"src/base/text.c": '/* The client is told of it. See core 10. */\n#include "base/text.h"\n\n'
                                     'int text_width(void)\n{\n\treturn 0; /* Who asks waits. */\n}\n'})
        self.assertEqual(self.figure("check-words"), 3)

    def test_maxima_outside_of_the_headers_for_limits(self):
        rows = "enum { TEXT_MAX = 9, WAIT_MS = 5, MAX_AGENTS = 3, COLUMNS = 4 };\n"
        header = HEADER % ("limits.h", "BASE_LIMITS_H", "BASE_LIMITS_H", rows)
        self.put({"src/base/limits.h": header})
        self.assertEqual(self.figure("maxima"), 0)
        self.put({"src/base/text.c": '/* Why. */\n#include "base/text.h"\n' + rows})
        self.assertEqual(self.figure("maxima"), 3)

    def test_texts_of_the_model_keep_their_words(self):
        self.put({"src/base/text.c": '/* Why. */\n#include "base/text.h"\n\nconst char *const texts[] = {\n'
                                     '\t"the model is told so", /* words: quoted */\n\t"a user is told so",\n};\n',
                  "src/tool/tool_args.def": '/* It is told. */\nSTRING(name, REQ, "The agent is told its name.")\n'})
        self.assertEqual(self.figure("check-words"), 2)

    def test_a_figure_above_its_limit_fails(self):
        self.pair("return page();", "return line();")
        self.put({"tools/FIGURES": "circles 0\n"})
        result = run("house-figures", "--check", self.root)
        self.assertEqual(result.returncode, 1)
        self.assertIn("(limit 0: EXCEEDED)", result.stdout)
        self.put({"tools/FIGURES": "circles 1\n"})
        self.assertEqual(run("house-figures", "--check", self.root).returncode, 0)


class Walks(Tree):
    """A walk from ui/ down to the engine and back through a pointer."""
    STEPS = ("walk a", "ui/exec.c exec_main start", "engine/codex/codex.c codex_submit call",
             "ui/exec.c on_event pointer ui/exec.c")

    def setUp(self):
        super().setUp()
        self.put(GOOD)
        self.put({"src/ui/exec.c": "static void on_event(void)\n{\n}\n\nint exec_main(void)\n{\n"
                                   "\treturn codex_submit(on_event);\n}\n",
                  "src/engine/codex/codex.c": "int codex_submit(event_fn fn)\n{\n\treturn fn(); /* line_end() */\n}\n"})

    def walk(self, *steps):
        self.put({"tools/WALKS": "\n".join(steps) + "\n"})
        return run("check-walks", self.root)

    def finds(self, words, *steps):
        result = self.walk(*steps)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stdout)

    def test_files_and_climbs(self):
        result = self.walk(*self.STEPS)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertRegex(result.stdout, r" 2  files of walk a")
        self.assertRegex(result.stdout, r" 1  climbs of walk a")

    def test_a_function_that_its_file_does_not_define(self):
        self.finds("engine/codex/codex.c does not define codex_close()", *self.STEPS[:2],
                   "engine/codex/codex.c codex_close call")

    def test_a_call_that_the_file_does_not_make(self):
        self.finds("codex_submit() of engine/codex/codex.c does not call exec_main()", *self.STEPS[:3],
                   "ui/exec.c exec_main call")

    def test_a_call_that_stands_in_another_function(self):
        self.finds("on_event() of ui/exec.c does not call codex_submit()", *self.STEPS,
                   "engine/codex/codex.c codex_submit call")

    def test_a_pointer_that_its_file_does_not_set(self):
        self.finds("engine/codex/codex.c does not name on_event", *self.STEPS[:3],
                   "ui/exec.c on_event pointer engine/codex/codex.c")

    def test_a_comment_names_nothing(self):
        self.finds("does not name line_end", *self.STEPS[:3],
                   "ui/exec.c on_event pointer engine/codex/codex.c:line_end")

    def test_a_step_from_a_file_that_was_not_passed(self):
        self.finds("the walk has not been in engine/task/task.c", *self.STEPS,
                   "ui/exec.c exec_main call from engine/task/task.c")

    def test_the_figures_include_the_walks(self):
        self.walk(*self.STEPS)
        self.put({"docs/GLOSSARY.md": "| term | meaning | not |\n|---|---|---|\n| emit | | is told |\n",
                  "tools/FIGURES": "walk_a_climbs 0\n"})
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.assertIn("climbs of walk a  (limit 0: EXCEEDED)", run("house-figures", "--check", self.root).stdout)


class Mutations(Tree):
    """A list that has rotted is seen without a build."""

    def setUp(self):
        super().setUp()
        self.put({"src/base/text.c": "/* Why. */\nint a;\n\tint b;\nint b;\n", "tests/unit/test_text.c": ""})

    def check_list(self, text):
        self.put({"tests/mutations": text})
        result = run("mutate", "--check", self.root)
        self.assertEqual(result.stderr, "")
        return result

    def finds(self, text, words):
        result = self.check_list(text)
        self.assertIn(words, result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_text_is_found_wherever_it_stands(self):
        result = self.check_list("# why\n\none: it holds\nunit: text\n  int a;\n-int b;\n+int c;\n")
        self.assertEqual((result.returncode, result.stdout), (0, "1 mutations have their place\n"))

    def test_text_that_is_gone_or_not_alone(self):
        self.finds("one: it holds\nunit: text\n-int c;\n+int d;\n", "one: its text stands 0 times in src/")
        self.finds("one: it holds\nunit: text\n-int b;\n+int d;\n", "one: its text stands 2 times in src/")

    def test_tests_that_are_gone(self):
        self.finds("one: it holds\nunit: gone\n-int a;\n", "there is no tests/unit/test_gone.c")
        self.finds("one: it holds\ne2e: gone\n-int a;\n", "there is no tests/e2e/gone.test.mjs")
        self.finds("one: it holds\n-int a;\n", "one: names no test")

    def test_what_is_no_mutation(self):
        self.finds("one: it holds\nunit: text\n int a;\n", "one: changes nothing")
        self.finds("one: it holds\nunit: text\n-int a;\none: again\n", "tests/mutations:4: not a line of a mutation")

    def test_a_name_that_is_not_there(self):
        self.assertIn("names no mutation gone", run("mutate", "gone").stderr)


class Text(Tree):
    def finds(self, files, words):
        self.assert_finds("check-text", files, words)

    def test_lines(self):
        self.finds({"a.c": "int x; \n"}, "a.c:1: ends in blanks")
        self.finds({"a.c": "int x;"}, "lacks the final line end")
        self.finds({"a.c": "int x;\n\n"}, "ends in empty lines")
        self.finds({"a.c": "x" * 121 + "\n"}, "has 121 columns, the limit is 120")
        self.finds({"a.py": "\tx\n"}, "is indented by a tab")

    def test_rows_may_be_longer(self):
        self.assertEqual(self.check("check-text", {"a.def": "ROW(%s)\n" % ("x" * 150)}).returncode, 0)

    def test_data_is_left_alone(self):
        self.assertEqual(self.check("check-text", {"tests/data/a.txt": "x \r\n\n"}).returncode, 0)

    def test_links(self):
        self.assertEqual(self.check("check-text", {"a.md": "# One Two\n[x](b.md#head-er) [y](#one-two)\n",
                                                   "b.md": "## Head-er\n"}).returncode, 0)
        self.finds({"a.md": "[x](gone.md)\n"}, "links to gone.md, which does not exist")
        self.finds({"a.md": "[x](b.md#foot)\n"}, "links to b.md#foot: no such heading")


class Count(Tree):
    def count(self, name, text):
        self.put({name: text})
        result = run("count-tests", self.root / name)
        return result.returncode, result.stdout.splitlines()[-1]

    def run_of(self, result, stdout):
        return json.dumps({"name": "x", "result": result, "stdout": stdout}) + "\n"

    def test_cases_of_a_program(self):
        out = "1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c # SKIP\n"
        self.assertEqual(self.count("a.json", self.run_of("FAIL", out)), (1, "1 passed, 1 failed, 1 skipped"))

    def test_a_crash_is_a_failure(self):
        self.assertEqual(self.count("a.json", self.run_of("ERROR", "ok 1 - a\n")), (1, "1 passed, 1 failed"))

    def test_leaves_of_node(self):
        out = "ok 1 - a\n    ok 1 - s\n    not ok 2 - t\nnot ok 2 - p\nok 3 - z # SKIP\n# fail 2\n"
        self.assertEqual(self.count("a.tap", out), (1, "2 passed, 1 failed, 1 skipped"))

    def test_a_run_cut_short(self):
        self.assertEqual(self.count("a.tap", "ok 1 - a\n"), (1, "1 passed, 1 failed"))

    def test_nothing_there(self):
        self.assertEqual(run("count-tests", self.root / "gone.tap").returncode, 1)


if __name__ == "__main__":
    unittest.main()
