/* A tree may grow while it is read. A process with a pending fatal signal cannot fork, so only processes that a
 * round did not see survive it; rounds repeat until one sees nothing new.
 *
 * The command holds its tree together, because it adopts its orphans (spawn.h). So it is stopped first, which keeps
 * it from starting processes, and killed last. */
#include "process/tree_kill.h"

#include <errno.h>
#include <signal.h>

#include "base/limits.h"

static bool is_member(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark,
                      const struct process_tree *known)
{
	bool belongs = mark ? process_tree_has(tree, entry, mark) : process_tree_is_below(tree, entry);
	return belongs || process_tree_descends(tree, entry, known);
}

/* Signals the group that the process leads, or the process alone if it does not lead one yet. */
static void signal_group(pid_t leader, int sig)
{
	if (kill(-leader, sig) != 0 && errno == ESRCH)
		kill(leader, sig);
}

size_t tree_signal(pid_t root, const struct process_mark *mark, struct process_tree *known, int sig)
{
	auto_process_tree struct process_tree tree;
	size_t count = 0;
	if (process_tree_read(&tree, root, NULL) != 0) {
		if (mark && mark->pid && !mark->is_reaped && sig)
			signal_group(mark->pid, sig); /* without /proc only the process group is known */
		return 0;
	}
	vec_for_each(entry, &tree.entries) {
		if (!is_member(&tree, entry, mark, known))
			continue;
		if (!process_tree_lists(known, entry))
			page_vec_push(&known->entries, *entry);
		if (sig)
			process_entry_signal(entry, sig);
		count++;
	}
	return count;
}

static bool is_command(const struct process_entry *entry, const struct process_mark *mark)
{
	return mark && entry->pid == mark->pid && !mark->is_reaped;
}

/* Kills all members except the command once, and adds them to known. False if no new one was seen. */
static bool kill_round(pid_t root, const struct process_mark *mark, struct process_tree *known,
                       struct process_tree *killed)
{
	auto_process_tree struct process_tree tree;
	bool is_new = false;
	if (process_tree_read(&tree, root, NULL) != 0)
		return false;
	vec_for_each(entry, &tree.entries) {
		if (process_tree_lists(killed, entry) || !is_member(&tree, entry, mark, known))
			continue;
		process_entry_signal(entry, is_command(entry, mark) ? SIGSTOP : SIGKILL);
		page_vec_push(&killed->entries, *entry);
		if (!process_tree_lists(known, entry))
			page_vec_push(&known->entries, *entry);
		is_new = true;
	}
	return is_new;
}

bool tree_kill(pid_t root, const struct process_mark *mark, struct process_tree *known)
{
	auto_process_tree struct process_tree killed = {0};
	int round = 0;
	while (round < LIMIT_KILL_ROUNDS && kill_round(root, mark, known, &killed))
		round++;
	if (mark && mark->pid && !mark->is_reaped)
		/* Done even if the command has ended: a pid is not reused that soon. */
		signal_group(mark->pid, SIGKILL);
	return round < LIMIT_KILL_ROUNDS;
}
