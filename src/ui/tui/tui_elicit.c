/* Questions of MCP servers: approval of a call, a form made from a JSON Schema, or a URL to open. The schema is the
 * server's, so a property of a kind that is not known is a text. */
#include <math.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"

static void resolve(struct tui *tui, const struct event *about, enum elicitation_action decision, struct str content,
                    struct str meta)
{
	const struct ev_elicitation_request *asked = about->msg.elicitation_request;
	struct op_resolve_elicitation op = {
		.server_name = asked->server_name,
		.request_id = asked->id,
		.decision = decision,
		.content = content,
		._meta = meta,
	};
	tui_submit(tui, OP_resolve_elicitation, &op);
}

/* ---- approval of a call, a URL, or a question without fields ---- */

/* True if the answer "always" is offered. */
static bool is_storable(const struct json *meta)
{
	const struct json *persist = json_get(meta, "persist");
	return persist && str_find(persist->span, STR("\"always\"")) >= 0;
}

static void on_call_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct str metas[] = {
		{NULL, 0}, STR("{\"persist\":\"session\"}"), STR("{\"persist\":\"always\"}")};
	auto_arena struct arena arena = {0};
	const struct json *meta = json_parse(&arena, chosen->about->msg.elicitation_request->_meta, NULL);
	bool is_yes = chosen->at >= 0 && (size_t)chosen->at < countof(metas) - !is_storable(meta);
	enum elicitation_action no =
		chosen->at == CHOICE_ESCAPED ? elicitation_action_cancel : elicitation_action_decline;
	resolve(self, chosen->about, is_yes ? elicitation_action_accept : no, is_yes ? STR("{}") : STR_NONE,
	        is_yes ? metas[chosen->at] : STR_NONE);
}

static void add_arguments(struct buf *title, const struct json *meta)
{
	const struct json *params = json_get(meta, "tool_params");
	struct str text;
	json_for_each(it, params) {
		text = it->span;
		json_to_str(it, &text);
		buf_printf(title, "  %.*s: %.*s\n", STR_ARG(it->key), STR_ARG(text));
	}
}

/* Asks about a call of a server's tool, or about permissions that the model wants in advance. */
static void ask_approval(struct tui *tui, const struct event *event, const struct json *meta, bool is_call)
{
	struct tui_choice items[] = {
		{is_call ? "Yes, run the tool (y)" : "Yes, until the end of this turn (y)", NULL, 'y'},
		{is_call ? "Yes, and don't ask again for this tool in this session (a)" : "Yes, for this session (a)",
	         NULL, 'a'},
		{"Yes, and always allow this tool (p)", NULL, 'p'},
		{"No, and continue without it (d)", NULL, 'd'},
	};
	size_t count = countof(items);
	if (!is_storable(meta))
		items[2] = items[--count];
	const struct ev_elicitation_request *asked = event->msg.elicitation_request;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	tui_add_asker(tui, &title);
	buf_printf(&title, "%.*s\n\n", STR_ARG(asked->message));
	add_arguments(&title, meta);
	buf_append_c(&title, "\n");
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = items,
	                           .count = count,
	                           .hint = is_call ? "  enter select · esc to cancel the call"
	                                           : "  enter select · esc to grant nothing",
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_call_chosen,
	                           .self = tui};
	tui_ask_add(tui->ask,
	            tui_choice_create(&what, asked->id, event_create(event->id, EV_elicitation_request, asked)));
}

static void on_page_chosen(const struct tui_chosen *chosen, void *self)
{
	static const enum elicitation_action actions[] = {elicitation_action_accept, elicitation_action_decline};
	resolve(self, chosen->about, chosen->at < 0 ? elicitation_action_cancel : actions[chosen->at],
	        chosen->at == 0 ? STR("{}") : STR_NONE, STR_NONE);
}

