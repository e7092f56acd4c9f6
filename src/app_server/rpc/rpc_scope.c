/* A scope exists while a request holds it. Nearly every request finds none and runs at once, so the scopes are a plain
 * list with one entry for each pending answer. */
#include "app_server/rpc/rpc_scope.h"

#include "base/mem.h"

struct rpc_scope {
	struct list link;
	struct rpc_scopes *scopes;
	enum app_scope_kind kind; /* kind, name and value identify the scope */
	const char *name;         /* name of the parameter, or the key of the row */
	struct str value;         /* value of the parameter */
	char *text;               /* the bytes of value */
	size_t holders;
	struct list queue;
};

/* Returns the decoded parameter that distinguishes requests of one kind; STR_NONE if it is absent. */
static struct str scope_value(const struct rpc_scope_entry *entry)
{
	const struct app_method *method = entry->method;
	char name[FIELD_NAME_SIZE];
	if (method->scope != APP_SCOPE_THREAD && method->scope != APP_SCOPE_BY)
		return STR_NONE;
	record_for_each(field, method->params) {
		if (field->kind == FIELD_str &&
		    strcmp(field_wire_name(method->params, field, name), method->scope_key) == 0)
			return *(const struct str *)(const void *)((const char *)entry->params + field->offset);
	}
	return STR_NONE;
}

static bool has_scope(const struct rpc_scope_entry *entry)
{
	bool by_value = entry->method->scope == APP_SCOPE_THREAD || entry->method->scope == APP_SCOPE_BY;
	return entry->method->scope != APP_SCOPE_ANY && (!by_value || scope_value(entry).ptr);
}

static struct rpc_scope *find(struct rpc_scopes *scopes, const char *name, struct str value)
{
	struct rpc_scope *it;
	list_for_each(it, &scopes->all, link) {
		if (strcmp(it->name, name) == 0 && str_eq(it->value, value))
			return it;
	}
	return NULL;
}

static bool may_join(const struct rpc_scope *scope, const struct rpc_scope_entry *entry)
{
	return scope->kind == APP_SCOPE_SHARED && entry->method->scope == APP_SCOPE_SHARED && list_empty(&scope->queue);
}

void rpc_scope_entry_init(struct rpc_scope_entry *entry)
{
	list_init(&entry->link);
}

bool rpc_scope_enter(struct rpc_scopes *scopes, struct rpc_scope_entry *entry)
{
	if (list_empty(&scopes->all) || !has_scope(entry))
		return true;
	struct rpc_scope *scope = find(scopes, entry->method->scope_key, scope_value(entry));
	if (!scope || may_join(scope, entry))
		return true;
	entry->scope = scope;
	list_append(&scope->queue, &entry->link);
	return false;
}

static struct rpc_scope *scope_create(struct rpc_scopes *scopes, const struct rpc_scope_entry *entry)
{
	struct rpc_scope *scope = xnew(struct rpc_scope);
	scope->scopes = scopes;
	scope->name = entry->method->scope_key;
	scope->text = str_dup(scope_value(entry));
	scope->value = str_n(scope->text, scope_value(entry).len);
	list_init(&scope->queue);
	list_append(&scopes->all, &scope->link);
	return scope;
}

void rpc_scope_hold(struct rpc_scopes *scopes, struct rpc_scope_entry *entry)
{
	if (!has_scope(entry))
		return;
	struct rpc_scope *scope = find(scopes, entry->method->scope_key, scope_value(entry));
	if (!scope)
		scope = scope_create(scopes, entry);
	scope->kind = entry->method->scope;
	scope->holders++;
	entry->scope = scope;
}

static void scope_destroy(struct rpc_scope *scope)
{
	list_remove(&scope->link);
	free(scope->text);
	free(scope);
}

void rpc_scope_leave(struct rpc_scopes *scopes, struct rpc_scope_entry *entry)
{
	struct rpc_scope *scope = entry->scope;
	if (!scope)
		return;
	entry->scope = NULL;
	if (list_empty(&entry->link))
		scope->holders--;
	list_remove(&entry->link);
	if (!scope->holders)
		loop_defer(&scopes->wake);
}

/* Runs the next request, or several that may share the scope. A request that is answered later becomes the next
 * holder. */
static void run_next(struct rpc_scope *scope)
{
	while (!list_empty(&scope->queue)) {
		struct rpc_scope_entry *next = list_first(&scope->queue, struct rpc_scope_entry, link);
		if (scope->holders && !(scope->kind == APP_SCOPE_SHARED && next->method->scope == APP_SCOPE_SHARED))
			return;
		list_remove(&next->link);
		next->scope = NULL;
		next->run(next);
	}
	if (!scope->holders)
		scope_destroy(scope);
}

static void on_wake(void *self)
{
	struct rpc_scopes *scopes = self;
	struct rpc_scope *it;
	list_for_each(it, &scopes->all, link) {
		if (!it->holders)
			run_next(it);
	}
}

void rpc_scopes_init(struct rpc_scopes *scopes, struct loop *loop)
{
	list_init(&scopes->all);
	loop_deferred_init(&scopes->wake, loop, on_wake, scopes);
}

void rpc_scopes_finish(struct rpc_scopes *scopes)
{
	struct rpc_scope *it;
	list_for_each(it, &scopes->all, link)
		scope_destroy(it);
	loop_deferred_finish(&scopes->wake);
}
