/* cli_suggest.h — suggests the word nearest to a mistyped one, or one that it is a prefix of.
 *
 *	struct cli_suggest suggest = {.wrong = STR("modle")};
 *	cli_suggest_offer(&suggest, STR("model"));
 *	if (suggest.best.ptr) … */
#ifndef UI_CLI_SUGGEST_H
#define UI_CLI_SUGGEST_H

#include "base/str.h"

struct cli_suggest {
	struct str wrong;
	struct str best; /* read-only; none while nothing offered is near */
	size_t cost;     /* private */
};

/* word must outlive the suggest. The first of equally near words stays. */
void cli_suggest_offer(struct cli_suggest *suggest, struct str word);

#endif
