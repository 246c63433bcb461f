// SPDX-License-Identifier: Apache-2.0
// JPEG headers: parses and checks the markers up to the first scan, and decides: supported, not
// supported, or bad. Format: ITU-T T.81 annex B, JFIF 1.02, Adobe's APP14, EXIF 2.3 (orientation
// only). The color space is chosen like in libjpeg.
#include "base/assert.h"
#include "engine/image/jpeg_impl.h"

#include "base/cpu.h"

#include <string.h>

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, DRI = 0xdd, DHT = 0xc4, DNL = 0xdc };

static enum stk_jpeg_status refuse(struct stk_jpeg *j, enum stk_jpeg_status status, const char *why)
{
    j->reason = why;
    return status;
}

static enum stk_jpeg_status bad(struct stk_jpeg *j, const char *why)
{
    return refuse(j, STK_JPEG_BAD, why);
}

static enum stk_jpeg_status not_mine(struct stk_jpeg *j, const char *why)
{
    return refuse(j, STK_JPEG_NOT_MINE, why);
}

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

void stk_jpeg_init(struct stk_jpeg *j)
{
    memset(j, 0, sizeof *j);
    j->reason = "no image opened";
    j->max_pixels = UINT64_C(1) << 28;
    j->cpu = !stk_cpu_has(STK_CPU_AVX2)                   ? STK_JPEG_PLAIN
             : stk_cpu_has(STK_CPU_AVX512 | STK_CPU_VBMI) ? STK_JPEG_AVX512
                                                          : STK_JPEG_AVX2;
}

static enum stk_jpeg_status read_quant(struct stk_jpeg *j, const uint8_t *p, size_t n)
{
    while (n > 0) {
        unsigned wide = p[0] >> 4, slot = p[0] & 15;
        size_t need = 1 + (wide ? 128 : 64);
        if (slot > 3 || n < need) {
            return bad(j, "quantizer table: wrong slot or length");
        }
        for (int i = 0; i < 64; i++) {
            j->quant[slot][stk_jpeg_zigzag[i]] = (uint16_t)(wide ? be16(p + 1 + 2 * i) : p[1 + i]);
        }
        j->quant_seen |= 1u << slot;
        p += need;
        n -= need;
    }
    return STK_JPEG_OK;
}

static enum stk_jpeg_status read_huff(struct stk_jpeg *j, const uint8_t *p, size_t n)
{
    while (n > 0) {
        unsigned is_ac = p[0] >> 4, slot = p[0] & 15;
        size_t total = 0;
        if (n < 17 || is_ac > 1 || slot > 3) {
            return bad(j, "Huffman table: wrong slot or length");
        }
        for (int i = 1; i <= 16; i++) {
            total += p[i];
        }
        if (total > 256 || n < 17 + total) {
            return bad(j, "Huffman table: more symbols than it has room for");
        }
        struct stk_jpeg_huff *h = is_ac ? &j->ac[slot] : &j->dc[slot];
        if (memcmp(h->counts + 1, p + 1, 16) != 0 || memcmp(h->symbols, p + 17, total) != 0) {
            memcpy(h->counts + 1, p + 1, 16);
            memcpy(h->symbols, p + 17, total);
            memset(h->symbols + total, 0, 256 - total);
            h->is_built = false;
        }
        *(is_ac ? &j->ac_seen : &j->dc_seen) |= 1u << slot;
        p += 17 + total;
        n -= 17 + total;
    }
    return STK_JPEG_OK;
}

static bool has_sampling_of_mine(const struct stk_jpeg *j)
{
    const struct stk_jpeg_component *c = j->component;
    return c[0].h <= 2 && c[0].v <= 2 && c[1].h == 1 && c[1].v == 1 && c[2].h == 1 && c[2].v == 1;
}

