/* Rules are few, so they are searched linearly. They share one arena with their texts, because a policy only grows
 * and is freed as a whole. The examples in a rule (match, not_match) are checked when the rule is read, so that an
 * author's mistake is found before the rule is used. */
#include "command/exec_policy.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/vec.h"
#include "command/command_limits.h"
#include "command/command_walk.h"
#include "command/command_word.h"
#include "command/rules_parse.h"
#include "command/shell.h"

/* A word of a command, or a list of alternatives for it. */
struct element {
	struct str *choices;
	size_t count;
};

struct rule {
	struct element *elements;
	size_t count;
	enum exec_decision decision;
	struct str justification;
};

struct exec_policy {
	struct arena arena;
	VEC(struct rule) rules;
};

struct exec_policy *exec_policy_create(void)
{
	return xcalloc(1, sizeof(struct exec_policy));
}

void exec_policy_destroy(struct exec_policy *policy)
{
	if (!policy)
		return;
	vec_finish(&policy->rules);
	arena_finish(&policy->arena);
	free(policy);
}

static const char *const decision_names[] = {
	[EXEC_allow] = "allow",
	[EXEC_prompt] = "prompt",
	[EXEC_forbidden] = "forbidden",
};

const char *exec_decision_name(enum exec_decision decision)
{
	return decision_names[decision];
}

/* --- matching ------------------------------------------------------------------------------------------------ */

static bool element_matches(const struct element *element, const char *word)
{
	for (size_t i = 0; i < element->count; i++)
		if (str_is(element->choices[i], word))
			return true;
	return false;
}

static bool rule_matches(const struct rule *rule, const struct plain_command *command)
{
	if (command->count < rule->count)
		return false;
	for (size_t i = 0; i < rule->count; i++)
		if (!element_matches(&rule->elements[i], command->words[i].text))
			return false;
	return true;
}

static bool element_can_match(const struct element *element, const struct command_word *word)
{
	for (size_t i = 0; i < element->count; i++) {
		struct str choice = element->choices[i];
		if (str_is(choice, word->text) || (word->can_vary && command_word_can_be(word, choice)))
			return true;
	}
	return false;
}

/* True if the rule matches for some content of the folder: a word with a pattern can become several words, or none.
 * Bit n of reached[k]: the words up to here can be the first n of the pattern. k = 1: at least one of them is not a
 * mere expansion. With is_guess a mere expansion (`$x`) is any words; without, it matches nothing. */
static bool rule_can_match(const struct rule *rule, const struct plain_command *command, bool is_guess)
{
	uint64_t reached[2] = {1, 0}, whole = 1ull << rule->count;
	for (size_t at = 0; at < command->count && !(reached[1] & whole); at++) {
		const struct command_word *word = &command->words[at];
		bool is_unknown = command_word_is_unknown(word);
		bool is_open = is_unknown ? is_guess : word->can_vary;
		uint64_t next[2] = {is_open ? reached[0] : 0, is_open ? reached[1] : 0};
		for (size_t n = 0; n < rule->count; n++) {
			bool is_match = is_unknown ? is_guess : element_can_match(&rule->elements[n], word);
			for (int k = 0; k < 2 && is_match; k++)
				if ((reached[k] | (is_open ? next[k] : 0)) & (1ull << n))
					next[is_unknown ? k : 1] |= 1ull << (n + 1);
		}
		memcpy(reached, next, sizeof(reached));
		if (!reached[0] && !reached[1])
			return false;
	}
	return reached[1] & whole;
}

size_t exec_policy_count(const struct exec_policy *policy)
{
	return policy->rules.count;
}

/* The rules from `first` to before `end` against all that a command runs. */
struct search {
	const struct exec_policy *policy;
	size_t first, end;
	const struct plain_command *outer;
	struct exec_match *ret;
	bool is_any;
};

static void take_match(struct search *search, const struct rule *rule, enum exec_decision decision, bool is_within)
{
	if (search->is_any && decision <= search->ret->decision)
		return;
	*search->ret = (struct exec_match){decision, rule->count, rule->justification, is_within};
	search->is_any = true;
}

/* A rule that restricts applies if it can match. If that depends on a variable, it asks. */
static void restrict_command(const struct plain_command *command, void *self)
{
	struct search *search = self;
	bool is_within = command->words != search->outer->words;
	for (size_t at = search->first; at < search->end; at++) {
		const struct rule *rule = &search->policy->rules.items[at];
		if (rule->decision == EXEC_allow)
			continue;
		if (rule_can_match(rule, command, false))
			take_match(search, rule, rule->decision, is_within);
		else if (rule_can_match(rule, command, true))
			take_match(search, rule, EXEC_prompt, is_within);
	}
}

/* A rule that allows must match as written. One that restricts also applies to what the command runs, and asks if that
 * could not be read completely. */
