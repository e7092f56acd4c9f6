/* The program is looked for once per session, when a model gets the tool: a package that is installed meanwhile counts
 * for the next one. */
#include "engine/session/session_code.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/host.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/session/session.h"
#include "tool/code/code_cells.h"

#define HOST_NAME "codex-code-mode-host"

enum { PATH_SIZE = 4096 };

enum code_mode session_code_mode(const struct session *session, const struct settings *settings)
{
	const struct config *config = session->env->config;
	if (settings->info.is_code_only || config->features.code_mode_only)
		return CODE_MODE_only;
	return config->features.code_mode ? CODE_MODE_beside : CODE_MODE_none;
}

bool session_has_clock(const struct session *session, const struct settings *settings)
{
	return settings->info.is_gpt6 && session_code_mode(session, settings) != CODE_MODE_none;
}

static char *program_at(const char *folder, const char *below)
{
	char *path = xasprintf("%s/%s" HOST_NAME, folder, below);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* The host is beside the program, where a build puts it, or in libexec, where an installation does. */
static char *find_program(void)
{
	char program[PATH_SIZE];
	char *found = NULL;
	const char *chosen = config_env("CODEX_CODE_MODE_HOST_PATH");
	if (chosen && chosen[0])
		return access(chosen, X_OK) == 0 ? xstrdup(chosen) : NULL;
	if (host_program_path(program, sizeof(program)) && strrchr(program, '/')) {
		*strrchr(program, '/') = '\0';
		if (!(found = program_at(program, "")))
			found = program_at(program, "../libexec/codex/");
	}
	return found ? found : program_at("/usr/libexec/codex", "");
}

static char *env_pair(const char *name)
{
	const char *value = config_env(name);
	return value ? xasprintf("%s=%s", name, value) : NULL;
}

void session_code_open(struct session *session)
{
	struct tool_host *host = &session->host;
	host->code.cells = code_cells_create(host);
	if (!session->env->config->features.code_mode_host)
		host->code.refusal = "Scripts are disabled: the feature code_mode_host is off.";
}

void session_code_need(struct session *session)
{
	struct tool_host *host = &session->host;
	if (session->code_path)
		return;
	session->code_program = find_program();
	session->code_path = xasprintf("PATH=%s", config_env("PATH") ? config_env("PATH") : "/usr/bin:/bin");
	session->code_engine = env_pair("CODEX_CODE_MODE_ENGINE");
	host->code.program = session->code_program;
	host->code.path = session->code_path;
	host->code.engine = session->code_engine;
	if (!host->code.refusal && !session->code_program)
		host->code.refusal = "Scripts cannot run: the program " HOST_NAME " is not there. Install the package "
				     "codex-c-code-mode.";
}

void session_code_close(struct session *session)
{
	free(session->code_program);
	free(session->code_path);
	free(session->code_engine);
}

void session_warn_code(struct session *session, struct str sub_id, const struct settings *settings)
{
	enum code_mode mode = session_code_mode(session, settings);
	if (mode == CODE_MODE_none || session->has_warned_code)
		return;
	bool is_forced = settings->info.is_known && !settings->info.is_code_only;
	session->has_warned_code = true;
	session_code_need(session);
	if (is_forced)
		session_warn(session, sub_id,
		             "The model `%s` is not made for code mode, which features.code_mode%s turns on.",
		             settings->model, mode == CODE_MODE_only ? "_only" : "");
	if (session->host.code.refusal)
		session_warn(session, sub_id, "%s The model `%s` needs code_mode_host for its tools.",
		             session->host.code.refusal, settings->model);
}

void session_forget_scripts(struct session *session)
{
	auto_buf struct buf kept;
	struct str line, rest = buf_str(&session->unheard);
	code_cells_forget_calls(session->host.code.cells);
	buf_init(&kept, session->unheard.max);
	while (str_next_line(&rest, &line)) {
		if (str_has_prefix(line, "{\"type\":\"custom_tool_call_output\""))
			continue;
		buf_append_str(&kept, line);
		buf_append_char(&kept, '\n');
	}
	buf_clear(&session->unheard);
	buf_append_str(&session->unheard, buf_str(&kept));
}
