/* transcript_html.h — writes a session as one HTML file that needs nothing else: no script, no request.
 *
 * Text of the model, of programs and of files becomes text: markup in it is escaped, control, zero-width and
 * bidirectional characters are shown as \uXXXX, links have http, https or mailto. Without the library md4c messages
 * are written as they are. Owns: nothing. Any thread. */
#ifndef UI_TRANSCRIPT_HTML_H
#define UI_TRANSCRIPT_HTML_H

#include "base/buf.h"
#include "base/str.h"

struct rollout_meta;
struct thread_history;

void transcript_html_write(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                           struct buf *out);

#endif