static void ask_about_page(struct tui *tui, const struct event *event)
{
	static const struct tui_choice items[] = {{"Yes, I have opened it (y)", NULL, 'y'},
	                                          {"No, decline (d)", NULL, 'd'}};
	static const struct tui_choice plain[] = {{"Yes, accept (y)", NULL, 'y'}, {"No, decline (d)", NULL, 'd'}};
	const struct ev_elicitation_request *asked = event->msg.elicitation_request;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	tui_add_asker(tui, &title);
	buf_printf(&title, "The MCP server %.*s asks%s\n\n%.*s\n\n", STR_ARG(asked->server_name),
	           asked->url.ptr ? " you to open a page" : "", STR_ARG(asked->message));
	if (asked->url.ptr)
		buf_printf(&title, "%.*s\n\n", STR_ARG(asked->url));
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = asked->url.ptr ? items : plain,
	                           .count = countof(items),
	                           .hint = "  enter select · esc to cancel",
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_page_chosen,
	                           .self = tui};
	tui_ask_add(tui->ask,
	            tui_choice_create(&what, asked->id, event_create(event->id, EV_elicitation_request, asked)));
}

/* ---- forms ---- */

static bool is_required(const struct json *schema, struct str name)
{
	struct str text;
	json_for_each(it, json_get(schema, "required")) {
		if (json_to_str(it, &text) && str_eq(text, name))
			return true;
	}
	return false;
}

/* Adds the options of a schema: enum with enumNames, oneOf or anyOf with const and title, or a boolean's. */
static void add_options(struct form_page *page, const struct json *schema)
{
	const struct json *names = json_get(schema, "enumNames"), *values = json_get(schema, "enum");
	const struct json *titled = json_get(schema, "oneOf");
	titled = titled ? titled : json_get(schema, "anyOf");
	size_t at = 0;
	struct str text, name;
	json_for_each(it, values) {
		if (json_to_str(it, &text))
			form_page_option(page, text, json_to_str(json_at(names, at), &name) ? name : STR(""));
		at++;
	}
	json_for_each(it, titled) {
		name = json_get_str(it, "title");
		if (json_to_str(json_get(it, "const"), &text))
			form_page_option(page, text, name.ptr ? name : STR(""));
	}
}

static enum form_kind kind_of(const struct json *schema)
{
	struct str type = json_get_str(schema, "type");
	if (str_is(type, "array"))
		return FORM_many;
	bool has_list = json_get(schema, "enum") || json_get(schema, "oneOf") || str_is(type, "boolean");
	return has_list ? FORM_one : FORM_text;
}

static void set_default(struct form_page *page, const struct json *value)
{
	struct str text = value ? value->span : STR("");
	json_to_str(value, &text);
	if (page->kind == FORM_text)
		composer_set(&page->notes, text);
	page->has_preset = page->kind == FORM_text && text.len;
	for (size_t i = 0; i < page->options.count; i++) {
		struct form_option *option = &page->options.items[i];
		struct str one;
		if (page->kind == FORM_one && str_is(text, option->label))
			page->at = i;
		json_for_each(it, json_is(value, JSON_array) ? value : NULL)
			option->is_on = option->is_on || (json_to_str(it, &one) && str_is(one, option->label));
	}
}

static void add_property(struct tui_form *form, const struct json *schema, const struct json *root)
{
	struct str title = json_get_str(schema, "title"), about = json_get_str(schema, "description");
	const struct ev_elicitation_request *asked = form->about->msg.elicitation_request;
	bool must = is_required(root, schema->key);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "%.*s\n\n%.*s%s%s%.*s", STR_ARG(asked->message), STR_ARG(title.ptr ? title : schema->key),
	           must ? " (required)" : "", about.ptr ? ": " : "", STR_ARG(about));
	struct form_page *page = tui_form_add(form, kind_of(schema), asked->server_name, buf_str(&text));
	if (!page)
		return;
	page->about = schema;
	page->is_required = must;
	page->is_broken = text.over;
	if (str_is(json_get_str(schema, "type"), "boolean")) {
		form_page_option(page, STR("true"), STR("yes"));
		form_page_option(page, STR("false"), STR("no"));
	}
	add_options(page, page->kind == FORM_many ? json_get(schema, "items") : schema);
	set_default(page, json_get(schema, "default"));
}

/* Returns the range's problem, or NULL. */
static const char *check_number(const struct json *schema, struct str text)
{
	double value, least, most;
	int64_t whole;
	if (!str_to_double(text, &value) || !isfinite(value))
		return "this must be a number";
	if (str_is(json_get_str(schema, "type"), "integer") && !str_to_i64(text, &whole))
		return "this must be a whole number";
	if (json_to_double(json_get(schema, "minimum"), &least) && value < least)
		return "this number is too small";
	if (json_to_double(json_get(schema, "maximum"), &most) && value > most)
		return "this number is too large";
	return NULL;
}

