/* doctor.h — checks of the installation and the system; each is a row of doctor.def.
 *
 * Checks change nothing (except the index with rebuilds_index), start no programs except the trials of the sandbox, and
 * connect to the network only on request. Their texts contain no secrets.
 * Owns: what the checks found. Thread: the one that runs the loop; doctor_run turns it. */
#ifndef UI_DOCTOR_H
#define UI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct buf;
struct config;
struct exec_options;
struct loop;

enum doctor_status { DOCTOR_ok, DOCTOR_warning, DOCTOR_fail };

struct doctor_detail {
	const char *name, *value;
};

struct doctor_finding {
	const char *id, *category;
	enum doctor_status status;
	const char *summary; /* one line */
	const char *advice;  /* what to do; NULL: nothing */
	VEC(struct doctor_detail) details;
	uint64_t ms;
};

struct doctor {
	const struct exec_options *options;
	bool asks_network;
	bool rebuilds_index; /* before it is looked at */
	struct arena arena;
	struct config *config; /* NULL: it cannot be loaded */
	struct error config_error;
	const char *home; /* CODEX_HOME; NULL: unknown */
	struct loop *loop;
	VEC(struct doctor_finding) findings;
};

void doctor_run(struct doctor *doctor);
void doctor_finish(struct doctor *doctor);
/* The worst of all. */
enum doctor_status doctor_status(const struct doctor *doctor);
/* For people, and as the JSON that the reference's has. */
void doctor_print(const struct doctor *doctor, bool has_color, struct buf *out);
void doctor_print_json(const struct doctor *doctor, struct buf *out);

/* The rows of doctor.def, in their order. */
struct doctor_check {
	void (*run)(struct doctor *doctor);
	const char *id, *category;
};
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_check_count;

/* For checks: the result of the running check, and a detail of it. The texts are copied; advice may be NULL. */
void doctor_report(struct doctor *doctor, enum doctor_status status, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void doctor_detail(struct doctor *doctor, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
