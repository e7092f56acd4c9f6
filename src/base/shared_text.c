/* The texts are a list under a lock, because libcodex may run engines on several threads. The list is short: it has one
 * entry per distinct text, and the owners of most texts agree. This subject is small and no other file has it. */
#include "base/shared_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"

struct shared_text {
	struct list link; /* a node of texts, if interned */
	size_t refs;      /* changed under the lock */
	size_t len;
	char *bytes; /* in the memory after the struct, or taken from a buf */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list texts = {&texts, &texts};

static struct shared_text *find(struct str bytes)
{
	struct shared_text *it;
	list_for_each(it, &texts, link)
		if (it->len == bytes.len && memcmp(it->bytes, bytes.ptr, bytes.len) == 0)
			return it;
	return NULL;
}

static struct shared_text *create(struct str bytes)
{
	struct shared_text *text = xmalloc(sizeof(*text) + bytes.len + 1);
	*text = (struct shared_text){.len = bytes.len, .bytes = (char *)(text + 1)};
	memcpy(text->bytes, bytes.ptr, bytes.len);
	text->bytes[bytes.len] = '\0';
	list_init(&text->link);
	list_append(&texts, &text->link);
	return text;
}

struct shared_text *shared_text_intern(struct str bytes)
{
	if (!bytes.ptr)
		bytes = STR("");
	pthread_mutex_lock(&lock);
	struct shared_text *text = find(bytes);
	if (!text)
		text = create(bytes);
	text->refs++;
	pthread_mutex_unlock(&lock);
	return text;
}

struct shared_text *shared_text_take(struct buf *bytes)
{
	struct shared_text *text = xnew(struct shared_text);
	list_init(&text->link);
	text->refs = 1;
	text->len = bytes->len;
	text->bytes = buf_take(bytes);
	return text;
}

struct shared_text *shared_text_ref(struct shared_text *text)
{
	pthread_mutex_lock(&lock);
	text->refs++;
	pthread_mutex_unlock(&lock);
	return text;
}

void shared_text_unref(struct shared_text *text)
{
	if (!text)
		return;
	pthread_mutex_lock(&lock);
	bool is_last = --text->refs == 0;
	if (is_last)
		list_remove(&text->link);
	pthread_mutex_unlock(&lock);
	if (!is_last)
		return;
	if (text->bytes != (char *)(text + 1))
		free(text->bytes);
	free(text);
}

struct str shared_text_str(const struct shared_text *text)
{
	return text ? str_n(text->bytes, text->len) : STR_NONE;
}