static const char *check_page(const struct form_page *page)
{
	const struct json *schema = page->about;
	struct str type = json_get_str(schema, "type"), text = composer_text(&page->notes);
	if (page->kind != FORM_text || !text.len)
		return page->kind == FORM_text && page->is_required ? "an answer is required here" : NULL;
	if (str_is(type, "number") || str_is(type, "integer"))
		return check_number(schema, str_trim(text));
	if ((int64_t)text.len < json_get_i64(schema, "minLength", 0))
		return "this text is too short";
	return NULL;
}

static void write_text(struct json_writer *w, struct form_page *page)
{
	struct str type = json_get_str(page->about, "type");
	auto_buf struct buf text;
	double value;
	int64_t whole;
	buf_init(&text, LIMIT_LINE);
	composer_take(&page->notes, &text, NULL);
	bool is_number = str_is(type, "number") || str_is(type, "integer");
	if (is_number && str_to_i64(str_trim(buf_str(&text)), &whole))
		jw_i64(w, whole);
	else if (is_number && str_to_double(str_trim(buf_str(&text)), &value))
		jw_double(w, value);
	else
		jw_str(w, buf_str(&text));
}

static void write_value(struct json_writer *w, struct form_page *page)
{
	jw_key_str(w, page->about->key);
	if (page->kind == FORM_many) {
		jw_array(w);
		vec_for_each(option, &page->options) {
			if (option->is_on)
				jw_cstr(w, option->label);
		}
		jw_array_end(w);
	} else if (page->kind == FORM_text) {
		write_text(w, page);
	} else if (str_is(json_get_str(page->about, "type"), "boolean")) {
		jw_bool(w, page->at == 0);
	} else {
		jw_cstr(w, page->at < page->options.count ? page->options.items[page->at].label : "");
	}
}

static void on_form_done(struct tui_form *form, enum form_end end, void *self)
{
	auto_buf struct buf content;
	buf_init(&content, LIMIT_LINE);
	struct json_writer w = json_writer(&content);
	if (end != FORM_sent) {
		resolve(self, form->about,
		        end == FORM_declined ? elicitation_action_decline : elicitation_action_cancel, STR_NONE,
		        STR_NONE);
		return;
	}
	jw_object(&w);
	vec_for_each(page, &form->pages) {
		if ((*page)->kind != FORM_text || composer_text(&(*page)->notes).len)
			write_value(&w, *page);
	}
	jw_object_end(&w);
	resolve(self, form->about, elicitation_action_accept, buf_str(&content), STR_NONE);
}

static void ask_form(struct tui *tui, const struct event *event)
{
	static const struct form_use use = {.noun = "Field",
	                                    .escapes = " · esc to cancel",
	                                    .can_decline = true,
	                                    .on_read = tui_read_open,
	                                    .check = check_page,
	                                    .on_done = on_form_done};
	const struct ev_elicitation_request *asked = event->msg.elicitation_request;
	struct arena *arena = xnew(struct arena);
	const struct json *schema = json_parse_copy(arena, asked->requested_schema, NULL);
	struct event *about = event_create(event->id, EV_elicitation_request, asked);
	struct tui_form *form = tui_form_create(&use, asked->id, about, arena, tui);
	form->asker = tui->asker.len ? str_dup(tui->asker) : NULL;
	json_for_each(it, json_get(schema, "properties"))
		add_property(form, it, schema);
	tui_ask_add(tui->ask, &form->panel);
}

static bool has_fields(const struct ev_elicitation_request *asked)
{
	auto_arena struct arena arena = {0};
	if (!asked->requested_schema.ptr)
		return false;
	const struct json *fields = json_get(json_parse(&arena, asked->requested_schema, NULL), "properties");
	return fields && fields->child;
}

void tui_request_elicitation(struct tui *tui, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_elicitation_request *asked = event->msg.elicitation_request;
	const struct json *meta = asked->_meta.ptr ? json_parse(&arena, asked->_meta, NULL) : NULL;
	struct str kind = json_get_str(meta, "codex_approval_kind");
	bool is_call = str_is(kind, "mcp_tool_call"), is_own = !asked->server_name.len;
	if (is_call || (is_own && str_is(kind, "request_permissions")))
		ask_approval(tui, event, meta, is_call);
	else if (has_fields(asked))
		ask_form(tui, event);
	else
		ask_about_page(tui, event);
}
