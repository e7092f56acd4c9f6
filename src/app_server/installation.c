/* Read when a client first asks for it: a server that nobody talks to touches no file. */
#include "app_server/installation.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"

static char *make_id(const char *path)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	/* in a folder that cannot be written it is another one each time */
	file_write_atomic(path, str_of(id), 0600, false, NULL);
	return xstrdup(id);
}

char *installation_id_read(const char *codex_home)
{
	auto_free char *path = path_join(codex_home, "installation_id");
	auto_buf struct buf text;
	buf_init(&text, 1 * KIB);
	bool is_read = file_read_regular(path, &text, NULL) == 0;
	struct str id = str_trim(buf_str(&text));
	return is_read && uuid_is_valid(id) ? str_dup(id) : make_id(path);
}
