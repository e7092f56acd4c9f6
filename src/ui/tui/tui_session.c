/* The recorded session that is resumed. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "term/term_tty.h"
#include "ui/exec/exec_resume.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

int tui_session_find(struct tui *tui, struct error *err)
{
	const struct exec_options *run = &tui->options.run;
	struct exec_resume resume = {.options = run, .config = tui->config, .cwd = tui->cwd};
	if (run->picks) /* the user chooses once the terminal is open */
		return 0;
	int status = exec_resume_find(&resume, err);
	bool is_absent = status != 0 && run->resume_id && err->code == ERR_not_found;
	if (status == 0)
		status = exec_resume_fork(&resume, "codex_cli_rs", err);
	tui->resume_path = resume.path;
	if (is_absent)
		return error_set(err, ERR_not_found, "No saved session found with ID %s", run->resume_id);
	return status;
}

void tui_session_replay(struct tui *tui)
{
	struct error err;
	if (tui->resume_path &&
	    tui_replay_end(tui->resume_path, LIMIT_ROLLOUT_FILE, tui_cells_begin(tui->cells), &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
}

void tui_session_note_crash(const struct tui *tui)
{
	char note[160];
	int len = snprintf(note, sizeof(note), "codex crashed. To continue this session, run:\r\n  codex resume %s\r\n",
	                   tui->session_id);
	term_tty_note_crash(str_n(note, tui->options.run.ephemeral ? 0 : (size_t)len));
}
