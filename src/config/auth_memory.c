/* A process has few homes, mostly one: a list of all texts is searched. */
#include "config/auth_memory.h"

#include <pthread.h>
#include <string.h>

#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"

struct memory {
	struct list link;
	enum memory_kind kind;
	char *home;
	struct buf text;
	struct error err; /* of a keyring that has no text */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list memories = {&memories, &memories};

/* ---- with the lock held ---- */

static struct memory *find(enum memory_kind kind, const char *home)
{
	struct memory *memory;
	list_for_each(memory, &memories, link)
		if (memory->kind == kind && strcmp(memory->home, home) == 0)
			return memory;
	return NULL;
}

static bool drop(enum memory_kind kind, const char *home)
{
	struct memory *memory = find(kind, home);
	if (!memory)
		return false;
	list_remove(&memory->link);
	if (memory->text.data)
		explicit_bzero(memory->text.data, memory->text.len);
	buf_finish(&memory->text);
	free(memory->home);
	free(memory);
	return true;
}

static void replace(enum memory_kind kind, const char *home, struct str text, const struct error *err)
{
	struct memory *memory = xnew(struct memory);
	memory->kind = kind;
	memory->home = xstrdup(home);
	memory->err = *err;
	buf_init(&memory->text, LIMIT_AUTH_FILE);
	buf_append_str(&memory->text, text);
	drop(kind, home);
	list_append(&memories, &memory->link);
}

/* ---- the calls ---- */

bool memory_read(enum memory_kind kind, const char *home, struct buf *out, struct error *ret_err)
{
	pthread_mutex_lock(&lock);
	struct memory *memory = find(kind, home);
	if (memory) {
		buf_append_str(out, buf_str(&memory->text));
		*ret_err = memory->err;
	}
	pthread_mutex_unlock(&lock);
	return memory;
}

bool memory_has(enum memory_kind kind, const char *home)
{
	pthread_mutex_lock(&lock);
	bool is_there = find(kind, home);
	pthread_mutex_unlock(&lock);
	return is_there;
}

char *memory_find_unsaved(void)
{
	const struct memory *memory;
	char *home = NULL;
	pthread_mutex_lock(&lock);
	list_for_each(memory, &memories, link)
		if (memory->kind == MEMORY_UNSAVED && !home)
			home = xstrdup(memory->home);
	pthread_mutex_unlock(&lock);
	return home;
}

void memory_write(enum memory_kind kind, const char *home, struct str text)
{
	pthread_mutex_lock(&lock);
	replace(kind, home, text, &(struct error){0});
	pthread_mutex_unlock(&lock);
}

void memory_append_line(enum memory_kind kind, const char *home, struct str line)
{
	struct buf lines;
	buf_init(&lines, LIMIT_AUTH_FILE);
	pthread_mutex_lock(&lock);
	const struct memory *memory = find(kind, home);
	if (memory)
		buf_append_str(&lines, buf_str(&memory->text));
	buf_append_str(&lines, line);
	buf_append_char(&lines, '\n');
	replace(kind, home, buf_str(&lines), &(struct error){0});
	pthread_mutex_unlock(&lock);
	if (lines.data)
		explicit_bzero(lines.data, lines.len);
	buf_finish(&lines);
}

bool memory_clear(const char *home)
{
	pthread_mutex_lock(&lock);
	bool is_there = drop(MEMORY_LOGIN, home);
	is_there |= drop(MEMORY_UNSAVED, home);
	drop(MEMORY_SPENT, home);
	pthread_mutex_unlock(&lock);
	return is_there;
}

void memory_drop_unsaved(const char *home, struct str text)
{
	pthread_mutex_lock(&lock);
	const struct memory *memory = find(MEMORY_UNSAVED, home);
	if (memory && str_eq(buf_str(&memory->text), text)) {
		drop(MEMORY_UNSAVED, home);
		drop(MEMORY_SPENT, home);
	}
	pthread_mutex_unlock(&lock);
}

void memory_keep_keyring(const char *home, struct str text, const struct error *err)
{
	pthread_mutex_lock(&lock);
	bool has_failed = err->code && err->code != ERR_not_found;
	const struct memory *kept = has_failed ? find(MEMORY_KEYRING, home) : NULL;
	replace(MEMORY_KEYRING, home, kept ? buf_str(&kept->text) : text, err);
	pthread_mutex_unlock(&lock);
}
