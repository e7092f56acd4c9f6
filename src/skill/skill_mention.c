/* Short on purpose: one scan of a text, from dollar to dollar. A link is resolved by its target alone:
 * [$docs](mcp://docs) names a server, even if a skill is called docs. */
#include "skill/skill_mention.h"

#include "base/mem.h"
#include "skill/skill_scan.h"

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
	       c == ':';
}

static bool is_shells(struct str name)
{
	static const char *const words[] = {"PATH", "HOME", "USER", "SHELL",          "PWD", "TMPDIR", "TEMP",
	                                    "TMP",  "LANG", "TERM", "XDG_CONFIG_HOME"};
	for (size_t i = 0; i < countof(words); i++) {
		if (str_equal_fold(name, str_of(words[i])))
			return true;
	}
	return false;
}

static const struct skill_metadata *find_name(const struct skills_list_entry *entry, struct str name)
{
	const struct skill_metadata *found = NULL;
	for (size_t i = 0; i < entry->skills_count; i++) {
		const struct skill_metadata *skill = &entry->skills[i];
		if (!skill->enabled || !str_eq(skill->name, name))
			continue;
		if (found)
			return NULL;
		found = skill;
	}
	return found;
}

/* True if "](target)" follows, which is then cut off *rest. */
static bool cut_target(struct str *rest, struct str *ret_target)
{
	struct str at = *rest;
	if (!str_cut_prefix(&at, "]("))
		return false;
	ptrdiff_t end = str_find_char(at, ')');
	if (end < 0)
		return false;
	*ret_target = str_n(at.ptr, (size_t)end);
	*rest = str_skip(at, (size_t)end + 1);
	return true;
}

void skill_mention_each(const struct skills_list_entry *entry, struct str text, skill_mention_fn on_mention, void *self)
{
	ptrdiff_t dollar;
	struct str rest = text;
	while (entry->skills_count && (dollar = str_find_char(rest, '$')) >= 0) {
		const char *at = rest.ptr + dollar;
		struct str name = {at + 1, 0}, target;
		rest = str_skip(rest, (size_t)dollar + 1);
		while (rest.len && is_name_char(rest.ptr[0])) {
			name.len++;
			rest = str_skip(rest, 1);
		}
		if (!name.len)
			continue;
		const struct skill_metadata *skill = NULL;
		if (at > text.ptr && at[-1] == '[' && cut_target(&rest, &target)) {
			str_cut_prefix(&target, "skill://");
			skill = target.len && target.ptr[0] == '/' ? skill_find(entry, target) : NULL;
		} else if (!is_shells(name)) {
			skill = find_name(entry, name);
		}
		if (skill)
			on_mention(skill, self);
	}
}
