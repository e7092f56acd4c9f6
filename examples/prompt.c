/* prompt.c — one prompt through libcodex: asks before a command runs or a file changes, and prints the answer.
 *   cc prompt.c $(pkg-config --cflags --libs codex) -o prompt && ./prompt "what is in this folder?"
 * Events are searched with strstr, so that the example needs only the library: quotes inside a JSON string are escaped,
 * so a match is a member. A real program would use a JSON library. */
#include <codex/codex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE(name) "\"msg\":{\"type\":\"" name "\""

static void submit(codex_t *codex, const char *type, const char *member, int len, const char *text, const char *end)
{
	char line[8192];
	int n = snprintf(line, sizeof(line), "{\"id\":\"1\",\"op\":{\"type\":\"%s\"%s%.*s%s}}", type, member, len, text,
	                 end);
	if (n < (int)sizeof(line) && codex_submit(codex, line, (size_t)n) == CODEX_OK)
		return;
	fprintf(stderr, "not a valid submission (is a quote not escaped?): %s\n", line);
	exit(1);
}

/* The string value of a member, still escaped, of *len bytes; NULL: the event has no such member. */
static const char *find(const char *event, const char *member, int *len)
{
	const char *start = strstr(event, member);
	for (*len = 0, start += start ? strlen(member) : 0; start && start[*len] != '"'; ++*len)
		*len += start[*len] == '\\';
	return start;
}

int main(int argc, char **argv)
{
	char *event, *error, line[16];
	int len, status = -1;
	codex_t *codex = codex_create("{\"config\":[\"approval_policy=untrusted\"]}", &error);
	if (!codex)
		return fprintf(stderr, "%s\n", error), codex_free(error), 1;
	submit(codex, "configure_session", "", 0, "", "");
	submit(codex, "user_input", ",\"items\":[{\"type\":\"text\",\"text\":\"", 4096, argc > 1 ? argv[1] : "hello",
	       "\"}]");
	while (status < 0 && codex_next_event(codex, -1, &event) == CODEX_OK) {
		int is_patch = strstr(event, TYPE("apply_patch_approval_request")) != NULL;
		const char *text = find(event, "\"call_id\":\"", &len);
		if (text && (is_patch || strstr(event, TYPE("exec_approval_request")))) {
			printf("%s\nAllow this? (y/n) ", event);
			fflush(stdout);
			int is_allowed = fgets(line, sizeof(line), stdin) && line[0] == 'y';
			submit(codex, is_patch ? "patch_approval" : "exec_approval", ",\"id\":\"", len, text,
			       is_allowed ? "\",\"decision\":\"approved\"" : "\",\"decision\":\"denied\"");
		}
		status = strstr(event, TYPE("task_complete")) ? 0 : strstr(event, TYPE("error")) ? 1 : -1;
		text = find(event, status ? "\"message\":\"" : "\"last_agent_message\":\"", &len);
		if (status >= 0 && text)
			fprintf(status ? stderr : stdout, "%.*s\n", len, text);
		codex_free(event);
	}
	codex_destroy(codex);
	return status != 0;
}