static bool search_rules(const struct exec_policy *policy, size_t first, size_t end,
                         const struct plain_command *command, struct exec_match *ret)
{
	struct search search = {policy, first, end, command, ret, false};
	bool is_whole = first == end || command_walk(command, restrict_command, &search);
	for (size_t at = first; at < end; at++) {
		const struct rule *rule = &policy->rules.items[at];
		if (rule->decision == EXEC_allow && rule_matches(rule, command))
			take_match(&search, rule, EXEC_allow, false);
		else if (rule->decision != EXEC_allow && !is_whole)
			take_match(&search, rule, EXEC_prompt, true);
	}
	return search.is_any;
}

bool exec_policy_match(const struct exec_policy *policy, size_t at, const struct plain_command *command,
                       struct exec_match *ret)
{
	return search_rules(policy, at, at + 1, command, ret);
}

bool exec_policy_decide(const struct exec_policy *policy, const struct plain_command *command, struct exec_match *ret)
{
	return search_rules(policy, 0, policy->rules.count, command, ret);
}

const char *exec_policy_word(const struct exec_policy *policy, size_t at, size_t word, struct arena *arena)
{
	const struct element *element = &policy->rules.items[at].elements[word];
	const char *text = arena_cstr(arena, element->choices[0]);
	for (size_t i = 1; i < element->count; i++)
		text = arena_printf(arena, "%s|%.*s", text, STR_ARG(element->choices[i]));
	return text;
}

/* --- reading a rule ------------------------------------------------------------------------------------------- */

struct reading {
	const char *source;
	const struct rules_call *call;
	struct arena *arena;
	struct error *err;
};

static int refuse(const struct reading *reading, const char *what)
{
	return error_set(reading->err, ERR_config, "%s:%u: %s", reading->source, reading->call->line, what);
}

static int read_element(const struct reading *reading, const struct rules_value *value, struct element *ret)
{
	bool is_list = value->kind == RULES_list;
	const struct rules_value *choices = is_list ? value->items : value;
	ret->count = is_list ? value->count : 1;
	if (ret->count == 0)
		return refuse(reading, "a pattern's alternatives cannot be empty");
	ret->choices = arena_array(reading->arena, struct str, ret->count);
	for (size_t i = 0; i < ret->count; i++) {
		if (choices[i].kind != RULES_text)
			return refuse(reading,
			              "a pattern is a list; each element is a word or a list of alternative words");
		ret->choices[i] = choices[i].text;
	}
	return 0;
}

static int read_pattern(const struct reading *reading, struct rule *rule)
{
	const struct rules_value *pattern = rules_argument_find(reading->call, "pattern", 0);
	if (!pattern || pattern->kind != RULES_list)
		return refuse(reading, "prefix_rule needs pattern = [\"word\", …]");
	if (pattern->count == 0)
		return refuse(reading, "invalid pattern element: pattern cannot be empty");
	rule->count = pattern->count;
	rule->elements = arena_array(reading->arena, struct element, pattern->count);
	for (size_t i = 0; i < pattern->count; i++) {
		int code = read_element(reading, &pattern->items[i], &rule->elements[i]);
		if (code)
			return code;
	}
	return 0;
}

static int read_decision(const struct reading *reading, struct rule *rule)
{
	const struct rules_value *value = rules_argument_find(reading->call, "decision", 1);
	if (!value)
		return 0;
	for (size_t i = 0; i < sizeof(decision_names) / sizeof(*decision_names); i++) {
		if (value->kind == RULES_text && str_is(value->text, decision_names[i])) {
			rule->decision = (enum exec_decision)i;
			return 0;
		}
	}
	return error_set(reading->err, ERR_config, "%s:%u: invalid decision: %.*s; expected allow, prompt or forbidden",
	                 reading->source, reading->call->line, STR_ARG(value->text));
}

static int read_justification(const struct reading *reading, struct rule *rule)
{
	const struct rules_value *value = rules_argument_find(reading->call, "justification", 4);
	if (!value || value->kind == RULES_none)
		return 0;
	if (value->kind != RULES_text || str_trim(value->text).len == 0)
		return refuse(reading, "invalid rule: justification cannot be empty");
	rule->justification = value->text;
	return 0;
}

/* An example is a list of words, or a command line. */
static int read_example(const struct reading *reading, const struct rules_value *value, struct plain_command *ret)
{
	const char **argv = NULL;
	if (value->kind == RULES_text && !shell_split(value->text, reading->arena, &argv))
		return refuse(reading, "an example has an unclosed quote");
	ret->count = value->kind == RULES_list ? value->count : 0;
	while (argv && argv[ret->count])
		ret->count++;
	ret->words = arena_array(reading->arena, struct command_word, ret->count + 1);
	for (size_t i = 0; i < ret->count; i++) {
		if (!argv && value->items[i].kind != RULES_text)
			return refuse(reading, "an example is a string or a list of strings");
		ret->words[i].text = argv ? argv[i] : arena_cstr(reading->arena, value->items[i].text);
	}
	return ret->count > 0 ? 0 : refuse(reading, "an example cannot be empty");
}

