/* transcript.h — writes a session as Markdown: messages, commands with their output, patches. Owns: nothing. Any
 * thread. */
#ifndef UI_TRANSCRIPT_H
#define UI_TRANSCRIPT_H

#include "base/buf.h"
#include "base/str.h"

struct rollout_meta;
struct thread_history;

void transcript_write(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                      struct buf *out);

#endif
