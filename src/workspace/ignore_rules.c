/* The last matching line decides, so lines are tried from the end. */
#include "workspace/ignore_rules.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/vec.h"
#include "workspace/workspace_limits.h"

struct rule {
	struct str pattern;
	bool is_negated, folders_only;
	bool is_anchored; /* matched from the file's folder on; else only the last part of a path is matched */
};

struct ignore_rules {
	char *text;
	VEC(struct rule) rules;
};

/* ---- lines ---- */

/* Removes blanks at the end, unless the last one is quoted. */
static struct str trim_end(struct str line)
{
	while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\r') &&
	       !(line.len > 1 && line.ptr[line.len - 2] == '\\'))
		line.len--;
	return line;
}

static void add_line(struct ignore_rules *rules, struct str line)
{
	struct rule rule = {0};
	line = trim_end(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return;
	rule.is_negated = str_cut_prefix(&line, "!");
	if (line.len && line.ptr[line.len - 1] == '/') {
		rule.folders_only = true;
		line.len--;
	}
	rule.is_anchored = str_find_char(line, '/') >= 0;
	str_cut_prefix(&line, "/");
	rule.pattern = line;
	if (line.len)
		vec_push(&rules->rules, rule);
}

struct ignore_rules *ignore_rules_create(struct str text)
{
	struct ignore_rules *rules = xnew(struct ignore_rules);
	rules->text = str_dup(text);
	struct str rest = str_n(rules->text, text.len), line;
	str_cut_prefix(&rest, "\xef\xbb\xbf");
	while (rules->rules.count < LIMIT_IGNORE_RULES && str_next_line(&rest, &line))
		add_line(rules, line);
	return rules;
}

void ignore_rules_destroy(struct ignore_rules *rules)
{
	if (!rules)
		return;
	vec_finish(&rules->rules);
	free(rules->text);
	free(rules);
}

/* Each pattern has its own limit, so that it cannot use up the steps of the others. */
static bool rule_fits(const struct rule *rule, struct str path, struct str name, size_t *steps)
{
	size_t own = *steps < LIMIT_GLOB_STEPS ? *steps : LIMIT_GLOB_STEPS, left = own;
	bool fits = glob_match(rule->pattern, rule->is_anchored ? path : name, GLOB_PATH, &left);
	*steps -= own - left;
	return fits;
}

enum ignore_verdict ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder, size_t *steps)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	struct str name = slash < 0 ? path : str_skip(path, (size_t)slash + 1);
	for (size_t i = rules->rules.count; i-- > 0 && *steps > 1;) {
		--*steps;
		const struct rule *rule = &rules->rules.items[i];
		if (rule->folders_only && !is_folder)
			continue;
		if (rule_fits(rule, path, name, steps))
			return rule->is_negated ? IGNORE_KEEP : IGNORE_SKIP;
	}
	return IGNORE_SILENT;
}
