/* A list contains the whole files, because clients expand the texts themselves; the expansion here is for front ends
 * that do not. A text with named placeholders ($FILE) takes key=value arguments, any other text positional ones. */
#include "skill/custom_prompt.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "skill/yaml.h"

/* ---- the list ---- */

static struct custom_prompt parse(struct str path, struct str name, struct str text, struct arena *arena)
{
	struct str yaml, body = text;
	struct custom_prompt prompt = {.name = name, .path = path};
	if (yaml_split_front_matter(text, &yaml, &body)) {
		const struct json *front = yaml_read(arena, yaml, NULL);
		prompt.description = yaml_get_line(front, "description", arena);
		prompt.argument_hint = yaml_get_line(front, "argument-hint", arena);
		if (!prompt.argument_hint.ptr)
			prompt.argument_hint = yaml_get_line(front, "argument_hint", arena);
	} else {
		body = text;
	}
	while (body.len && (body.ptr[0] == '\n' || body.ptr[0] == '\r'))
		body = str_skip(body, 1);
	prompt.content = arena_str(arena, body);
	return prompt;
}

static bool read_prompt(const char *folder, const char *file, struct arena *arena, struct custom_prompt *ret)
{
	auto_buf struct buf text;
	auto_free char *path = path_join(folder, file);
	struct str name = str_of(file);
	buf_init(&text, LIMIT_PROMPT_FILE);
	if (!str_has_suffix(name, ".md") || name.len == 3 || !text_is_utf8(name) || !file_is_regular(path))
		return false;
	if (file_read_regular(path, &text, NULL) != 0 || !text_is_utf8(buf_str(&text)))
		return false;
	name.len -= 3;
	*ret = parse(arena_str(arena, str_of(path)), arena_str(arena, name), buf_str(&text), arena);
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct custom_prompt *a = left, *b = right;
	return str_compare(a->name, b->name);
}

struct ev_list_custom_prompts custom_prompt_list(const char *home, struct arena *arena)
{
	auto_free char *folder = path_join(home, "prompts");
	struct ev_list_custom_prompts list = {0};
	VEC(struct custom_prompt) found = {0};
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && found.count < LIMIT_PROMPT_FILES && (entry = readdir(dir));) {
		struct custom_prompt prompt;
		if (read_prompt(folder, entry->d_name, arena, &prompt))
			vec_push(&found, prompt);
	}
	if (dir)
		closedir(dir);
	list.custom_prompts = arena_array(arena, struct custom_prompt, found.count + 1);
	vec_for_each(it, &found)
		list.custom_prompts[list.custom_prompts_count++] = *it;
	vec_finish(&found);
	qsort(list.custom_prompts, list.custom_prompts_count, sizeof(struct custom_prompt), compare);
	return list;
}

/* ---- arguments ---- */

struct call {
	struct str name;
	struct str rest; /* all arguments, unparsed */
	VEC(struct str) words;
	struct arena arena;
};

