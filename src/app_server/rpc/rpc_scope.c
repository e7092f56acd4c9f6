/* A scope exists while a request holds it. Nearly every request finds none and runs at once, so the scopes are a plain
 * list with one entry for each pending answer. */
#include "app_server/rpc/rpc_scope.h"

#include "app_server/rpc/rpc_request.h"
#include "base/mem.h"

struct rpc_scope {
	struct list link;
	struct rpc_scopes *scopes;
	enum app_scope_kind kind; /* of the request that holds it */
	const char *name;         /* of the parameter or the key */
	struct str value;         /* of the parameter */
	char *text;               /* value's bytes */
	size_t holders;
	struct list queue;
};

/* The decoded parameter that distinguishes requests of one kind; STR_NONE if absent. */
static struct str scope_value(const struct rpc_request *request)
{
	const struct app_method *method = request->method;
	size_t count = 0;
	char name[FIELD_NAME_SIZE];
	if (method->scope != APP_SCOPE_THREAD && method->scope != APP_SCOPE_BY)
		return STR_NONE;
	const struct field *fields = method->params->fields ? method->params->fields(&count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (fields[i].kind == FIELD_str &&
		    strcmp(field_wire_name(method->params, &fields[i], name), method->scope_key) == 0)
			return *(const struct str *)(const void *)((const char *)request->params + fields[i].offset);
	}
	return STR_NONE;
}

static bool has_scope(const struct rpc_request *request)
{
	bool by_value = request->method->scope == APP_SCOPE_THREAD || request->method->scope == APP_SCOPE_BY;
	return request->method->scope != APP_SCOPE_ANY && (!by_value || scope_value(request).ptr);
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

static bool may_join(const struct rpc_scope *scope, const struct rpc_request *request)
{
	return scope->kind == APP_SCOPE_SHARED && request->method->scope == APP_SCOPE_SHARED &&
	       list_empty(&scope->queue);
}

bool rpc_scope_enter(struct rpc_scopes *scopes, struct rpc_request *request)
{
	if (list_empty(&scopes->all) || !has_scope(request))
		return true;
	struct rpc_scope *scope = find(scopes, request->method->scope_key, scope_value(request));
	if (!scope || may_join(scope, request))
		return true;
	request->scope = scope;
	list_append(&scope->queue, &request->queued);
	return false;
}

static struct rpc_scope *scope_create(struct rpc_scopes *scopes, const struct rpc_request *request)
{
	struct rpc_scope *scope = xnew(struct rpc_scope);
	scope->scopes = scopes;
	scope->name = request->method->scope_key;
	scope->text = str_dup(scope_value(request));
	scope->value = str_n(scope->text, scope_value(request).len);
	list_init(&scope->queue);
	list_append(&scopes->all, &scope->link);
	return scope;
}

void rpc_scope_hold(struct rpc_scopes *scopes, struct rpc_request *request)
{
	if (!has_scope(request))
		return;
	struct rpc_scope *scope = find(scopes, request->method->scope_key, scope_value(request));
	if (!scope)
		scope = scope_create(scopes, request);
	scope->kind = request->method->scope;
	scope->holders++;
	request->scope = scope;
}

static void scope_destroy(struct rpc_scope *scope)
{
	list_remove(&scope->link);
	free(scope->text);
	free(scope);
}

void rpc_scope_leave(struct rpc_scopes *scopes, struct rpc_request *request)
{
	struct rpc_scope *scope = request->scope;
	if (!scope)
		return;
	request->scope = NULL;
	if (list_empty(&request->queued))
		scope->holders--;
	list_remove(&request->queued);
	if (!scope->holders)
		loop_defer(&scopes->wake);
}

/* Runs the next request, or several that may share the scope. One that answers later becomes the next holder. */
static void run_next(struct rpc_scopes *scopes, struct rpc_scope *scope)
{
	while (!list_empty(&scope->queue)) {
		struct rpc_request *next = list_first(&scope->queue, struct rpc_request, queued);
		if (scope->holders && !(scope->kind == APP_SCOPE_SHARED && next->method->scope == APP_SCOPE_SHARED))
			return;
		list_remove(&next->queued);
		next->scope = NULL;
		scopes->run(next);
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
			run_next(scopes, it);
	}
}

void rpc_scopes_init(struct rpc_scopes *scopes, struct loop *loop, rpc_scope_run_fn run)
{
	list_init(&scopes->all);
	loop_deferred_init(&scopes->wake, loop, on_wake, scopes);
	scopes->run = run;
}

void rpc_scopes_finish(struct rpc_scopes *scopes)
{
	struct rpc_scope *it;
	list_for_each(it, &scopes->all, link)
		scope_destroy(it);
	loop_deferred_finish(&scopes->wake);
}
