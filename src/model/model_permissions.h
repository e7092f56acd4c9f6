/* model_permissions.h — writes the message to the model that describes the sandbox and the approval policy.
 *
 * Owns: nothing. Thread: any. The texts are in prompt/sandbox_*.md, network_*.md and approval_*.md. */
#ifndef MODEL_MODEL_PERMISSIONS_H
#define MODEL_MODEL_PERMISSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "protocol/message/approval.h"

struct model_permissions {
	enum sandbox_mode sandbox;
	const struct ask_for_approval *approval;
	bool has_network;
	const struct str *writable; /* writable folders, for workspace-write */
	size_t writable_count;
	bool has_reviewer; /* requests are answered by the automatic reviewer */
};

/* Appends "<permissions instructions>…</permissions instructions>". */
void model_permissions_write(struct buf *out, const struct model_permissions *permissions);

#endif
