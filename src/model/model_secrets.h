/* model_secrets.h — masks a provider's credentials in texts.
 *
 * Servers quote requests in their errors, which reach clients, logs and rollouts. All such texts are masked before they
 * leave model/: the key, the words of configured headers except those with a known harmless name, query parameters
 * whose name suggests a secret, and the password of a URL or of a Basic header; each in the form sent and in the form
 * that the server decodes. Other encodings (a hash, or base64 of a key) are not recognised.
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
/* Adds a secret that was obtained later, copied. */
void model_secrets_add(struct model_secrets *secrets, struct str secret);
void model_secrets_finish(struct model_secrets *secrets);

/* Appends text with all secrets masked, including a truncated one at its end. */
void model_secrets_append_masked(const struct model_secrets *secrets, struct str text, struct buf *out);
/* Masks a C string in a buffer of max + 1 bytes; the result is truncated to max bytes. */
void model_secrets_mask(const struct model_secrets *secrets, char *text, size_t max);

#endif
