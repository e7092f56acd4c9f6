/* acp_client_file.h — two tools for the model that use the editor: read_editor_file shows unsaved text,
 * write_editor_file writes through the editor, after the user's permission.
 *
 * Offered only if the client announced the methods. Owns: nothing; pending requests belong to acp_wire.h. Loop thread
 * only. */
#ifndef ACP_ACP_CLIENT_FILE_H
#define ACP_ACP_CLIENT_FILE_H

#include "base/str.h"

struct acp_session;
struct arena;
struct event;

/* Returns the specs of the tools as JSON, or STR_NONE if the client offers no files. */
struct str acp_client_file_specs(const struct acp_session *session, struct arena *arena);
/* Carries out the call of a dynamic_tool_call_request, or fails it. */
void acp_client_file_call(struct acp_session *session, const struct event *event);

#endif
