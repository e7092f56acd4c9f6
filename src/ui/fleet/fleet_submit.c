/* `codex fleet submit`. */
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "fleet/fleet_limits.h"
#include "fleet/resp.h"
#include "protocol/message/message.h"
#include "ui/fleet/fleet_call.h"

struct submit {
	struct str session, id;
	struct buf text; /* the submission */
};

static int write_submission(const struct fleet_call *call, struct submit *submit, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *op = call->options->op ? json_parse(&arena, str_of(call->options->op), err) : NULL;
	struct json_writer w = json_writer(&submit->text);
	if (call->options->op && !op)
		return error_wrap(err, "--op");
	jw_object(&w);
	jw_member_str(&w, "id", submit->id);
	jw_key(&w, "op");
	if (op) {
		jw_value(&w, op);
	} else {
		jw_raw(&w, STR("{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\"text\":"));
		json_quote(&submit->text, str_of(call->argument));
		buf_append_c(&submit->text, "}]}");
	}
	jw_object_end(&w);
	return submit->text.over ? error_set(err, ERR_limit, "the submission is larger than %d MiB", LIMIT_LINE / MIB)
	                         : 0;
}

/* The replies of MULTI, two QUEUED and EXEC; the last one is a list. */
static void on_submitted(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	const struct submit *submit = call->state;
	if (!reply) {
		fprintf(stderr,
		        "codex fleet submit: the connection broke; submit again with --id %.*s --session %.*s\n",
		        STR_ARG(submit->id), STR_ARG(submit->session));
		fleet_call_end(call, 1);
		return;
	}
	if (fleet_call_failed(call, reply) || reply->type != RESP_list)
		return;
	auto_buf struct buf line;
	buf_init(&line, 64 * KIB);
	struct json_writer w = json_writer(&line);
	jw_object(&w);
	jw_member_str(&w, "session", submit->session);
	jw_member_str(&w, "id", submit->id);
	jw_object_end(&w);
	printf("%.*s\n", (int)line.len, line.data);
	fleet_call_end(call, 0);
}

static void on_submit_up(struct fleet_call *call)
{
	const struct submit *submit = call->state;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	resp_begin(&out, 1);
	resp_word(&out, STR("MULTI"));
	resp_begin(&out, 5);
	resp_word(&out, STR("XADD"));
	fleet_store_key(call->store, &out, "s:", submit->session, ":sq");
	resp_word(&out, STR("*"));
	resp_word(&out, STR("sub"));
	resp_word(&out, buf_str(&submit->text));
	resp_begin(&out, 5);
	resp_word(&out, STR("XADD"));
	fleet_store_key(call->store, &out, "work", STR(""), "");
	resp_word(&out, STR("*"));
	resp_word(&out, STR("sid"));
	resp_word(&out, submit->session);
	resp_begin(&out, 1);
	resp_word(&out, STR("EXEC"));
	fleet_call_send(call, &out, 4, on_submitted);
}

static int refuse(const char *text)
{
	fprintf(stderr, "codex fleet submit: %s\n", text);
	return 2;
}

int fleet_submit_run(struct fleet_call *call)
{
	char session[UUID_TEXT_SIZE], id[UUID_TEXT_SIZE];
	struct error err;
	uuid_v7(session);
	uuid_v7(id);
	struct submit submit = {str_of(call->options->session ? call->options->session : session),
	                        str_of(call->options->id ? call->options->id : id)};
	if (!call->argument == !call->options->op)
		return refuse("give either a text or --op JSON");
	if (!fleet_name_is_valid(submit.session, false))
		return refuse("--session: expected 1 to 64 letters, digits, dashes or underscores");
	buf_init(&submit.text, LIMIT_LINE);
	call->state = &submit;
	call->on_up = on_submit_up;
	int status = write_submission(call, &submit, &err) == 0 ? fleet_call_run(call) : refuse(err.text);
	buf_finish(&submit.text);
	return status;
}
