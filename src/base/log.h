/* log.h — diagnostics for developers. Users are notified with EventMsg::Warning instead.
 *
 * Each .c that logs defines LOG_MODULE first. Nothing is formatted unless the level is on.
 * Filter: log_configure("info,net=debug") from CODEX_LOG, read in main/. Default: warn.
 * Below server/, ui/ and main/ use only debug and trace. Never log secrets. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* filter may be NULL, which keeps the default. Unknown words are ignored. */
void log_configure(const char *filter);
bool log_enabled(const char *module, enum log_level level);
void log_write(const char *module, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define LOG_AT(level, ...)                                         \
	do {                                                       \
		if (log_enabled(LOG_MODULE, level))                \
			log_write(LOG_MODULE, level, __VA_ARGS__); \
	} while (0)

#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_info(...) LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) LOG_AT(LOG_TRACE, __VA_ARGS__)

#endif
