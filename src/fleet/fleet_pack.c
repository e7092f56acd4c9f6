/* A packed part is one frame of zstd with a checksum. */
#include "fleet/fleet_pack.h"

#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_store.h"
#include "fleet/resp.h"
#include "rollout/rollout_source.h"

enum { LEVEL = 3, STEP = 128 * KIB };

static int load(const struct rollout_zstd **ret, struct error *err)
{
	*ret = rollout_source_zstd();
	return *ret ? 0 : error_set(err, ERR_unsupported, "the log is packed; install libzstd1");
}

static int compress(const struct rollout_zstd *zstd, ZSTD_CStream *stream, struct buf *out, struct str lines)
{
	auto_free char *step = xmalloc(STEP);
	ZSTD_inBuffer in = {lines.ptr, lines.len, 0};
	size_t left;
	zstd->CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL);
	zstd->CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1);
	do {
		ZSTD_outBuffer piece = {step, STEP, 0};
		left = zstd->compressStream2(stream, &piece, &in, ZSTD_e_end);
		if (zstd->isError(left))
			return -1;
		buf_append_str(out, str_n(step, piece.pos));
	} while (left > 0);
	return 0;
}

int fleet_pack(struct buf *out, struct str lines, struct error *err)
{
	const struct rollout_zstd *zstd;
	if (load(&zstd, err) != 0)
		return -(int)err->code;
	ZSTD_CStream *stream = zstd->createCStream();
	int status = stream ? compress(zstd, stream, out, lines) : -1;
	zstd->freeCStream(stream);
	return status == 0 ? 0 : error_set(err, ERR_limit, "the log cannot be packed: no memory");
}

static int decompress(const struct rollout_zstd *zstd, ZSTD_DStream *stream, struct buf *out, struct str packed)
{
	auto_free char *step = xmalloc(STEP);
	ZSTD_inBuffer in = {packed.ptr, packed.len, 0};
	for (;;) {
		ZSTD_outBuffer piece = {step, STEP, 0};
		size_t left = zstd->decompressStream(stream, &piece, &in);
		buf_append_str(out, str_n(step, piece.pos));
		if (zstd->isError(left) || out->over)
			return -1;
		if (left == 0)
			return in.pos == in.size ? 0 : -1;
		if (in.pos == in.size && piece.pos < STEP) /* it ends inside of the frame */
			return -1;
	}
}

int fleet_unpack(struct buf *out, struct str packed, struct error *err)
{
	const struct rollout_zstd *zstd;
	if (load(&zstd, err) != 0)
		return -(int)err->code;
	ZSTD_DStream *stream = zstd->createDStream();
	if (!stream)
		return error_set(err, ERR_limit, "a packed part of its log cannot be read: no memory");
	int status = decompress(zstd, stream, out, packed);
	zstd->freeDStream(stream);
	return status == 0 ? 0 : error_set(err, ERR_invalid, "a packed part of its log is damaged or too large");
}

/* ---- the lines of one part ---- */

static uint64_t number_of(const struct resp *entry)
{
	struct str id = resp_text(resp_at(entry, 0));
	ptrdiff_t dash = id.ptr ? str_find(id, STR("-")) : -1;
	uint64_t number = 0;
	return dash > 0 && str_to_u64(str_n(id.ptr, (size_t)dash), &number) ? number : 0;
}

uint64_t fleet_pack_join(const struct resp *entries, struct buf *out, uint64_t *ret_first)
{
	uint64_t last = 0;
	*ret_first = number_of(resp_at(entries, 0));
	for (size_t i = 0; i < entries->count && out->len < LIMIT_FLEET_CHUNK; i++) {
		const struct resp *entry = resp_at(entries, i);
		struct str line = fleet_field(entry, "l");
		uint64_t number = number_of(entry);
		if (!line.ptr || line.len > LIMIT_FLEET_PACK_LINE || !number || (last && number != last + 1))
			break;
		buf_append_str(out, line);
		buf_append_char(out, '\n');
		last = number;
	}
	return last;
}
