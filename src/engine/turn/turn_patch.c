/* A patch is reported while the model writes it: the first parts at once, later ones when they are an eighth longer and
 * half a second has passed, because each report has the whole patch so far. */
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "engine/turn/turn.h"
#include "tool/tool_patch_preview.h"

enum { LOOKS_AT_ONCE = 8, LOOK_MS = 500 };

static void look(struct turn *turn)
{
	auto_arena struct arena arena = {0};
	struct turn_patch *patch = &turn->patch;
	struct ev_patch_updated event = {.call_id = str_of(patch->call_id), .turn_id = turn->env->id};
	patch->looks++;
	patch->looked_ms = clock_now_ms();
	/* what was shown before is not shown again */
	size_t covered = tool_patch_preview(buf_str(&patch->text), &arena, &event);
	if (covered <= patch->shown)
		return;
	patch->shown = covered;
	session_emit(turn->env->session, turn->env->id, EV_patch_apply_updated, &event);
}

/* True for a call whose text is reported. */
static bool is_shown(const struct turn *turn, const struct json *item)
{
	const struct config *config = turn->env->session->env->config;
	return config->features.apply_patch_streaming_events && json_get_str(item, "call_id").len &&
	       str_is(json_get_str(item, "name"), "apply_patch");
}

void turn_patch_added(struct turn *turn, const struct json *item)
{
	struct str id = json_get_str(item, "call_id");
	turn_patch_drop(turn);
	if (!is_shown(turn, item))
		return;
	turn->patch.call_id = str_dup(id);
	buf_init(&turn->patch.text, LIMIT_STREAMED_TEXT);
}

/* Only whole lines are shown, and nothing of what follows the first LIMIT_STREAMED_TEXT bytes. */
static bool is_due(const struct turn_patch *patch, struct str text)
{
	if (patch->text.over || str_find_char(text, '\n') < 0)
		return false;
	if (patch->looks < LOOKS_AT_ONCE)
		return true;
	return patch->text.len >= patch->shown + patch->shown / 8 && clock_now_ms() - patch->looked_ms >= LOOK_MS;
}

void turn_patch_delta(struct turn *turn, struct str text)
{
	struct turn_patch *patch = &turn->patch;
	if (!patch->call_id)
		return;
	buf_append_str(&patch->text, text);
	if (is_due(patch, text))
		look(turn);
}

void turn_patch_done(struct turn *turn, const struct json *item)
{
	struct turn_patch *patch = &turn->patch;
	if (!patch->call_id || !str_is(json_get_str(item, "call_id"), patch->call_id))
		return;
	if (!patch->text.over)
		look(turn);
	turn_patch_drop(turn);
}

void turn_patch_drop(struct turn *turn)
{
	free(turn->patch.call_id);
	buf_finish(&turn->patch.text);
	turn->patch = (struct turn_patch){0};
}
