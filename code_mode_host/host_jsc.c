/* JavaScriptCore of the system, loaded when used. Its C API has no modules, so the script becomes the body of a strict
 * async function on the same first line. A check of the script as a plain one refuses a return and an end of that
 * function: there `await` is replaced by an operator of the same
 * length and the same rank. JIT is off: the process then needs no memory that is both written and executed. */
#include "host_js.h"
#include "host_lock.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CHECK_SECONDS 0.02

typedef const void *JSContextRef, *JSValueRef;
typedef void *JSStringRef, *JSObjectRef;
typedef JSValueRef (*JSCallback)(JSContextRef, JSObjectRef, JSObjectRef, size_t, const JSValueRef[], JSValueRef *);

#define FUNCTION(result, name, parameters) static result(*name) parameters;
#include "host_jsc.def"
#undef FUNCTION

static JSContextRef context;
static JSObjectRef glue;

static JSStringRef make_string(const char *text)
{
	return JSStringCreateWithUTF8CString(text);
}

/* Returns an owned UTF-8 copy of a value's text; NULL if it has none. */
static char *text_of(JSValueRef value, size_t *ret_len)
{
	JSValueRef error = NULL;
	JSStringRef string = JSValueToStringCopy(context, value, &error);
	if (!string || error)
		return NULL;
	size_t size = JSStringGetMaximumUTF8CStringSize(string);
	char *text = malloc(size);
	if (text)
		*ret_len = JSStringGetUTF8CString(string, text, size) - 1;
	JSStringRelease(string);
	return text;
}

static JSValueRef on_send(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,
                          const JSValueRef argv[], JSValueRef *error)
{
	size_t len;
	(void)function;
	(void)self;
	(void)error;
	char *text = argc ? text_of(argv[0], &len) : NULL;
	if (!text)
		host_fail(HOST_NO_MEMORY);
	host_send(text, len);
	free(text);
	return JSValueMakeUndefined(ctx);
}

static JSValueRef on_exit_call(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,
                               const JSValueRef argv[], JSValueRef *error)
{
	(void)ctx;
	(void)function;
	(void)self;
	(void)argv;
	(void)error;
	if (argc)
		host_fail(HOST_NO_MEMORY);
	host_exit();
}

static JSValueRef on_now(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc, const JSValueRef argv[],
                         JSValueRef *error)
{
	(void)function;
	(void)self;
	(void)argc;
	(void)argv;
	(void)error;
	return JSValueMakeNumber(ctx, host_now());
}

static void fail(JSValueRef error)
{
	size_t len;
	char *text = error ? text_of(error, &len) : NULL;
	host_fail(text ? text : "the script could not be run");
}

static JSObjectRef member(JSObjectRef object, const char *name)
{
	JSStringRef key = make_string(name);
	JSValueRef value = JSObjectGetProperty(context, object, key, NULL);
	JSStringRelease(key);
	return (JSObjectRef)(uintptr_t)value;
}

/* Calls a function of the glue; jobs run before it returns. */
static JSValueRef call(const char *name, JSValueRef argument)
{
	JSValueRef error = NULL;
	JSValueRef result = JSObjectCallAsFunction(context, member(glue, name), NULL, 1, &argument, &error);
	if (error)
		fail(error);
	return result;
}

static JSValueRef string_value(const char *text)
{
	JSStringRef string = make_string(text);
	JSValueRef value = JSValueMakeString(context, string);
	JSStringRelease(string);
	return value;
}

static JSValueRef evaluate(const char *text, const char *name, JSValueRef *error)
{
	JSStringRef source = make_string(text), url = make_string(name);
	JSValueRef value = JSEvaluateScript(context, source, NULL, url, 1, error);
	JSStringRelease(source);
	JSStringRelease(url);
	return value;
}

static void set_function(JSObjectRef object, const char *name, JSCallback callback)
{
	JSStringRef key = make_string(name);
	JSObjectSetProperty(context, object, key, JSObjectMakeFunctionWithCallback(context, key, callback), 0, NULL);
	JSStringRelease(key);
}

