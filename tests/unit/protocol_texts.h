/* protocol_texts.h — the documentation of Ops, events and their types, for tests. The program does not contain it. */
#ifndef TESTS_PROTOCOL_TEXTS_H
#define TESTS_PROTOCOL_TEXTS_H

/* Returns the documentation of a record or union (name: NULL), of a field of a record or of a variant of a union (name:
 * its name on the wire); "" if it has no documentation. */
const char *protocol_text(const char *type, const char *name);

#endif
