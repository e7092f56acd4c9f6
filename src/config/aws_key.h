/* aws_key.h — an access key of AWS: from the environment, or from a profile in ~/.aws/credentials.
 *
 * Any thread. Blocking: reads a small file. Errors (ERR_config) contain no key. */
#ifndef CONFIG_AWS_KEY_H
#define CONFIG_AWS_KEY_H

#include "base/error.h"

/* Strings are owned. */
struct aws_key {
	char *id, *secret;
	char *session; /* the token of temporary keys; NULL: none */
	char *region;  /* set by the caller */
};

/* Finds the key of the profile; NULL: of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else of the profile AWS_PROFILE,
 * else of the profile "default". NULL and err without one, or if it cannot be sent. */
must_check struct aws_key *aws_key_find(const char *profile, struct error *err);
void aws_key_destroy(struct aws_key *key); /* wipes it; NULL is fine */
/* Returns the region of such a profile in ~/.aws/config, owned by the caller; NULL without one. */
char *aws_profile_region(const char *profile);

#endif
