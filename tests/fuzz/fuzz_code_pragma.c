/* A script has budgets within the limits, or an error with a text. Without a pragma it has the defaults. */
#include "fuzz.h"

#include "tool/code/code_limits.h"
#include "tool/code/code_tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct code_pragma pragma;
	struct str script = str_n((const char *)data, size);
	if (code_pragma_read(script, &pragma, &err) != 0) {
		fuzz_check(err.text[0] && strlen(err.text) < ERROR_TEXT_MAX);
		return 0;
	}
	fuzz_check(!str_is_blank(script));
	fuzz_check(pragma.yield_time_ms >= 0 && pragma.yield_time_ms <= LIMIT_CODE_YIELD_MS);
	fuzz_check(pragma.max_output_tokens >= 0);
	if (str_find(script, STR("@exec:")) < 0)
		fuzz_check(pragma.yield_time_ms == 30000 && pragma.max_output_tokens == 10000);
	return 0;
}