static int check_examples(const struct reading *reading, const struct rule *rule, const char *name, size_t position)
{
	const struct rules_value *examples = rules_argument_find(reading->call, name, position);
	bool should_match = strcmp(name, "match") == 0;
	if (!examples || examples->kind == RULES_none)
		return 0;
	if (examples->kind != RULES_list)
		return refuse(reading, "match and not_match must be lists of examples");
	for (size_t i = 0; i < examples->count; i++) {
		struct plain_command command = {0};
		int code = read_example(reading, &examples->items[i], &command);
		if (code)
			return code;
		if (rule_matches(rule, &command) != should_match)
			return refuse(reading, should_match ? "an example of match is not matched by its rule"
			                                    : "an example of not_match is matched by its rule");
	}
	return 0;
}

static int check_names(const struct reading *reading)
{
	static const char *const names[] = {"pattern", "decision", "match", "not_match", "justification"};
	for (size_t i = 0; i < reading->call->count; i++) {
		struct str name = reading->call->arguments[i].name;
		bool is_known = !name.ptr;
		for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++)
			is_known = is_known || str_is(name, names[at]);
		if (!is_known)
			return error_set(reading->err, ERR_config, "%s:%u: prefix_rule has no argument `%.*s`",
			                 reading->source, reading->call->line, STR_ARG(name));
	}
	return 0;
}

static int read_rule(const struct reading *reading, struct rule *rule)
{
	int code = check_names(reading);
	if (!code)
		code = read_pattern(reading, rule);
	if (!code)
		code = read_decision(reading, rule);
	if (!code && rule->decision != EXEC_allow && rule->count > LIMIT_RULE_PATTERN)
		code = error_set(reading->err, ERR_config,
		                 "%s:%u: a pattern that prompts or forbids has at most %d words", reading->source,
		                 reading->call->line, LIMIT_RULE_PATTERN);
	if (!code)
		code = check_examples(reading, rule, "match", 2);
	if (!code)
		code = check_examples(reading, rule, "not_match", 3);
	return code ? code : read_justification(reading, rule);
}

/* True for rules about hosts and program locations, which codex 0.169 has; they are accepted and ignored. */
static bool is_other_rule(const struct rules_call *call)
{
	return str_is(call->name, "host_executable") || str_is(call->name, "network_rule");
}

int exec_policy_add(struct exec_policy *policy, struct str text, const char *source, struct error *err)
{
	if (text.len > LIMIT_RULES_FILE)
		return error_set(err, ERR_limit, "%s: a rules file can have at most %d bytes", source,
		                 LIMIT_RULES_FILE);
	struct rules_call *calls;
	size_t count, before = policy->rules.count;
	text = arena_str(&policy->arena, text);
	int code = rules_parse(text, source, &policy->arena, &calls, &count, err);
	for (size_t i = 0; i < count && !code; i++) {
		struct reading reading = {source, &calls[i], &policy->arena, err};
		struct rule rule = {0};
		if (is_other_rule(&calls[i]))
			continue;
		code = str_is(calls[i].name, "prefix_rule")
		               ? read_rule(&reading, &rule)
		               : refuse(&reading, "unknown rule; only prefix_rule(…) is supported");
		if (!code)
			vec_push(&policy->rules, rule);
	}
	if (code)
		policy->rules.count = before;
	return code;
}

int exec_policy_add_strict(struct exec_policy *policy, struct str text, const char *source, size_t *ret_dropped,
                           struct error *err)
{
	size_t kept = policy->rules.count;
	int code = exec_policy_add(policy, text, source, err);
	for (size_t at = kept; at < policy->rules.count; at++) {
		if (policy->rules.items[at].decision != EXEC_allow)
			policy->rules.items[kept++] = policy->rules.items[at];
	}
	*ret_dropped = policy->rules.count - kept;
	policy->rules.count = kept;
	return code;
}

void exec_policy_allow(struct exec_policy *policy, const struct str *words, size_t count)
{
	struct rule rule = {.elements = arena_array(&policy->arena, struct element, count), .count = count};
	for (size_t i = 0; i < count; i++) {
		rule.elements[i] = (struct element){arena_new(&policy->arena, struct str), 1};
		rule.elements[i].choices[0] = arena_str(&policy->arena, words[i]);
	}
	vec_push(&policy->rules, rule);
}

static void write_text(struct buf *out, struct str text)
{
	buf_append_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\n' || c == '\r' || c == '\t') {
			buf_append_c(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
			continue;
		}
		if (c == '"' || c == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, c);
	}
	buf_append_char(out, '"');
}

void exec_policy_write_allow(struct buf *out, const struct str *words, size_t count)
{
	buf_append_c(out, "prefix_rule(pattern=[");
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_append_c(out, ", ");
		write_text(out, words[i]);
	}
	buf_append_c(out, "], decision=\"allow\")\n");
}
