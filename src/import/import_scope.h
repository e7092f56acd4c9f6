/* import_scope.h — the places of one import, and the kinds of things in them. Private to import/. */
#ifndef IMPORT_IMPORT_SCOPE_H
#define IMPORT_IMPORT_SCOPE_H

#include "base/buf.h"
#include "config/config_file.h"
#include "import/import_tree.h"

struct toml;

enum import_file_name {
	IMPORT_settings, /* .claude/settings.json */
	IMPORT_local,    /* .claude/settings.local.json: of a project, only the choice of servers counts */
	IMPORT_servers,  /* .mcp.json of a project */
	IMPORT_sources
};

struct import_scope {
	struct arena *arena;             /* its own */
	const char *codex;               /* CODEX_HOME */
	const struct import_source *all; /* ~/.claude.json */
	const char *cwd;                 /* the root of the project; NULL: the user's own things */
	struct import_tree theirs;       /* the home, or the project */
	struct import_tree ours;         /* CODEX_HOME, or the project */
	struct import_tree shared;       /* the home or the project, without links: has .agents */
	struct import_source sources[IMPORT_sources];
	struct import_source hooks; /* our hooks.json */
	const struct json *state;   /* what ~/.claude.json has about the user, or about the project */
	const struct toml *config,
		*user_config; /* config.toml of this scope, and of the user; NULL: it does not exist */
};

struct import_kind {
	const char *type;    /* on the wire */
	const char *details; /* the list of its names there; NULL: it has no parts */
	const char *what;
	/* Adds what the other agent has. */
	int (*find)(const struct import_scope *scope, struct import_names *names, struct error *err);
	/* True if the user has the same already. */
	bool (*has)(const struct import_scope *scope, struct str name);
	/* Imports it. Appends what was left out to note. */
	int (*carry)(const struct import_scope *scope, struct str name, struct buf *note, struct error *err);
	const char *(*source)(const struct import_scope *scope);
	const char *(*target)(const struct import_scope *scope);
};

enum { IMPORT_KINDS = 7 };
extern const struct import_kind import_kinds[IMPORT_KINDS];

/* The path of a file of ours below the tree `ours`, and its folder there. */
const char *import_ours(const struct import_scope *scope, const char *name);
const char *import_ours_folder(const struct import_scope *scope, const char *name);
/* The mode of files there. */
mode_t import_mode(const struct import_scope *scope);
/* Adds the key of each member; ERR_limit if it has more than LIMIT_IMPORT_ENTRIES. */
must_check int import_add_keys(const struct import_scope *scope, struct import_names *names, const struct json *object,
                               struct error *err);
/* Locks the folder `name` of ours, as all who change its files do. Returns a descriptor to close. */
must_check int import_lock(const struct import_scope *scope, struct error *err);
/* Changes config.toml of the scope, or of the user, whose file is closed to others then. */
must_check int import_change_config(const struct import_scope *scope, bool is_user, config_file_change_fn change,
                                    void *self, struct error *err);

/* ---- the parts of the kinds that have files of their own ---- */

must_check int import_servers_find(const struct import_scope *scope, struct import_names *names, struct error *err);
bool import_servers_have(const struct import_scope *scope, struct str name);
must_check int import_servers_carry(const struct import_scope *scope, struct str name, struct buf *note,
                                    struct error *err);

must_check int import_hooks_find(const struct import_scope *scope, struct import_names *names, struct error *err);
bool import_hooks_have(const struct import_scope *scope, struct str name);
must_check int import_hooks_carry(const struct import_scope *scope, struct str name, struct buf *note,
                                  struct error *err);

#endif
