/* guardian_inquiry.h — the automatic review of a call that a client has put at the end of the history. Private to
 * engine/.
 *
 * Owned by the caller until done has run. Loop thread only. */
#ifndef ENGINE_GUARDIAN_INQUIRY_H
#define ENGINE_GUARDIAN_INQUIRY_H

#include "base/error.h"
#include "protocol/message/message.h"

struct guardian_inquiry;
struct session;

/* assessment: as in the last event of a review, without an action; NULL and no error: the call needs no review. */
typedef void (*guardian_inquiry_fn)(const struct ev_guardian_assessment *assessment, struct str call_id,
                                    const struct error *err, void *self);

/* Starts the review of the last item of the history. done runs once, later. NULL and err: it is not a call that waits
 * for its output. */
must_check struct guardian_inquiry *guardian_inquire(struct session *session, guardian_inquiry_fn done, void *self,
                                                     struct error *err);
/* Ends the review; done is not called. Must not be called after done. */
void guardian_inquiry_cancel(struct guardian_inquiry *inquiry);

#endif
