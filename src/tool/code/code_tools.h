/* code_tools.h — the tools that a script can call, made from the tools array of a request: their names in JavaScript,
 * what the model reads about them, and the description of the tools exec and wait.
 *
 * Owns: copies of everything. Immutable after reading. Any thread. */
#ifndef TOOL_CODE_TOOLS_H
#define TOOL_CODE_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct json_writer;

struct code_tool {
	struct str js_name; /* an identifier: NAME or NAMESPACE__NAME */
	struct str namespace, name;
	bool is_custom;       /* takes a string */
	bool is_deferred;     /* not in the description of exec */
	struct str declared;  /* the declaration */
	struct str described; /* the description and the declaration */
};

struct code_tools {
	/* read-only */
	VEC(struct code_tool) list;
	/* private */
	struct arena arena;
	uint32_t *slots; /* by the hash of the name: an index in list, plus 1; 0: none */
	size_t slot_count;
	uint64_t key; /* of the hash: servers choose the names */
};

/* Reads a tools array; elements of other kinds are skipped. */
void code_tools_read(struct code_tools *tools, struct str json);
void code_tools_finish(struct code_tools *tools);
/* Returns NULL if there is no such tool. */
const struct code_tool *code_tools_find(const struct code_tools *tools, struct str js_name);
/* Writes [{"name":…,"description":…},…]. */
void code_tools_write(const struct code_tools *tools, struct json_writer *w);
/* Writes the tools exec and wait for the model. */
void code_tools_write_exec(const struct code_tools *tools, struct json_writer *w);

/* The first line of a script can set its budgets: `// @exec: {"yield_time_ms": N, …}`. */
struct code_pragma {
	int64_t yield_time_ms;
	int64_t max_output_tokens;
};

/* Reads the first line; without a pragma the defaults are set. ERR_invalid if the script is empty or the pragma is
 * wrong: err is for the model. */
must_check int code_pragma_read(struct str script, struct code_pragma *ret, struct error *err);

#endif
