/* Matchers are POSIX extended regular expressions: what other programs write in hooks (names, alternatives, `.*`,
 * classes) means the same there. A compiled expression can need memory exponential in its length, if repetitions with
 * counts are nested, so the product of the counts is bounded. */
#include "hook/hook_set.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

enum { REPEATS_MAX = 1000 };

struct matcher {
	bool is_used; /* false: the hook runs on every occurrence */
	regex_t regex;
};

struct hook_set {
	unsigned refs;
	struct hook_config config;
	struct matcher *matchers; /* by index of config.hooks */
};

/* ---- matchers ---- */

static bool is_bounded(const char *text)
{
	unsigned long product = 1;
	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
		char *end = NULL;
		unsigned long low = strtoul(at + 1, &end, 10);
		unsigned long high = *end == ',' ? strtoul(end + 1, NULL, 10) : low;
		unsigned long most = low > high ? low : high;
		product *= most ? most : 1;
		if (most > REPEATS_MAX || product > REPEATS_MAX)
			return false;
	}
	return strlen(text) <= LIMIT_HOOK_MATCHER;
}

/* Writes the expression with the forms that POSIX lacks replaced: `\d`, `(?:`, and lazy repetitions. */
static void translate(const char *text, struct buf *out)
{
	for (; *text; text++) {
		bool is_lazy = *text == '?' && out->len && strchr("*+?", out->data[out->len - 1]) &&
		               !(out->len > 1 && out->data[out->len - 2] == '\\');
		if (strncmp(text, "\\d", 2) == 0) {
			buf_append_c(out, "[0-9]");
			text++;
		} else if (strncmp(text, "(?:", 3) == 0) {
			buf_append_char(out, '(');
			text += 2;
		} else if (*text == '\\' && text[1]) {
			buf_append(out, text++, 2);
		} else if (!is_lazy) {
			buf_append_char(out, *text);
		}
	}
	buf_append_char(out, '\0');
}

static bool compile(const char *text, regex_t *ret)
{
	auto_buf struct buf posix;
	buf_init(&posix, LIMIT_HOOK_MATCHER * 8);
	if (!is_bounded(text))
		return false;
	translate(text, &posix);
	return !posix.over && regcomp(ret, posix.data, REG_EXTENDED | REG_NOSUB) == 0;
}

static void prepare(struct hook_set *set, size_t index)
{
	struct hook *hook = &set->config.list.hooks.items[index];
	struct matcher *matcher = &set->matchers[index];
	const char *text = hook->matcher;
	if (!text || !*text || strcmp(text, "*") == 0 || !hook_events[hook->event].matched || !hook->is_usable)
		return;
	matcher->is_used = compile(text, &matcher->regex);
	if (matcher->is_used)
		return;
	hook->is_usable = false;
	vec_push(&set->config.list.warnings,
	         arena_printf(&set->config.list.arena,
	                      "%s: the hook is ignored: its matcher `%.100s` is not a regular "
	                      "expression that this version supports",
	                      hook->key, text));
}

static bool matches(const struct matcher *matcher, const struct hook_subject *subject)
{
	if (!matcher->is_used)
		return true;
	if (subject->name && regexec(&matcher->regex, subject->name, 0, NULL, 0) == 0)
		return true;
	for (size_t i = 0; subject->aliases && subject->aliases[i]; i++)
		if (regexec(&matcher->regex, subject->aliases[i], 0, NULL, 0) == 0)
			return true;
	return false;
}

/* ---- the set ---- */

struct hook_set *hook_set_create(const struct config *config)
{
	struct hook_set *set = xnew(struct hook_set);
	set->refs = 1;
	hook_config_init(&set->config, config);
	set->matchers = xcalloc(set->config.list.hooks.count + 1, sizeof(*set->matchers));
	for (size_t i = 0; i < set->config.list.hooks.count; i++)
		prepare(set, i);
	return set;
}

struct hook_set *hook_set_ref(struct hook_set *set)
{
	set->refs++;
	return set;
}

void hook_set_unref(struct hook_set *set)
{
	if (!set || --set->refs)
		return;
	for (size_t i = 0; i < set->config.list.hooks.count; i++)
		if (set->matchers[i].is_used)
			regfree(&set->matchers[i].regex);
	free(set->matchers);
	hook_config_finish(&set->config);
	free(set);
}

bool hook_set_has(const struct hook_set *set, enum hook_event event)
{
	vec_for_each(hook, &set->config.list.hooks)
		if (hook->event == event && hook->is_usable)
			return true;
	return false;
}

const struct hook *hook_set_next(const struct hook_set *set, enum hook_event event, const struct hook_subject *subject,
                                 const struct hook *last)
{
	const struct hook *hooks = set->config.list.hooks.items;
	for (size_t i = last ? (size_t)(last - hooks) + 1 : 0; i < set->config.list.hooks.count; i++)
		if (hooks[i].event == event && hooks[i].is_usable && matches(&set->matchers[i], subject))
			return &hooks[i];
	return NULL;
}

const struct hook_config *hook_set_config(const struct hook_set *set)
{
	return &set->config;
}
