/* A .rules file is taken whole or not at all, and an error names the file. The decision is that of the strictest rule
 * that matches. A rule that the engine writes reads back as the words that it was written for. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "command/command_parse.h"
#include "command/exec_policy.h"

enum { WORDS_MAX = 64 };

static void check_decision(const struct exec_policy *policy, const struct plain_command *command)
{
	struct exec_match match, decided;
	enum exec_decision strictest = EXEC_allow;
	bool is_any = false;
	for (size_t at = 0; at < exec_policy_count(policy); at++) {
		if (!exec_policy_match(policy, at, command, &match))
			continue;
		fuzz_check(match.length >= 1 && match.length <= command->count);
		fuzz_check(match.decision <= EXEC_forbidden);
		strictest = !is_any || match.decision > strictest ? match.decision : strictest;
		is_any = true;
	}
	fuzz_check(exec_policy_decide(policy, command, &decided) == is_any);
	fuzz_check(!is_any || decided.decision == strictest);
}

/* Quoted parts of the input become words, so that they match its patterns. */
static size_t read_words(struct arena *arena, struct str text, struct command_word *words, struct str *texts)
{
	size_t count = 0;
	struct str part;
	while (count < WORDS_MAX && str_next_part(&text, '"', &part)) {
		if (part.len == 0 || str_find_char(part, '\0') >= 0 || !text_is_utf8(part))
			continue;
		texts[count] = part;
		words[count++].text = arena_cstr(arena, part);
	}
	return count;
}

static void check_written(const struct str *texts, const struct plain_command *command)
{
	struct error err;
	struct exec_match match;
	auto_buf struct buf line;
	buf_init(&line, LIMIT_RULES_FILE);
	exec_policy_write_allow(&line, texts, command->count);
	if (line.over)
		return;
	struct exec_policy *policy = exec_policy_create();
	fuzz_check(exec_policy_add(policy, buf_str(&line), "w", &err) == 0);
	fuzz_check(exec_policy_count(policy) == 1);
	fuzz_check(exec_policy_decide(policy, command, &match));
	fuzz_check(match.decision == EXEC_allow && match.length == command->count);
	exec_policy_destroy(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, texts[WORDS_MAX];
	struct error err = {0};
	auto_arena struct arena arena = {0};
	struct command_word words[WORDS_MAX] = {0};
	struct plain_command command = {words, read_words(&arena, text, words, texts)};
	struct exec_policy *policy = exec_policy_create();
	int status = exec_policy_add(policy, text, "f", &err);
	if (status != 0) {
		fuzz_check(err.code == ERR_config || err.code == ERR_limit);
		fuzz_check(str_has_prefix(str_of(err.text), "f:"));
		fuzz_check(exec_policy_count(policy) == 0);
	}
	for (size_t i = 0; i < command.count; i++)
		check_decision(policy, &(struct plain_command){words + i, command.count - i});
	size_t count = exec_policy_count(policy);
	fuzz_check((exec_policy_add(policy, text, "f", &err) == 0) == (status == 0));
	fuzz_check(exec_policy_count(policy) == 2 * count);
	exec_policy_destroy(policy);
	if (command.count > 0)
		check_written(texts, &command);
	return 0;
}