bool custom_prompt_is_called(struct str text)
{
	return str_has_prefix(str_trim(text), "/prompts:");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Cuts a word by the shell's rules for quotes and backslashes. False if a quote is not closed. */
static bool cut_word(struct str *rest, struct buf *word)
{
	char quote = 0;
	for (; rest->len && (quote || !is_blank(rest->ptr[0])); *rest = str_skip(*rest, 1)) {
		char c = rest->ptr[0];
		if (c == '\\' && quote != '\'' && rest->len > 1) {
			*rest = str_skip(*rest, 1);
			buf_append_char(word, rest->ptr[0]);
		} else if (c == quote) {
			quote = 0;
		} else if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else {
			buf_append_char(word, c);
		}
	}
	return !quote;
}

static int read_call(struct call *call, struct str text, struct error *err)
{
	text = str_trim(text);
	str_cut_prefix(&text, "/prompts:");
	call->name = text;
	call->name.len = 0;
	while (text.len && !is_blank(text.ptr[0])) {
		call->name.len++;
		text = str_skip(text, 1);
	}
	call->rest = str_trim(text);
	for (struct str rest = call->rest; (rest = str_trim_start(rest)).len;) {
		auto_buf struct buf word;
		buf_init(&word, LIMIT_PROMPT_FILE);
		if (!cut_word(&rest, &word))
			return error_set(err, ERR_invalid, "/prompts:%.*s: a quote is not closed", STR_ARG(call->name));
		vec_push(&call->words, arena_str(&call->arena, buf_str(&word)));
	}
	return 0;
}

/* ---- placeholders ---- */

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Returns the name after a dollar sign, which may be empty. */
static struct str named(struct str behind)
{
	size_t len = 0;
	while (len < behind.len &&
	       (is_upper(behind.ptr[len]) ||
	        (len && (behind.ptr[len] == '_' || (behind.ptr[len] >= '0' && behind.ptr[len] <= '9')))))
		len++;
	return str_n(behind.ptr, len);
}

static struct str find_value(const struct call *call, struct str name)
{
	struct str value = STR_NONE;
	vec_for_each(word, &call->words) {
		ptrdiff_t equals = str_find_char(*word, '=');
		if (equals > 0 && str_eq(str_n(word->ptr, (size_t)equals), name))
			value = str_skip(*word, (size_t)equals + 1);
	}
	return value;
}

/* Expands the placeholders of a text, and appends the rest unchanged. */
struct filler {
	const struct call *call;
	struct buf *out;
	struct buf missing; /* names without a value */
	bool has_named;
};

static size_t fill_one(struct filler *to, struct str behind)
{
	struct str name = named(behind);
	if (behind.len && behind.ptr[0] >= '1' && behind.ptr[0] <= '9') {
		size_t index = (size_t)(behind.ptr[0] - '1');
		if (index < to->call->words.count)
			buf_append_str(to->out, to->call->words.items[index]);
		return 1;
	}
	if (str_is(name, "ARGUMENTS")) {
		for (size_t i = 0; i < to->call->words.count; i++) {
			buf_append_c(to->out, i ? " " : "");
			buf_append_str(to->out, to->call->words.items[i]);
		}
		return name.len;
	}
	if (!name.len) {
		buf_append_char(to->out, '$');
		return 0;
	}
	struct str value = find_value(to->call, name);
	to->has_named = true;
	if (value.ptr)
		buf_append_str(to->out, value);
	else
		buf_printf(&to->missing, "%s%.*s", to->missing.len ? ", " : "", STR_ARG(name));
	return name.len;
}

static void fill(struct filler *to, struct str text)
{
	ptrdiff_t dollar;
	while ((dollar = str_find_char(text, '$')) >= 0) {
		buf_append_str(to->out, str_n(text.ptr, (size_t)dollar));
		text = str_skip(text, (size_t)dollar + 1);
		if (text.len && text.ptr[0] == '$') {
			buf_append_c(to->out, "$$");
			text = str_skip(text, 1);
		} else {
			text = str_skip(text, fill_one(to, text));
		}
	}
	buf_append_str(to->out, text);
}

static int check_words(const struct call *call, struct error *err)
{
	vec_for_each(word, &call->words) {
		ptrdiff_t equals = str_find_char(*word, '=');
		if (equals < 0)
			return error_set(err, ERR_invalid,
			                 "Could not parse /prompts:%.*s: expected key=value but found '%.*s'. Wrap "
			                 "values in double quotes if they contain spaces.",
			                 STR_ARG(call->name), STR_ARG(*word));
		if (equals == 0)
			return error_set(err, ERR_invalid,
			                 "Could not parse /prompts:%.*s: expected a name before '=' in '%.*s'.",
			                 STR_ARG(call->name), STR_ARG(*word));
	}
	return 0;
}

static int check(const struct filler *to, struct error *err)
{
	if (to->has_named && check_words(to->call, err) != 0)
		return -(int)err->code;
	if (to->missing.len)
		return error_set(err, ERR_invalid,
		                 "Missing required args for /prompts:%.*s: %s. Provide as key=value (quote values with "
		                 "spaces).",
		                 STR_ARG(to->call->name), to->missing.data);
	if (to->out->over)
		return error_set(err, ERR_limit, "/prompts:%.*s becomes too long", STR_ARG(to->call->name));
	return 0;
}

static int expand(const char *home, struct call *call, struct buf *out, struct error *err)
{
	struct custom_prompt prompt;
	auto_free char *folder = path_join(home, "prompts");
	auto_free char *file = xasprintf("%.*s.md", STR_ARG(call->name));
	struct filler filler = {.call = call, .out = out};
	if (str_find_char(call->name, '/') >= 0 || !read_prompt(folder, file, &call->arena, &prompt))
		return error_set(err, ERR_not_found, "prompt %.*s not found: %s has no readable %s",
		                 STR_ARG(call->name), folder, file);
	buf_init(&filler.missing, 4 * KIB);
	fill(&filler, prompt.content);
	int status = check(&filler, err);
	buf_finish(&filler.missing);
	return status;
}

int custom_prompt_expand(const char *home, struct str text, struct buf *out, struct error *err)
{
	struct call call = {0};
	int status = read_call(&call, text, err);
	if (status == 0)
		status = expand(home, &call, out, err);
	vec_finish(&call.words);
	arena_finish(&call.arena);
	return status;
}
