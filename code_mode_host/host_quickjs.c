/* The script is a real module. Memory and stack have limits of their own, which a script sees as exceptions. */
#include "host_js.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#ifdef QUICKJS_INSTALLED
#include <quickjs/quickjs.h>
#else
#include <quickjs.h>
#endif

enum { MEMORY_MAX = 192 * 1024 * 1024, STACK_MAX = 2 * 1024 * 1024, MEMORY_HEAD = 8, SMALL = 4096 };

/* ---- memory: that of the engine's own functions, which do not say that they have refused some */

static bool was_refused;

static void engine_free(JSMallocState *state, void *old)
{
	if (!old)
		return;
	state->malloc_count--;
	state->malloc_size -= malloc_usable_size(old) + MEMORY_HEAD;
	free(old);
}

static void *engine_realloc(JSMallocState *state, void *old, size_t size)
{
	size_t before = old ? malloc_usable_size(old) + MEMORY_HEAD : 0, rest = state->malloc_size - before;
	if (!size) {
		engine_free(state, old);
		return NULL;
	}
	void *grown = size <= state->malloc_limit && rest <= state->malloc_limit - size ? realloc(old, size) : NULL;
	if (!grown) {
		was_refused |= size <= SMALL; /* an exception does not fit either */
		return NULL;
	}
	state->malloc_count += !old;
	state->malloc_size = rest + malloc_usable_size(grown) + MEMORY_HEAD;
	return grown;
}

static void *engine_malloc(JSMallocState *state, size_t size)
{
	return engine_realloc(state, NULL, size);
}

static size_t usable_size(const void *ptr)
{
	return malloc_usable_size((void *)(uintptr_t)ptr);
}

static const JSMallocFunctions memory = {engine_malloc, engine_free, engine_realloc, usable_size};

/* ---- the realm */

static JSRuntime *runtime;
static JSContext *context;
static JSValue glue;

static JSValue on_send(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	size_t len;
	(void)self;
	const char *text = argc ? JS_ToCStringLen(ctx, &len, argv[0]) : NULL;
	if (!text)
		return JS_EXCEPTION;
	host_send(text, len);
	JS_FreeCString(ctx, text);
	return JS_UNDEFINED;
}

static JSValue on_exit_call(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	(void)self;
	if (argc && JS_ToBool(ctx, argv[0]))
		host_fail(HOST_NO_MEMORY);
	host_exit();
}

/* The realm's own generator is seeded before the fork: it would give each script the same numbers. This one is
 * seeded by the first call, and is xorshift64*. */
static JSValue on_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	static uint64_t state;
	(void)self;
	(void)argc;
	(void)argv;
	while (!state)
		if (getrandom(&state, sizeof(state), 0) != sizeof(state))
			return JS_EXCEPTION;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return JS_NewFloat64(ctx, (double)(state * 0x2545F4914F6CDD1D >> 11) * 0x1p-53);
}

static JSValue on_full(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	(void)self;
	(void)argc;
	(void)argv;
	return JS_NewBool(ctx, was_refused);
}

static JSValue on_now(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
	(void)self;
	(void)argc;
	(void)argv;
	return JS_NewFloat64(ctx, host_now());
}

/* Ends the process with the text of the pending exception. */
static void fail(void)
{
	JSValue error = JS_GetException(context);
	const char *text = JS_IsNull(error) && was_refused ? NULL : JS_ToCString(context, error);
	host_fail(text ? text : HOST_NO_MEMORY);
}

static void run_jobs(void)
{
	JSContext *ctx;
	int status;
	while ((status = JS_ExecutePendingJob(runtime, &ctx)) > 0)
		;
	if (status < 0)
		fail();
}

/* Calls a function of the glue. */
static double call(const char *name, JSValue argument)
{
	double number = -1;
	JSValue function = JS_GetPropertyStr(context, glue, name);
	JSValue result = JS_Call(context, function, JS_UNDEFINED, 1, &argument);
	if (JS_IsException(result))
		fail();
	if (JS_IsNumber(result))
		JS_ToFloat64(context, &number, result);
	JS_FreeValue(context, result);
	JS_FreeValue(context, function);
	JS_FreeValue(context, argument);
	return number;
}

static bool quickjs_open(const char *source, size_t len, const char **ret_why)
{
	*ret_why = "QuickJS has no memory";
	runtime = JS_NewRuntime2(&memory, NULL);
	context = runtime ? JS_NewContext(runtime) : NULL;
	if (!context)
		return false;
	JS_SetMemoryLimit(runtime, MEMORY_MAX);
	JS_SetMaxStackSize(runtime, STACK_MAX);
	JSValue make = JS_Eval(context, source, len, "glue.js", JS_EVAL_TYPE_GLOBAL);
	JSValue host = JS_NewObject(context);
	JS_SetPropertyStr(context, host, "send", JS_NewCFunction(context, on_send, "send", 1));
	JS_SetPropertyStr(context, host, "exit", JS_NewCFunction(context, on_exit_call, "exit", 0));
	JS_SetPropertyStr(context, host, "now", JS_NewCFunction(context, on_now, "now", 0));
	JS_SetPropertyStr(context, host, "random", JS_NewCFunction(context, on_random, "random", 0));
	JS_SetPropertyStr(context, host, "isFull", JS_NewCFunction(context, on_full, "isFull", 0));
	glue = JS_Call(context, make, JS_UNDEFINED, 1, &host);
	JS_FreeValue(context, make);
	JS_FreeValue(context, host);
	*ret_why = "QuickJS lacks a function";
	return !JS_IsException(glue);
}

static void quickjs_start(const char *text, size_t len)
{
	size_t source_len;
	JSValue function = JS_GetPropertyStr(context, glue, "start");
	JSValue frame = JS_NewStringLen(context, text, len);
	JSValue source = JS_Call(context, function, JS_UNDEFINED, 1, &frame);
	JS_FreeValue(context, frame);
	JS_FreeValue(context, function);
	const char *code = JS_IsException(source) ? NULL : JS_ToCStringLen(context, &source_len, source);
	if (!code)
		fail();
	JSValue promise = JS_Eval(context, code, source_len, HOST_SCRIPT, JS_EVAL_TYPE_MODULE);
	JS_FreeCString(context, code);
	JS_FreeValue(context, source);
	if (JS_IsException(promise))
		call("fail", JS_GetException(context));
	else
		call("run", promise);
	run_jobs();
}

static void quickjs_frame(const char *text, size_t len)
{
	call("frame", JS_NewStringLen(context, text, len));
	run_jobs();
}

static double quickjs_tick(void)
{
	double wait = call("tick", JS_UNDEFINED);
	run_jobs();
	return wait;
}

const struct host_js host_quickjs = {
	.name = "quickjs",
	.can_fork = true,
	.open = quickjs_open,
	.start = quickjs_start,
	.frame = quickjs_frame,
	.tick = quickjs_tick,
};