static enum stk_jpeg_status read_frame(struct stk_jpeg *j, const uint8_t *p, size_t n)
{
    if (j->has_frame) {
        return bad(j, "two frame headers");
    }
    if (n < 6 || n != 6 + 3 * (size_t)p[5]) {
        return bad(j, "frame header: wrong length");
    }
    if (p[0] != 8) {
        return not_mine(j, "not 8 bits a sample");
    }
    j->height = be16(p + 1);
    j->width = be16(p + 3);
    j->components = p[5];
    if (j->width == 0 || j->height == 0 || j->components == 0) {
        return bad(j, "an image without pixels");
    }
    if ((uint64_t)j->width * j->height > j->max_pixels) {
        return refuse(j, STK_JPEG_LIMIT, "more pixels than allowed");
    }
    if (j->components != 1 && j->components != 3) {
        return not_mine(j, "neither 1 nor 3 components");
    }
    for (uint32_t i = 0; i < j->components; i++) {
        const uint8_t *q = p + 6 + 3 * i;
        j->component[i] = (struct stk_jpeg_component){q[0], q[1] >> 4, q[1] & 15, q[2], 0, 0};
        struct stk_jpeg_component *c = &j->component[i];
        if (c->h < 1 || c->h > 4 || c->v < 1 || c->v > 4 || c->quant > 3) {
            return bad(j, "frame header: sampling factor or quantizer out of range");
        }
        for (uint32_t k = 0; k < i; k++) {
            if (j->component[k].id == c->id) {
                return not_mine(j, "two components with the same name");
            }
        }
    }
    if (j->components == 1) {
        j->component[0].h = j->component[0].v = 1; // a lone component is never interleaved
    } else if (!has_sampling_of_mine(j)) {
        return not_mine(j, "sampling other than 4:4:4, 4:2:2, 4:2:0, 4:4:0");
    }
    j->h_max = j->component[0].h;
    j->v_max = j->component[0].v;
    j->has_frame = true;
    return STK_JPEG_OK;
}

// Reads the orientation from an EXIF block, if present and valid; else leaves it unchanged.
static void read_exif(struct stk_jpeg *j, const uint8_t *p, size_t n)
{
    if (j->orientation || n < 14 || memcmp(p, "Exif\0", 6) != 0) {
        return;
    }
    p += 6;
    n -= 6;
    bool is_big = p[0] == 'M';
#define EXIF16(at) (is_big ? be16(p + (at)) : (unsigned)p[(at) + 1] << 8 | p[at])
#define EXIF32(at)                                                                                 \
    (is_big ? EXIF16(at) << 16 | EXIF16((at) + 2) : EXIF16((at) + 2) << 16 | EXIF16(at))
    size_t ifd = EXIF32(4);
    if (ifd > n - 2) {
        return;
    }
    size_t entries = EXIF16(ifd);
    for (size_t i = 0; i < entries && ifd + 2 + 12 * (i + 1) <= n; i++) {
        size_t at = ifd + 2 + 12 * i;
        if (EXIF16(at) != 0x112) {
            continue;
        }
        unsigned value = EXIF16(at + 8);
        if (EXIF16(at + 2) == 3 && value >= 1 && value <= 8) {
            j->orientation = value;
        }
        return;
    }
#undef EXIF32
#undef EXIF16
}

static enum stk_jpeg_status read_app(struct stk_jpeg *j, int marker, const uint8_t *p, size_t n)
{
    if (marker == 0xe0 && n >= 14 && memcmp(p, "JFIF", 5) == 0) {
        j->has_jfif = true;
        if (p[5] != 1) {
            return not_mine(j, "JFIF version other than 1");
        }
    } else if (marker == 0xe1) {
        read_exif(j, p, n);
    } else if (marker == 0xee && n >= 12 && memcmp(p, "Adobe", 5) == 0) {
        j->has_adobe = true;
        j->adobe_transform = p[11];
    }
    return STK_JPEG_OK;
}

