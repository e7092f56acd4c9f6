"""The goals of the second table of docs/PERFORMANCE.md: what a row is wanted to cost at most.

A goal names a row of bench/run and one of its columns, or is a ratio to the reference.
"""

# (what, row, column: 0 CPU or wall time, 1 peak; wanted: seconds or MB, or "5x" for that ratio to the reference)
GOALS = [
    ("first `thread/list` page in a new process over 10,000 indexed sessions, CPU", "first-page-10k", 0, 3e-3),
    ("the same while the index is made, CPU of the first answer", "first-page-new", 0, 15e-3),
    ("the same, CPU of each repeat", "first-page-again", 0, 3e-3),
    ("page sorted by `updated_at`, CPU", "list-updated-10k", 0, 2e-3),
    ("page filtered by a `cwd` without a match, CPU", "list-cwd-10k", 0, 3e-3),
    ("page filtered by a `searchTerm` without a match, CPU", "list-term-10k", 0, 15e-3),
    ("the index is whole in the first process: idle wall time after the first answer", "index-whole", 0, 5),
    ("fuzzy file search in 100,000 files, first, wall time", "find-file-wall", 0, "5x"),
    ("the same, each further query of a session, wall time", "find-file-next-wall", 0, "30x"),
    ("500 deltas of 64 KiB in a turn of the app-server, peak", "large-deltas-client", 1, 90),
    ("apply_patch, 1,000 hunks in 10 MB, CPU", "patch", 0, 10e-3),
    ("a small patch, whole process, CPU", "patch-small", 0, 1e-3),
    ("latency of a delta that comes alone, median of wall time", "lone-latency", 0, 90e-6),
    ("a delta that comes alone, CPU", "lone-delta", 0, 30e-6),
    ("sandboxed tool call (Landlock), engine and children, CPU", "landlock-all", 0, 6e-3),
    ("sandboxed tool call (bubblewrap), engine and children, CPU", "bwrap-all", 0, 6e-3),
    ('`exec "hi"`, CPU', "exec-hi", 0, 5e-3),
    ('`exec "hi"`, peak', "exec-hi", 1, 8),
    ("first turn of an app-server, CPU", "first-turn", 0, 3e-3),
    ("50 MB of command output, CPU of engine and command", "output-all", 0, 25e-3),
    ("request after 2,700 items, CPU", "request-2700", 0, 0.5e-3),
]


def seconds(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return "%.3g %s" % (value * factor, unit)
    return "%.3g us" % (value * 1e6)


def amount(column, value):
    return "%.1f MB" % value if column else seconds(value)


def cost_cells(cost):
    return [amount(column, cost[column]) if cost else "" for column in range(2)]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def rows():
    return {row for _, row, _, _ in GOALS}


def is_reached(wanted, ours, theirs):
    """None: there is nothing to compare with."""
    if isinstance(wanted, str):
        return theirs / ours >= float(wanted[:-1]) if theirs else None
    return ours <= wanted


def table(costs, ours, before, reference):
    """The lines of the goals whose rows were measured."""
    lines = [line(["goal", "reference", "before", "now", "wanted", "reached"]), "|" + "---|" * 6]
    for what, row, column, wanted in GOALS:
        if row not in costs:
            continue
        cost = {name: costs[row][name][column] for name in costs[row]}
        reached = {True: "yes", False: "no", None: ""}[is_reached(wanted, cost[ours], cost.get(reference))]
        lines.append(line([what] + [amount(column, cost[name]) if name in cost else ""
                                    for name in (reference, before, ours)] +
                          [wanted + " ahead" if isinstance(wanted, str) else "<= " + amount(column, wanted), reached]))
    return lines
