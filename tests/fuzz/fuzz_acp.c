/* An editor's lines at the wire of `codex acp`: for any bytes, each line that comes back is a response with an id and
 * either a result or an error, an update, or a question; the input's end is reported once; nothing is left.
 *
 * The bits of the first byte say whether initialize has been answered, whether requests succeed, whether they are
 * answered late, and whether each is followed by a question to the editor. */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "acp/acp_wire.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"

enum { INPUT_MAX = 48 * KIB };
enum { IS_INITIALIZED = 1, SUCCEEDS = 2, IS_LATE = 4, ASKS = 8 };

struct agent {
	struct acp_wire wire;
	unsigned flags, ends;
	struct buf out;
};

static struct loop *loop;

static void on_answer(struct acp_ask *ask, const void *result, struct str error)
{
	(void)ask, (void)result, (void)error;
}

static void respond(struct agent *agent, struct acp_request *request)
{
	if (agent->flags & SUCCEEDS)
		acp_reply(request, NULL);
	else
		acp_fail(request, ACP_INTERNAL_ERROR, "%s", "no");
}

static void on_request(struct acp_request *request, void *self)
{
	struct agent *agent = self;
	fuzz_check(request->method);
	if (agent->flags & ASKS) {
		struct acp_read_file_params params = {.session_id = STR("s"), .path = STR("/f")};
		acp_ask_send(&agent->wire, ACP_ASK_read_text_file, &params, agent, STR("k"), on_answer);
	}
	if (!request->id.ptr || !(agent->flags & IS_LATE))
		respond(agent, request);
}

static void on_pace(bool is_slow, void *self)
{
	(void)is_slow, (void)self;
}

static void on_end(void *self)
{
	((struct agent *)self)->ends++;
}

static void check_line(struct str text)
{
	auto_arena struct arena arena = {0};
	const struct json *line = json_parse(&arena, text, NULL);
	fuzz_check(json_is(line, JSON_object) && str_is(json_get_str(line, "jsonrpc"), "2.0"));
	if (json_get_str(line, "method").ptr)
		return;
	fuzz_check(json_get(line, "id") && !json_get(line, "result") != !json_get(line, "error"));
}

static void drain(struct agent *agent, int fd)
{
	char bytes[16 * KIB];
	ssize_t len;
	while ((len = read(fd, bytes, sizeof(bytes))) > 0)
		buf_append(&agent->out, bytes, (size_t)len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct acp_wire_owner owner = {on_request, on_pace, on_end};
	struct agent agent = {0};
	struct error err;
	struct str text, line;
	int in[2], out[2];
	if (size < 1 || size > INPUT_MAX)
		return 0;
	if (!loop)
		loop = loop_create(NULL);
	fuzz_check(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fuzz_check(write(in[1], data + 1, size - 1) == (ssize_t)size - 1);
	close(in[1]);
	buf_init(&agent.out, 64 * MIB);
	agent.flags = data[0];
	fuzz_check(acp_wire_init(&agent.wire, loop, in[0], out[1], &owner, &agent, &err) == 0);
	agent.wire.is_initialized = agent.flags & IS_INITIALIZED;
	for (int i = 0; i < 100000 && !agent.ends; i++) {
		uv_run(loop_uv(loop), UV_RUN_NOWAIT);
		drain(&agent, out[0]);
		struct acp_request *late = list_first(&agent.wire.requests, struct acp_request, link);
		if (late)
			respond(&agent, late);
	}
	fuzz_check(agent.ends == 1);
	acp_wire_finish(&agent.wire);
	for (int i = 0; i < 4; i++)
		uv_run(loop_uv(loop), UV_RUN_NOWAIT);
	drain(&agent, out[0]);
	text = buf_str(&agent.out);
	while (str_next_line(&text, &line))
		check_line(line);
	close(out[0]);
	buf_finish(&agent.out);
	return 0;
}
