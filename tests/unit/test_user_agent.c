/* The User-Agent header. */
#include "temp.h"

#include "base/mem.h"
#include "net/user_agent.h"

static void assert_os(const char *os_release, const char *want)
{
	struct user_agent agent = {.originator = STR("o"),
	                           .version = STR("1"),
	                           .os_release_file = temp_put("os-release", str_of(os_release))};
	auto_buf struct buf out;
	buf_init(&out, 256);
	user_agent_write(&out, &agent);
	auto_free char *text = xasprintf("o/1 (%s; ", want);
	assert_true(str_has_prefix(buf_str(&out), text));
}

static void names_the_system(void **state)
{
	(void)state;
	assert_os("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n",
	          "Debian 12.0.0");
	assert_os("NAME=Fedora\nVERSION_ID=41", "Fedora 41.0.0");
	assert_os("NAME='Ubuntu'\nVERSION_ID=\"24.04\"\n", "Ubuntu 24.04.0");
	assert_os("NAME=\"Arch Linux\"\n", "Arch Linux");
	assert_os("", "Linux");
	assert_os("NAME\nNAME=\"\nVERSION_ID=\n", "\"");
}

static void holds_no_byte_that_ends_a_header(void **state)
{
	(void)state;
	struct user_agent agent = {
		.originator = STR("a\r\nb"),
		.version = STR("0.1.0"),
		.client = STR("caf\xc3\xa9"),
		.client_version = STR("2"),
	};
	auto_buf struct buf out;
	buf_init(&out, 1024);
	user_agent_write(&out, &agent);
	assert_true(str_has_prefix(buf_str(&out), "a__b/0.1.0 ("));
	assert_true(str_has_suffix(buf_str(&out), ") unknown (caf__; 2)"));
	for (size_t i = 0; i < out.len; i++)
		assert_in_range(out.data[i], ' ', '~');
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_system),
		cmocka_unit_test(holds_no_byte_that_ends_a_header),
	};
	return cmocka_run_group_tests(tests, temp_make, temp_remove);
}
