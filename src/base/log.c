/* Each call writes one line to stderr with a single write(2), so that lines of several processes on one terminal do
 * not interleave. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { LOG_RULES_MAX = 16, LOG_LINE_MAX = 2048 };

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

static struct {
	enum log_level everywhere;
	struct {
		char module[24];
		enum log_level level;
	} rules[LOG_RULES_MAX];
	int rule_count;
} filter = {.everywhere = LOG_WARN};

static bool level_of(struct str word, enum log_level *ret)
{
	for (int i = 0; i <= LOG_TRACE; i++) {
		if (str_is(word, level_names[i])) {
			*ret = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static void add_rule(struct str part)
{
	enum log_level level;
	ptrdiff_t eq = str_find_char(part, '=');
	if (eq < 0) {
		if (level_of(part, &level))
			filter.everywhere = level;
		return;
	}
	struct str module = str_n(part.ptr, (size_t)eq);
	if (filter.rule_count == LOG_RULES_MAX || module.len >= sizeof(filter.rules[0].module) ||
	    !level_of(str_skip(part, (size_t)eq + 1), &level))
		return;
	memcpy(filter.rules[filter.rule_count].module, module.ptr, module.len);
	filter.rules[filter.rule_count].module[module.len] = '\0';
	filter.rules[filter.rule_count++].level = level;
}

void log_configure(const char *text)
{
	struct str rest = str_of(text), part;
	while (str_next_part(&rest, ',', &part))
		add_rule(str_trim(part));
}

bool log_enabled(const char *module, enum log_level level)
{
	for (int i = 0; i < filter.rule_count; i++) {
		if (strcmp(filter.rules[i].module, module) == 0)
			return level <= filter.rules[i].level;
	}
	return level <= filter.everywhere;
}

void log_write(const char *module, enum log_level level, const char *format, ...)
{
	char line[LOG_LINE_MAX];
	int len = snprintf(line, sizeof(line), "codex: %s %s: ", level_names[level], module);
	va_list args;
	va_start(args, format);
	len += vsnprintf(line + len, sizeof(line) - (size_t)len, format, args);
	va_end(args);
	if ((size_t)len >= sizeof(line))
		len = (int)sizeof(line) - 1;
	line[len] = '\n';
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)len + 1);
	(void)ignored;
}
