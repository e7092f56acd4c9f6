"""Rows about the search for file names in a folder of 100,000 files, for both programs."""
import atexit
import json
import pathlib
import shutil
import tempfile

import threads

FOLDERS, FILES_EACH = 1000, 100
WORDS = ("alpha", "beta", "main", "index", "server", "client", "parse", "token", "config", "thread", "render", "cache")
# What somebody types who looks for one file, and then for another.
QUERIES = ("m", "ma", "mai", "main", "config", "configt", "parser", "zzz")
_made = []


def tree():
    """The folder, made once for all runs. Names are the same in each."""
    if not _made:
        root = pathlib.Path(tempfile.mkdtemp(prefix="codex-tree-", dir=str(pathlib.Path.home())))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        for number in range(FOLDERS):
            folder = root / WORDS[number // 100] / ("%s_%d" % (WORDS[number % 12], number))
            folder.mkdir(parents=True)
            for i in range(FILES_EACH):
                name = "%s_%s_%d.c" % (WORDS[(number + i) % 12], WORDS[i * 7 % 12], i)
                (folder / name).touch()
        _made.append(root)
    return str(_made[0])


def start(server, _=None):
    params = {"sessionId": "s", "roots": [tree()]}
    server.ask([{"id": "start", "method": "fuzzyFileSearch/sessionStart", "params": params}], b'"id":"start"')


def update(server, query):
    message = {"id": "query", "method": "fuzzyFileSearch/sessionUpdate", "params": {"sessionId": "s", "query": query}}
    server.ask([message], b'"fuzzyFileSearch/sessionCompleted"')


def search_once(tools, of="cpu"):
    """fuzzyFileSearch: one request that walks the folder and answers."""
    def measured(server, _):
        params = {"query": "main", "roots": [tree()], "cancellationToken": None}
        line, = server.ask([{"id": "find", "method": "fuzzyFileSearch", "params": params}], b'"id":"find"')
        if not json.loads(line)["result"]["files"]:
            raise SystemExit("bench: no file was found")
    return lambda bench, binary: threads.run(tools, bench, binary, [threads.UNUSED], lambda server: tree(),
                                             measured, 1, of)


def search_further(tools, of="cpu"):
    """Each further query of a session that has walked the folder."""
    def prepare(server):
        start(server)
        update(server, "first")

    def measured(server, _):
        for query in QUERIES:
            update(server, query)
    return lambda bench, binary: threads.run(tools, bench, binary, [threads.UNUSED], prepare, measured, len(QUERIES),
                                             of)