static bool is_ycc(const struct stk_jpeg *j)
{
    const struct stk_jpeg_component *c = j->component;
    if (j->has_jfif) {
        return true;
    }
    if (j->has_adobe) {
        return j->adobe_transform == 1;
    }
    return !(c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B');
}

static enum stk_jpeg_status read_scan(struct stk_jpeg *j, const uint8_t *p, size_t n)
{
    if (!j->has_frame) {
        return bad(j, "a scan before its frame header");
    }
    if (n < 1 || p[0] < 1 || p[0] > 4 || n != 4 + 2 * (size_t)p[0]) {
        return bad(j, "scan header: wrong length");
    }
    if (p[0] != j->components) {
        return not_mine(j, "several scans");
    }
    for (uint32_t i = 0; i < j->components; i++) {
        struct stk_jpeg_component *c = &j->component[i];
        if (p[1 + 2 * i] != c->id) {
            return not_mine(j, "components in another order");
        }
        c->dc_tab = p[2 + 2 * i] >> 4;
        c->ac_tab = p[2 + 2 * i] & 15;
        if (c->dc_tab > 3 || c->ac_tab > 3) {
            return bad(j, "scan header: table out of range");
        }
        if (!(j->quant_seen >> c->quant & 1)) {
            return bad(j, "no quantizer table");
        }
        if (!(j->dc_seen >> c->dc_tab & 1) || !(j->ac_seen >> c->ac_tab & 1)) {
            return not_mine(j, "Huffman tables left out");
        }
    }
    p += 1 + 2 * j->components;
    if (p[0] != 0 || p[1] != 63 || p[2] != 0) {
        return not_mine(j, "scan parameters that are not sequential");
    }
    if (j->components == 3 && !is_ycc(j)) {
        return not_mine(j, "colors other than YCbCr");
    }
    return STK_JPEG_OK;
}

static enum stk_jpeg_status build_tables(struct stk_jpeg *j)
{
    STK_ASSERT(j->components >= 1 && j->components <= 3);
    for (uint32_t i = 0; i < j->components; i++) {
        int d = j->component[i].dc_tab, a = j->component[i].ac_tab;
        if (!stk_jpeg_build_huff(&j->dc[d], j->dc_look[d], NULL, STK_JPEG_DC_BITS) ||
            !stk_jpeg_build_huff(&j->ac[a], j->ac_look[a], j->ac_pass[a], STK_JPEG_AC_BITS)) {
            return bad(j, "Huffman table: not a prefix code");
        }
    }
    return STK_JPEG_OK;
}

// Every block takes at least two bits: rejects large images without data before any work is done.
static bool has_too_few_bytes(const struct stk_jpeg *j)
{
    STK_ASSERT(j->h_max > 0 && j->v_max > 0);
    uint64_t across = (j->width + 8 * j->h_max - 1) / (8 * j->h_max);
    uint64_t down = (j->height + 8 * j->v_max - 1) / (8 * j->v_max);
    uint64_t blocks = j->components == 1 ? 1 : j->h_max * j->v_max + 2;
    return across * down * blocks > 4 * (uint64_t)(j->size - j->scan);
}

static enum stk_jpeg_status read_segment(struct stk_jpeg *j, int marker, const uint8_t *p, size_t n)
{
    if (marker >= 0xe0 && marker <= 0xef) {
        return read_app(j, marker, p, n);
    }
    switch (marker) {
    case 0xc0:
    case 0xc1:
        return read_frame(j, p, n);
    case DHT:
        return read_huff(j, p, n);
    case DQT:
        return read_quant(j, p, n);
    case DRI:
        if (n != 2) {
            return bad(j, "restart interval: wrong length");
        }
        j->restart_interval = be16(p);
        return STK_JPEG_OK;
    case SOS:
        return read_scan(j, p, n);
    case DNL:
    case 0xfe:
        return STK_JPEG_OK;
    }
    if (marker >= 0xc2 && marker <= 0xcf && marker != 0xc8) {
        return not_mine(j, "progressive, lossless, hierarchical or arithmetic coding");
    }
    return bad(j, "a marker that has no place in the headers");
}

enum stk_jpeg_status stk_jpeg_open(struct stk_jpeg *j, const uint8_t *data, size_t size)
{
    j->data = data;
    j->size = size;
    j->scan = 0;
    j->width = j->height = j->components = 0;
    j->restart_interval = j->orientation = 0;
    j->quant_seen = j->dc_seen = j->ac_seen = 0;
    j->has_frame = j->has_jfif = j->has_adobe = false;
    j->reason = "";
    if (size < 4 || data[0] != 0xff || data[1] != SOI) {
        return bad(j, "not a JPEG: it does not begin with FF D8");
    }
    size_t at = 2;
    for (;;) {
        if (at >= size || data[at] != 0xff) {
            return bad(j, "bytes between segments, or the headers end too early");
        }
        while (at < size && data[at] == 0xff) {
            at++;
        }
        if (at >= size) {
            return bad(j, "the headers end too early");
        }
        int marker = data[at++];
        if (marker == 1 || (marker >= 0xd0 && marker <= 0xd7)) {
            continue; // no parameters, no meaning here
        }
        if (size - at < 2 || be16(data + at) < 2 || size - at < be16(data + at)) {
            return bad(j, "a segment longer than the data");
        }
        size_t n = be16(data + at) - 2;
        enum stk_jpeg_status status = read_segment(j, marker, data + at + 2, n);
        if (status != STK_JPEG_OK) {
            return status;
        }
        at += 2 + n;
        if (marker == SOS) {
            break;
        }
    }
    j->scan = at;
    if (has_too_few_bytes(j)) {
        return bad(j, "fewer bytes than its blocks need");
    }
    return build_tables(j);
}
