/* The usual messages are checked first, then the signal that only the system call filter sends. A shell reports a
 * command that a signal ended as 128 plus the signal's number. A command that exits with 0 was not stopped, even if
 * it printed such a message.
 *
 * The output, which can be a megabyte, is scanned only once, because every failed command is checked. */
#include "sandbox/sandbox_denial.h"

#include <ctype.h>
#include <signal.h>

#include "base/mem.h"

enum { SHELL_SIGNALLED = 128 };

static const struct str words[] = {
#define DENIAL(text) {text, sizeof(text) - 1},
#include "sandbox/sandbox_denial.def"
#undef DENIAL
};

static bool begins_with_word(struct str text)
{
	for (size_t i = 0; i < countof(words); i++) {
		if (text.len >= words[i].len && str_equal_fold(str_n(text.ptr, words[i].len), words[i]))
			return true;
	}
	return false;
}

/* Returns the line that contains `at`, cut to SANDBOX_EVIDENCE_MAX bytes. */
static struct str line_at(struct str text, size_t at)
{
	size_t from = at, to = at;
	while (from > 0 && at - from < SANDBOX_EVIDENCE_MAX / 2 && text.ptr[from - 1] != '\n')
		from--;
	while (to < text.len && to - from < SANDBOX_EVIDENCE_MAX && text.ptr[to] != '\n')
		to++;
	return str_trim(str_n(text.ptr + from, to - from));
}

static bool find_words(struct str text, struct str *ret_evidence)
{
	bool starts[256] = {false};
	for (size_t i = 0; i < countof(words); i++)
		starts[(unsigned char)words[i].ptr[0]] = starts[toupper((unsigned char)words[i].ptr[0])] = true;
	for (size_t at = 0; at < text.len; at++) {
		if (!starts[(unsigned char)text.ptr[at]] || !begins_with_word(str_skip(text, at)))
			continue;
		*ret_evidence = line_at(text, at);
		return true;
	}
	return false;
}

bool sandbox_denial_is_likely(const struct sandbox_outcome *outcome, struct str *ret_evidence)
{
	struct str nowhere, *evidence = ret_evidence ? ret_evidence : &nowhere;
	*evidence = STR_NONE;
	if (outcome->exit_code == 0 && outcome->signal == 0)
		return false;
	if (find_words(outcome->err, evidence) || find_words(outcome->out, evidence))
		return true;
	return outcome->signal == SIGSYS || outcome->exit_code == SHELL_SIGNALLED + SIGSYS;
}
