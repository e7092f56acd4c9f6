/* doctor.h — `codex doctor`: checks of the installation and the system; each is a row of doctor.def.
 *
 * Checks change nothing (except the index with rebuilds_index), start no programs except the trials of the sandbox,
 * and connect to the network only on request. Their texts contain no secrets. Owns: the findings. The checks run the
 * loop themselves, on its thread. */
#ifndef UI_DOCTOR_H
#define UI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "ui/cli/cli.h"

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
	const char *summary; /* a single line */
	const char *advice;  /* what to do next; NULL: nothing */
	VEC(struct doctor_detail) details;
	uint64_t ms;
};

struct doctor {
	const struct exec_options *options;
	bool asks_network;
	bool is_network_only; /* only the checks that a connection depends on */
	bool rebuilds_index;  /* rebuild the index before it is checked */
	struct arena arena;
	struct config *config; /* NULL: loading it failed */
	struct error config_error;
	const char *home; /* CODEX_HOME; NULL: unknown */
	struct loop *loop;
	VEC(struct doctor_finding) findings;
};

/* The rows of doctor.def, in the same order. */
struct doctor_check {
	void (*run)(struct doctor *doctor);
	const char *id, *category;
};
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_check_count;

/* For checks: report sets the result of the running check, and detail adds a line to it. The texts are copied;
 * advice may be NULL. */
void doctor_report(struct doctor *doctor, enum doctor_status status, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void doctor_detail(struct doctor *doctor, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

extern const struct cli_command doctor_command;

/* Returns the exit status: 0 if no check fails (warnings included); 1 if a check fails; 2 for a wrong command line. */
int doctor_main(int argc, char **argv);

#endif
