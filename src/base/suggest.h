/* suggest.h — the word that is nearest to a mistyped one. Owns: nothing. Any thread. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#include "base/str.h"

/* Finds the word that is nearest to a mistyped one, or that it is a prefix of. */
struct suggest {
	struct str wrong;
	struct str best; /* STR_NONE while no similar word was offered */
	size_t cost;
};
/* Of equally near words, the first one wins. word must outlive the suggest. */
void suggest_offer(struct suggest *suggest, struct str word);

#endif
