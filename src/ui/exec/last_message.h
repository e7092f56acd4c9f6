/* last_message.h — the agent's last message, and the file of option -o.
 *
 * Owns: a copy of the text, the descriptor of the file. Loop thread. The file is opened before the run, so that a
 * path that cannot be written costs no tokens; its content is kept until there is a new message. */
#ifndef UI_LAST_MESSAGE_H
#define UI_LAST_MESSAGE_H

#include "base/error.h"
#include "base/str.h"

struct last_message {
	const char *path; /* borrowed; NULL: no file */
	int fd;
	struct str text; /* owned; STR_NONE: the agent said nothing */
};

must_check int last_message_init(struct last_message *last, const char *path, struct error *err);
void last_message_finish(struct last_message *last);

void last_message_keep(struct last_message *last, struct str text);
/* Success if there is no file. Without a message the file becomes empty, and a warning on stderr says so. */
must_check int last_message_write(struct last_message *last, struct error *err);

#endif