static bool load(void)
{
	void *library = dlopen("libjavascriptcoregtk-4.1.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen("libjavascriptcoregtk-6.0.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define FUNCTION(result, name, parameters)                      \
	if (!(*(void **)(void *)&name = dlsym(library, #name))) \
		return false;
#include "host_jsc.def"
#undef FUNCTION
	return true;
}

/* Runs in the script, each time that it has computed for CHECK_SECONDS: what the engine has reserved at its start is
 * beyond the limit of the kernel. */
static bool on_check(JSContextRef ctx, void *self)
{
	struct rusage usage;
	(void)self;
	if (getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > HOST_MEMORY_MAX / 1024)
		host_fail(HOST_NO_MEMORY);
	JSContextGroupSetExecutionTimeLimit(JSContextGetGroup(ctx), CHECK_SECONDS, on_check, NULL);
	return false;
}

static bool jsc_open(const char *source, size_t len, const char **ret_why)
{
	JSValueRef error = NULL;
	(void)len;
	setenv("Malloc", "1", 1); /* no arena of 64 GB, in which the limit of memory would not count */
	setenv("JSC_useJIT", "0", 1);
	setenv("JSC_useTailCalls", "0", 1); /* an endless recursion ends in an exception, as in other engines */
	setenv("JSC_useConcurrentGC", "0", 1);
	setenv("JSC_numberOfGCMarkers", "1", 1);
	*ret_why = "libjavascriptcoregtk-4.1 is not there";
	if (!load())
		return false;
	*ret_why = "JavaScriptCore lacks a function";
	context = JSGlobalContextCreate(NULL);
	JSContextGroupSetExecutionTimeLimit(JSContextGetGroup(context), CHECK_SECONDS, on_check, NULL);
	JSObjectRef host = JSObjectMake(context, NULL, NULL);
	set_function(host, "send", on_send);
	set_function(host, "exit", on_exit_call);
	set_function(host, "now", on_now);
	JSObjectRef make = (JSObjectRef)(uintptr_t)evaluate(source, "glue.js", &error);
	if (error)
		return false;
	JSValueRef argument = host;
	glue = (JSObjectRef)(uintptr_t)JSObjectCallAsFunction(context, make, NULL, 1, &argument, &error);
	if (error)
		return false;
	JSValueProtect(context, glue);
	return true;
}

/* ---- the script ---- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (c & 0x80);
}

/* Replaces the word `await` by `void `, and blanks it after `for`. */
static void replace_await(char *code)
{
	for (char *at = code; (at = strstr(at, "await")); at += 5) {
		if ((at > code && is_name_char(at[-1])) || is_name_char(at[5]))
			continue;
		const char *before = at;
		while (before > code && strchr(" \t\r\n", before[-1]))
			before--;
		bool is_loop = before - code >= 3 && memcmp(before - 3, "for", 3) == 0;
		memcpy(at, is_loop ? "     " : "void ", 5);
	}
}

static char *wrap(const char *before, const char *source, const char *after)
{
	size_t size = strlen(before) + strlen(source) + strlen(after) + 1;
	char *code = malloc(size);
	if (!code)
		host_fail(HOST_NO_MEMORY);
	strcpy(stpcpy(stpcpy(code, before), source), after);
	return code;
}

/* Returns the SyntaxError of the source as a module; NULL if it has none. */
static JSValueRef check(const char *source)
{
	JSValueRef error = NULL;
	char *code = wrap("'use strict';", source, "");
	replace_await(code);
	JSStringRef text = make_string(code), url = make_string(HOST_SCRIPT);
	JSCheckScriptSyntax(context, text, url, 1, &error);
	JSStringRelease(text);
	JSStringRelease(url);
	free(code);
	return error;
}

static void jsc_start(const char *text, size_t len)
{
	size_t source_len;
	(void)len;
	char *source = text_of(call("start", string_value(text)), &source_len);
	if (!source)
		host_fail(HOST_NO_MEMORY);
	JSValueRef error = strlen(source) == source_len ? check(source) : string_value("the source contains NUL");
	if (!error) {
		char *code = wrap("(async function(){'use strict';", source, "\n}).call(undefined)");
		JSValueRef promise = evaluate(code, HOST_SCRIPT, &error);
		free(code);
		if (!error)
			call("run", promise);
	}
	if (error)
		call("fail", error);
	free(source);
}

static void jsc_frame(const char *text, size_t len)
{
	(void)len;
	call("frame", string_value(text));
}

static double jsc_tick(void)
{
	return JSValueToNumber(context, call("tick", JSValueMakeUndefined(context)), NULL);
}

const struct host_js host_jsc = {
	.name = "javascriptcore",
	.open = jsc_open,
	.start = jsc_start,
	.frame = jsc_frame,
	.tick = jsc_tick,
};
