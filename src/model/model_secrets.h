/* model_secrets.h — what a provider is sent to open it, so that no text quotes it back.
 *
 * Servers put what they were sent into their errors, and those reach clients, logs and session files. Every such text
 * is masked before it leaves model/: the key, the words of each configured header save those that are no secret by
 * their name, query parameters whose name says that they are one, and the password of a URL or of a Basic header; each
 * as it is sent, and as the server decodes it. Other encodings of them (a hash, or base64 of a key) are not recognised.
 *
 * Owns: its list. Borrows: the provider, which must outlive it. An all-zero struct is empty. Thread: any. */
#ifndef MODEL_MODEL_SECRETS_H
#define MODEL_MODEL_SECRETS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct model_provider;

struct model_secrets {
	/* private */
	VEC(struct str) words;
	struct arena arena;
};

void model_secrets_init(struct model_secrets *secrets, const struct model_provider *provider);
void model_secrets_finish(struct model_secrets *secrets);

/* Appends text with each secret replaced. A text that ends within one, because it was cut, loses that end as well. */
void model_secrets_append_masked(const struct model_secrets *secrets, struct str text, struct buf *out);
/* Masks a C string that has room for max bytes and its end; what does not fit any more is cut. */
void model_secrets_mask(const struct model_secrets *secrets, char *text, size_t max);

#endif
