/* The catalog: known names, their variants, and the defaults for unknown ones. */
#include "test.h"

#include "model/model_catalog.h"

static void default_is_gpt_5_5(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	assert_str(info.slug, "gpt-5.5");
	assert_true(info.is_known && info.is_default && !info.is_hidden);
	assert_int_equal(model_info_window(&info), 258400);
	assert_int_equal(info.default_effort, reasoning_effort_medium);
	assert_int_equal(info.default_verbosity, verbosity_low);
	assert_int_equal(info.patch_form, MODEL_PATCH_freeform);
	assert_true(info.has_reasoning && info.has_parallel_calls && info.has_verbosity);
	assert_true(model_info_has_effort(&info, reasoning_effort_xhigh));
	assert_false(model_info_has_effort(&info, reasoning_effort_max));
}

static void newer_models_are_asked_in_the_lite_form(void **state)
{
	(void)state;
	static const char *const names[] = {"gpt-6-astra",
	                                    "gpt-6.1-sol",
	                                    "gpt-6.1-terra",
	                                    "gpt-6-sol",
	                                    "gpt-6-luna",
	                                    "gpt-5.6-sol",
	                                    "gpt-5.6-terra",
	                                    "gpt-5.6-luna",
	                                    "gpt-daybreak-blue-latest",
	                                    "gpt-daybreak-red-latest",
	                                    "codex-auto-review"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct model_info info = model_catalog_get(str_of(names[i]));
		assert_true(info.is_lite && info.is_code_only);
		assert_str(info.comp_hash, "3000");
	}
	struct model_info info = model_catalog_default();
	assert_false(info.is_lite || info.is_code_only);
	assert_str(info.comp_hash, "2911");
	assert_int_equal(model_catalog_get(STR("unknown")).comp_hash.len, 0);
}

static void unknown_model_gets_the_fallback(void **state)
{
	(void)state;
	static const char *const names[] = {"mock-model", "", "/", "gpt-5.7", "gpt-50", "o3x", "GPT-5.5", "gpt-5.5/"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct model_info info = model_catalog_get(str_of(names[i]));
		assert_false(info.is_known);
		assert_true(str_is(info.slug, names[i]));
		assert_int_equal(model_info_window(&info), 258400);
		assert_int_equal(info.patch_form, MODEL_PATCH_function);
		assert_int_equal(info.output_budget.unit, TEXT_BYTES);
		assert_int_equal(info.output_budget.limit, 10000);
		assert_false(info.has_reasoning || info.has_verbosity);
	}
}

static void variants_follow_their_longest_row(void **state)
{
	(void)state;
	static const struct {
		const char *asked, *name;
	} cases[] = {
		{"gpt-5", "GPT-5"},
		{"gpt-5-2025-08-07", "GPT-5"},
		{"gpt-5.1-codex-max-latest", "GPT-5.1-Codex-Max"},
		{"gpt-5.1-codex-mini", "GPT-5.1-Codex-Mini"},
		{"gpt-5.1-2025-11-13", "GPT-5.1"},
		{"openai/gpt-5.2-codex", "GPT-5.2-Codex"},
		{"gpt-oss:20b", "gpt-oss"},
		{"openai/gpt-oss-120b", "gpt-oss"},
		{"o3", "o3"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model_info info = model_catalog_get(str_of(cases[i].asked));
		assert_true(info.is_known);
		assert_string_equal(info.name, cases[i].name);
		assert_true(str_is(info.slug, cases[i].asked));
	}
}

static void rows_are_sound(void **state)
{
	(void)state;
	struct model_info info, other;
	size_t listed = 0, defaults = 0, count = 0;
	for (; model_catalog_at(count, &info); count++) {
		listed += !info.is_hidden;
		defaults += info.is_default;
		assert_true(info.context_window > 0 && info.max_output > 0);
		assert_true(info.default_effort == reasoning_effort_unset ||
		            model_info_has_effort(&info, info.default_effort));
		other = model_catalog_get(info.slug);
		assert_string_equal(other.name, info.name);
	}
	assert_int_equal(listed, 9);
	assert_int_equal(defaults, 1);
	assert_false(model_catalog_at(count, &info));
}

static void windows_do_not_overflow(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	info.context_window = INT64_MAX;
	assert_true(model_info_window(&info) > 0);
	info.context_window = 1;
	assert_int_equal(model_info_window(&info), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_is_gpt_5_5),
		cmocka_unit_test(newer_models_are_asked_in_the_lite_form),
		cmocka_unit_test(unknown_model_gets_the_fallback),
		cmocka_unit_test(variants_follow_their_longest_row),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(windows_do_not_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
