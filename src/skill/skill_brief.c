/* Every request contains this text, so its budget does not grow with the number of skills. */
#include "skill/skill_brief.h"

#include "base/limits.h"
#include "base/text.h"
#include "skill/skill_text.h"

/* Returns the length that the descriptions may have so that all skills fit. */
static size_t find_share(const struct skills_list_entry *entry)
{
	size_t fixed = 0, texts = 0, count = 0;
	for (size_t i = 0; i < entry->skills_count; i++) {
		const struct skill_metadata *skill = &entry->skills[i];
		if (!skill->enabled)
			continue;
		count++;
		fixed += skill->name.len + skill->path.len + sizeof("- :  (file: )\n");
		texts += skill->description.len;
	}
	if (fixed + texts <= LIMIT_SKILL_LIST)
		return SIZE_MAX;
	size_t room = fixed < LIMIT_SKILL_LIST ? (LIMIT_SKILL_LIST - fixed) / count : 0;
	return room < LIMIT_SKILL_LIST_TEXT / 4 ? LIMIT_SKILL_LIST_TEXT / 4 : room;
}

/* True if the description was shortened. */
static bool write_line(const struct skill_metadata *skill, size_t share, struct buf *out)
{
	struct str about = skill->description;
	bool is_cut = about.len > share;
	if (is_cut)
		about.len = text_floor_boundary(about, share);
	buf_append_c(out, "- ");
	text_append_line(out, skill->name);
	buf_append_c(out, ": ");
	text_append_line(out, about);
	buf_append_c(out, is_cut ? "… (file: " : " (file: ");
	text_append_line(out, skill->path);
	buf_append_c(out, ")\n");
	return is_cut;
}

static struct skill_brief_cut write_list(const struct skills_list_entry *entry, struct buf *out)
{
	size_t share = find_share(entry), from = out->len;
	struct skill_brief_cut cut = {0};
	for (size_t i = 0; i < entry->skills_count; i++) {
		size_t before = out->len;
		if (!entry->skills[i].enabled)
			continue;
		bool is_cut = !cut.left_out && write_line(&entry->skills[i], share, out);
		if (cut.left_out || out->len - from > LIMIT_SKILL_LIST) {
			buf_truncate(out, before);
			cut.left_out++;
		} else if (is_cut) {
			cut.shortened++;
		}
	}
	if (cut.left_out)
		buf_printf(out, "- and %zu more, which there is no room to list\n", cut.left_out);
	return cut;
}

static bool has_any(const struct skills_list_entry *entry)
{
	for (size_t i = 0; i < entry->skills_count; i++) {
		if (entry->skills[i].enabled)
			return true;
	}
	return false;
}

struct skill_brief_cut skill_brief_write(const struct skills_list_entry *entry, struct buf *out)
{
	if (!has_any(entry))
		return (struct skill_brief_cut){0};
	buf_append_c(out, "<skills_instructions>\n## Skills\n");
	buf_append_str(out, skill_text_skills);
	buf_append_c(out, "\n");
	struct skill_brief_cut cut = write_list(entry, out);
	buf_append_str(out, skill_text_skills_use);
	buf_append_c(out, "\n</skills_instructions>");
	return cut;
}

void skill_brief_write_file(const struct skill_metadata *skill, struct str content, struct buf *out)
{
	buf_append_c(out, "<skill>\n<name>");
	text_append_line(out, skill->name);
	buf_append_c(out, "</name>\n<path>");
	text_append_line(out, skill->path);
	buf_append_c(out, "</path>\n");
	text_append_utf8_lossy(out, content);
	buf_append_c(out, "\n</skill>");
}
