/* The file is not trusted: every value has a maximum length, and an icon must be a file in the skill's assets
 * folder. */
#include "skill/skill_file.h"

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "skill/yaml.h"

enum { MAX_NAME = 64, MAX_TEXT = 1024 };

static int check_length(struct str text, const char *field, size_t max, struct error *err)
{
	if (text_char_count(text) <= max)
		return 0;
	return error_set(err, ERR_invalid, "invalid %s: exceeds maximum length of %zu characters", field, max);
}

/* A skill without a name is named after its folder. */
static struct str default_name(const char *path, struct arena *arena)
{
	auto_free char *folder = str_dup(path_dir(path));
	return arena_str(arena, path_name(folder));
}

static int fill(const struct json *front, const char *path, struct arena *arena, struct skill_metadata *skill,
                struct error *err)
{
	skill->name = yaml_get_line(front, "name", arena);
	if (!skill->name.ptr)
		skill->name = default_name(path, arena);
	skill->description = yaml_get_line(front, "description", arena);
	skill->short_description = yaml_get_line(json_get(front, "metadata"), "short-description", arena);
	if (!skill->description.ptr)
		return error_set(err, ERR_invalid, "invalid YAML: missing field `description`");
	if (check_length(skill->name, "name", MAX_NAME, err) != 0 ||
	    check_length(skill->description, "description", MAX_TEXT, err) != 0)
		return -(int)err->code;
	return check_length(skill->short_description, "metadata.short-description", MAX_TEXT, err);
}

/* ---- agents/openai.yaml ---- */

static struct str short_text(const struct json *from, const char *key, size_t max, struct arena *arena)
{
	struct str text = yaml_get_line(from, key, arena);
	return text_char_count(text) <= max ? text : STR_NONE;
}

static struct str icon(const struct json *from, const char *key, const char *folder, struct arena *arena)
{
	struct str name = short_text(from, key, MAX_TEXT, arena);
	str_cut_prefix(&name, "./");
	if (!str_has_prefix(name, "assets/") || str_find(name, STR("..")) >= 0)
		return STR_NONE;
	return str_of(arena_printf(arena, "%s/%.*s", folder, STR_ARG(name)));
}

static struct str color(const struct json *from, struct arena *arena)
{
	struct str text = short_text(from, "brand_color", 7, arena);
	return text.len == 7 && text.ptr[0] == '#' && strspn(text.ptr + 1, "0123456789abcdefABCDEF") == 6 ? text
	                                                                                                  : STR_NONE;
}

static void fill_interface(const struct json *from, const char *folder, struct arena *arena,
                           struct skill_metadata *skill)
{
	struct skill_interface view = {
		.display_name = short_text(from, "display_name", MAX_NAME, arena),
		.short_description = short_text(from, "short_description", MAX_TEXT, arena),
		.icon_small = icon(from, "icon_small", folder, arena),
		.icon_large = icon(from, "icon_large", folder, arena),
		.brand_color = color(from, arena),
		.default_prompt = short_text(from, "default_prompt", MAX_TEXT, arena),
	};
	if (!json_is(from, JSON_object))
		return;
	skill->interface = arena_new(arena, struct skill_interface);
	*skill->interface = view;
}

static void fill_dependencies(const struct json *tools, struct arena *arena, struct skill_metadata *skill)
{
	if (!json_is(tools, JSON_array) || !tools->count)
		return;
	struct skill_dependencies *needs = arena_new(arena, struct skill_dependencies);
	needs->tools = arena_array(arena, struct skill_tool, tools->count);
	json_for_each(it, tools) {
		struct skill_tool tool = {
			.type = short_text(it, "type", MAX_NAME, arena),
			.value = short_text(it, "value", MAX_TEXT, arena),
			.description = short_text(it, "description", MAX_TEXT, arena),
			.transport = short_text(it, "transport", MAX_NAME, arena),
			.command = short_text(it, "command", MAX_TEXT, arena),
			.url = short_text(it, "url", MAX_TEXT, arena),
		};
		if (tool.type.ptr && tool.value.ptr)
			needs->tools[needs->tools_count++] = tool;
	}
	if (needs->tools_count)
		skill->dependencies = needs;
}

static void read_extras(const char *path, struct arena *arena, struct skill_metadata *skill)
{
	auto_free char *folder = str_dup(path_dir(path));
	auto_free char *file = path_join(folder, "agents/openai.yaml");
	auto_buf struct buf text;
	buf_init(&text, LIMIT_FRONT_MATTER);
	if (!file_is_regular(file) || file_read_regular(file, &text, NULL) != 0)
		return;
	const struct json *root = yaml_read(arena, buf_str(&text), NULL);
	fill_interface(json_get(root, "interface"), folder, arena, skill);
	fill_dependencies(json_path(root, "dependencies.tools"), arena, skill);
}

int skill_file_read(const char *path, enum skill_scope scope, struct arena *arena, struct skill_metadata *ret,
                    struct error *err)
{
	auto_buf struct buf text;
	struct str yaml, body;
	struct skill_metadata skill = {.path = arena_str(arena, str_of(path)), .scope = scope};
	buf_init(&text, LIMIT_SKILL_FILE);
	if (file_read_regular(path, &text, err) != 0)
		return error_wrap(err, "failed to read file");
	if (!yaml_split_front_matter(buf_str(&text), &yaml, &body))
		return error_set(err, ERR_invalid, "missing YAML frontmatter delimited by ---");
	const struct json *front = yaml_read(arena, yaml, err);
	if (!front)
		return error_wrap(err, "invalid YAML");
	if (!json_is(front, JSON_object))
		return error_set(err, ERR_invalid, "invalid YAML: keys and values were expected");
	if (fill(front, path, arena, &skill, err) != 0)
		return -(int)err->code;
	read_extras(path, arena, &skill);
	*ret = skill;
	return 0;
}
