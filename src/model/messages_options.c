/* Anthropic Messages: the members of a request that depend on the model: the length of the answer and thinking. Older
 * models get a budget of tokens for thinking, newer ones an effort; each refuses the other form. */
#include "model/messages.h"

#include "base/json.h"
#include "base/mem.h"
#include "model/model_catalog.h"
#include "model/model_wire.h"

enum thinking_form { THINKING_none, THINKING_budget, THINKING_adaptive };

static const struct messages_model {
	const char *part;
	enum thinking_form form;
	int64_t output;
} models[] = {
#define MESSAGES_MODEL(part, form, output) {part, THINKING_##form, output},
#include "model/messages_model.def"
#undef MESSAGES_MODEL
};

enum { DEFAULT_MAX_TOKENS = 32000, MIN_BUDGET = 1024 };

static const struct messages_model *model_named(struct str slug)
{
	size_t i = 0;
	while (str_find(slug, str_of(models[i].part)) < 0 && models[i].part[0])
		i++;
	return &models[i];
}

int64_t messages_max_tokens(const struct model_prompt *prompt)
{
	const struct messages_model *model = model_named(prompt->info->slug);
	int64_t max = prompt->max_output_tokens ? prompt->max_output_tokens : DEFAULT_MAX_TOKENS;
	return model->output && max > model->output ? model->output : max;
}

static int64_t budget_of(enum reasoning_effort effort, int64_t max_tokens)
{
	static const int64_t budgets[] = {
		[reasoning_effort_minimal] = 1024, [reasoning_effort_low] = 2048,    [reasoning_effort_medium] = 8192,
		[reasoning_effort_high] = 16384,   [reasoning_effort_xhigh] = 24000, [reasoning_effort_max] = 30000,
		[reasoning_effort_ultra] = 30000,
	};
	int64_t budget = budgets[effort];
	return budget < max_tokens ? budget : max_tokens - 1;
}

static const char *effort_word(enum reasoning_effort effort)
{
	if (effort == reasoning_effort_minimal)
		return "low";
	return effort == reasoning_effort_ultra ? "max" : enum_wire(&enum_reasoning_effort, (int)effort);
}

bool messages_has_thinking(const struct model_prompt *prompt)
{
	const struct messages_model *model = model_named(prompt->info->slug);
	bool has_effort = prompt->effort != reasoning_effort_unset && prompt->effort != reasoning_effort_none;
	if (!has_effort || model->form == THINKING_none)
		return false;
	return model->form == THINKING_adaptive || budget_of(prompt->effort, messages_max_tokens(prompt)) >= MIN_BUDGET;
}

static void write_thinking(const struct model_prompt *prompt, struct json_writer *w)
{
	if (!messages_has_thinking(prompt))
		return;
	bool is_adaptive = model_named(prompt->info->slug)->form == THINKING_adaptive;
	jw_key(w, "thinking");
	jw_object(w);
	jw_member_cstr(w, "type", is_adaptive ? "adaptive" : "enabled");
	if (!is_adaptive)
		jw_member_i64(w, "budget_tokens", budget_of(prompt->effort, messages_max_tokens(prompt)));
	jw_object_end(w);
}

static void write_output_config(const struct model_prompt *prompt, struct json_writer *w)
{
	bool has_effort = messages_has_thinking(prompt) && model_named(prompt->info->slug)->form == THINKING_adaptive;
	if (!has_effort && !prompt->output_schema.len)
		return;
	jw_key(w, "output_config");
	jw_object(w);
	if (has_effort)
		jw_member_cstr(w, "effort", effort_word(prompt->effort));
	if (prompt->output_schema.len) {
		jw_key(w, "format");
		jw_object(w);
		jw_member_cstr(w, "type", "json_schema");
		jw_member_raw(w, "schema", prompt->output_schema);
		jw_object_end(w);
	}
	jw_object_end(w);
}

void messages_write_options(struct json_writer *w, const struct model_prompt *prompt)
{
	write_thinking(prompt, w);
	write_output_config(prompt, w);
}
