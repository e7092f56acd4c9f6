/* exec_policy.h — rules that allow, ask about or forbid commands by their first words.
 *
 * Rules come from *.rules files, from the lowest layer to the highest, and from approvals of this session. A rule
 * matches a command whose first words are its pattern. A rule that asks or forbids also matches if the shell could
 * expand a word with a pattern to such words, and it matches the commands that a command runs (command_walk.h). If a
 * match depends on the value of a variable, the rule asks. The strictest match decides, so that a project's rule cannot
 * allow what the user's forbids. A file with an error is ignored as a whole.
 *
 * Owns: its rules. Thread: the loop's. */
#ifndef COMMAND_EXEC_POLICY_H
#define COMMAND_EXEC_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct arena;
struct buf;
struct error;
struct plain_command;

/* From the mildest to the strictest. */
enum exec_decision { EXEC_allow, EXEC_prompt, EXEC_forbidden };

struct exec_match {
	enum exec_decision decision;
	size_t length;            /* length of the matched pattern, in words */
	struct str justification; /* absent if the rule has none; owned by the policy */
	bool is_within;           /* a command that this one runs matched, not its own words */
};

struct exec_policy;

struct exec_policy *exec_policy_create(void);
void exec_policy_destroy(struct exec_policy *policy); /* NULL is fine */

/* Adds the rules of a file's text. On ERR_config, whose text names the line, nothing is added. */
must_check int exec_policy_add(struct exec_policy *policy, struct str text, const char *source, struct error *err);
/* As exec_policy_add, without rules that allow; *ret_dropped is their number. */
must_check int exec_policy_add_strict(struct exec_policy *policy, struct str text, const char *source,
                                      size_t *ret_dropped, struct error *err);
/* Adds a rule that allows commands which begin with these words. */
void exec_policy_allow(struct exec_policy *policy, const struct str *words, size_t count);
/* Appends such a rule as a line of a .rules file. */
void exec_policy_write_allow(struct buf *out, const struct str *words, size_t count);

size_t exec_policy_count(const struct exec_policy *policy);
/* True if the rule at this index matches. */
bool exec_policy_match(const struct exec_policy *policy, size_t at, const struct plain_command *command,
                       struct exec_match *ret);
/* A word of that rule's pattern; alternatives are joined by "|". */
const char *exec_policy_word(const struct exec_policy *policy, size_t at, size_t word, struct arena *arena);
/* The strictest match. False: no rule matches. */
bool exec_policy_decide(const struct exec_policy *policy, const struct plain_command *command, struct exec_match *ret);

/* Returns "allow", "prompt" or "forbidden". */
const char *exec_decision_name(enum exec_decision decision);

#endif
