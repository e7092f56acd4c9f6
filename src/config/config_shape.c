/* The types are a tree of rows. Its depth bounds that of the search, not the file. */
#include "config/config_shape.h"

#include "base/buf.h"
#include "base/limits.h"
#include "config/config_record.h"

enum {
	SHAPE_table = 1 << TOML_table,
	SHAPE_list = 1 << TOML_array,
	SHAPE_text = 1 << TOML_string,
	SHAPE_flag = 1 << TOML_bool
};

/* A row without a key holds for all members of a table or a list. */
struct shape {
	const char *key;
	unsigned kinds;
	const char *wanted;
	const struct shape *members, *items; /* of a table and of a list; NULL: anything */
};

/* clang-format off */
#define TEXT(key) {key, SHAPE_text, "a string", NULL, NULL}
#define FLAG(key) {key, SHAPE_flag, "true or false", NULL, NULL}
#define TABLE(key, members) {key, SHAPE_table, "a table", members, NULL}
/* clang-format on */
#define END                               \
	{                                 \
		NULL, 0, NULL, NULL, NULL \
	}

static const struct shape texts[] = {TEXT(NULL), END};
static const struct shape flags[] = {FLAG(NULL), END};
static const struct shape folders[] = {{NULL, SHAPE_text | SHAPE_table, "a string or a table of strings", texts, NULL},
                                       END};
static const struct shape network[] = {FLAG("enabled"), TABLE("domains", NULL), END};
static const struct shape profile[] = {
	TEXT("description"),
	TEXT("extends"),
	TABLE("filesystem", folders),
	TABLE("network", network),
	{"workspace_roots", SHAPE_list | SHAPE_table, "a list of strings or a table of booleans", flags, texts},
	END};
static const struct shape market[] = {TEXT("source_type"),
                                      TEXT("source"),
                                      TEXT("ref"),
                                      TEXT("last_updated"),
                                      TEXT("last_revision"),
                                      {"sparse_paths", SHAPE_list, "a list of strings", NULL, texts},
                                      END};
static const struct shape profiles[] = {TABLE(NULL, profile), END};
static const struct shape markets[] = {TABLE(NULL, market), END};
static const struct shape root[] = {TABLE("permissions", profiles), TABLE("marketplaces", markets), END};

/* The keys on the way to a value, from the last one. */
struct place {
	const struct toml *node;
	const struct place *parent;
};

static void write_keys(const struct place *place, struct buf *out)
{
	char shown[TOML_KEY_SHOWN];
	if (place->parent && place->parent->node)
		write_keys(place->parent, out);
	if (place->node->key.ptr)
		buf_printf(out, "%s%s", out->len ? "." : "", toml_key_shown(place->node->key, shown));
}

static int refuse(const struct place *place, const char *wanted, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	auto_buf struct buf keys;
	buf_init(&keys, ERROR_TEXT_MAX);
	write_keys(place, &keys);
	return error_set(err, ERR_config, "%s: `%.*s` must be %s, not %s", config_place(place->node, where),
	                 STR_ARG(buf_str(&keys)), wanted, toml_kind_name(place->node->kind));
}

static const struct shape *find(const struct shape *shape, struct str key)
{
	while (shape->kinds && shape->key && !str_is(key, shape->key))
		shape++;
	return shape->kinds ? shape : NULL;
}

static int check(const struct toml *node, const struct shape *shapes, const struct place *parent, struct error *err)
{
	int status = 0;
	for (const struct toml *it = node->child; it && status == 0; it = it->next) {
		const struct place place = {it, parent};
		const struct shape *shape = find(shapes, it->key);
		if (!shape)
			continue;
		const struct shape *below = it->kind == TOML_array ? shape->items : shape->members;
		if (!(shape->kinds & 1U << it->kind))
			return refuse(&place, shape->wanted, err);
		if (below && (it->kind == TOML_array || it->kind == TOML_table))
			status = check(it, below, &place, err);
	}
	return status;
}

/* A marketplace of another kind would be left out in silence. */
static int check_sources(const struct toml *tree, struct error *err)
{
	char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
	toml_for_each(it, toml_get(tree, "marketplaces")) {
		const struct toml *type = toml_get(it, "source_type");
		if (type && !str_is(type->text, "git") && !str_is(type->text, "local"))
			return error_set(err, ERR_config, "%s: `marketplaces.%s.source_type` must be `git` or `local`",
			                 config_place(type, where), toml_key_shown(it->key, shown));
	}
	return 0;
}

int config_shape_check(const struct toml *tree, struct error *err)
{
	int status = check(tree, root, NULL, err);
	return status == 0 ? check_sources(tree, err) : status;
}
