/* The published vectors: empty, less than a block, two blocks, many. */
#include "test.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/sha.h"

static void expect_hex(const uint8_t *bytes, size_t len, const char *want)
{
	auto_buf struct buf hex;
	buf_init(&hex, KIB);
	for (size_t i = 0; i < len; i++)
		buf_printf(&hex, "%02x", bytes[i]);
	assert_string_equal(hex.data, want);
}

static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

static void test_sha1(void **state)
{
	(void)state;
	uint8_t sum[SHA1_SIZE];
	sha1(STR(""), sum);
	expect_hex(sum, sizeof(sum), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	sha1(STR("abc"), sum);
	expect_hex(sum, sizeof(sum), "a9993e364706816aba3e25717850c26c9cd0d89d");
	sha1(str_of(two_blocks), sum);
	expect_hex(sum, sizeof(sum), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void test_sha256(void **state)
{
	(void)state;
	uint8_t sum[SHA256_SIZE];
	sha256(STR(""), sum);
	expect_hex(sum, sizeof(sum), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256(STR("abc"), sum);
	expect_hex(sum, sizeof(sum), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256(str_of(two_blocks), sum);
	expect_hex(sum, sizeof(sum), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	char text[SHA256_TEXT_SIZE];
	sha256_text(STR("abc"), text);
	assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_a_million_bytes(void **state)
{
	(void)state;
	auto_buf struct buf many;
	uint8_t sum[SHA256_SIZE];
	buf_init(&many, MIB);
	memset(buf_reserve(&many, 1000000), 'a', 1000000);
	sha256(str_n(many.data, 1000000), sum);
	expect_hex(sum, SHA256_SIZE, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	sha1(str_n(many.data, 1000000), sum);
	expect_hex(sum, SHA1_SIZE, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

/* RFC 4231, cases 2 and 6: a short key, and one longer than a block. */
static void test_hmac(void **state)
{
	(void)state;
	uint8_t sum[SHA256_SIZE];
	char key[131];
	sha256_hmac(STR("Jefe"), STR("what do ya want for nothing?"), sum);
	expect_hex(sum, sizeof(sum), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	sha256_hmac(str_n(key, sizeof(key)), STR("Test Using Larger Than Block-Size Key - Hash Key First"), sum);
	expect_hex(sum, sizeof(sum), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha1),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_a_million_bytes),
		cmocka_unit_test(test_hmac),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
