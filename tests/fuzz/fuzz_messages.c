/* Answers of Anthropic Messages: see fuzz_answer.h. */
#include "fuzz_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_answer(data, size, wire_api_messages);
	return 0;
}
