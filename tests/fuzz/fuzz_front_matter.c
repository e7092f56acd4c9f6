/* Front matter is a part of its text, without the lines around it; its values are one line each, read the same when
 * they are written again, and a skill with such a name takes as many lines of a prompt as any other. */
#include "fuzz.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "skill/skill_brief.h"
#include "skill/yaml.h"

static bool is_within(struct str part, struct str text)
{
	return part.ptr >= text.ptr && part.ptr + part.len <= text.ptr + text.len;
}

static size_t count_lines(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == '\n';
	return count;
}

static void check_line(struct str line)
{
	fuzz_check(!line.ptr || line.len);
	fuzz_check(text_is_utf8(line) && text_char_count(line) <= line.len);
	fuzz_check(str_eq(str_trim(line), line) && str_find(line, STR("  ")) < 0);
	for (size_t i = 0; i < line.len; i++)
		fuzz_check(!strchr("\t\n\v\f\r", line.ptr[i]) || !line.ptr[i]);
}

/* YAML takes every text of printable ASCII that JSON has quoted. */
static bool is_printable(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7e)
			return false;
	}
	return true;
}

static void check_again(struct str value)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct str yaml, body;
	buf_init(&text, MIB);
	if (!value.ptr || !is_printable(value) || value.len > LIMIT_FRONT_MATTER / 8)
		return;
	buf_append_c(&text, "---\nname: ");
	struct json_writer w = json_writer(&text);
	jw_str(&w, value);
	buf_append_c(&text, "\n---\nbody");
	fuzz_check(yaml_split_front_matter(buf_str(&text), &yaml, &body));
	fuzz_check(str_is(body, "body"));
	fuzz_check(str_eq(yaml_get_line(yaml_read(&arena, yaml, NULL), "name", &arena), value));
}

/* The name may also be that of a folder, which can hold any byte. */
static void check_prompt(struct str name, struct str description, struct str path)
{
	auto_buf struct buf text, plain;
	struct skill_metadata skill = {.name = name, .description = description, .path = path, .enabled = true};
	struct skill_metadata other = {.name = STR("a"), .description = STR("b"), .path = STR("/c"), .enabled = true};
	struct skills_list_entry list = {.skills = &skill, .skills_count = 1};
	struct skills_list_entry others = {.skills = &other, .skills_count = 1};
	buf_init(&text, MIB);
	buf_init(&plain, MIB);
	skill_brief_write(&list, &text);
	skill_brief_write(&others, &plain);
	fuzz_check(count_lines(buf_str(&text)) == count_lines(buf_str(&plain)));
	buf_clear(&text);
	buf_clear(&plain);
	skill_brief_write_file(&skill, STR("text"), &text);
	skill_brief_write_file(&other, STR("text"), &plain);
	fuzz_check(count_lines(buf_str(&text)) == count_lines(buf_str(&plain)));
	fuzz_check(text_is_utf8(buf_str(&text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena arena = {0};
	struct str text = {(const char *)data, size}, yaml, body, line;
	if (size > 8 * KIB)
		return 0;
	check_prompt(text, text, text);
	if (!yaml_split_front_matter(text, &yaml, &body))
		return 0;
	fuzz_check(is_within(yaml, text) && is_within(body, text) && yaml.ptr + yaml.len < body.ptr + !body.len);
	for (struct str rest = yaml; str_next_line(&rest, &line);)
		fuzz_check(!str_is(str_trim(line), "---"));
	const struct json *front = yaml_read(&arena, yaml, NULL);
	struct str name = yaml_get_line(front, "name", &arena);
	struct str description = yaml_get_line(front, "description", &arena);
	check_line(name);
	check_line(description);
	check_again(name);
	check_again(description);
	check_prompt(name, description, STR("/x/SKILL.md"));
	return 0;
}
