// SPDX-License-Identifier: Apache-2.0
// Is this an XSpace? Protobuf has no magic, so the head is parsed as one, message by message, with
// every known field required to have its wire type and texts, together, to be text. Field numbers
// that xplane.proto doesn't have are accepted (it may grow) but reduce certainty.
#include "profile/readers/xplane/xplane_parts.h"

#include "base/protobuf.h"

enum level {
    SPACE,
    PLANE,
    LINE,
    EVENT,
    STAT,
    EVENT_ENTRY,
    STAT_ENTRY,
    EVENT_META,
    STAT_META,
    LEVELS
};
#define V 1 // varint
#define D 2 // fixed64
#define T 3 // text
#define B 4 // bytes
#define M(level) (16 + (level))

// What each field number holds; 0 unknown.
static const uint8_t grammar[LEVELS][12] = {
    [SPACE] = {0, M(PLANE), T, T, T},
    [PLANE] = {0, V, T, M(LINE), M(EVENT_ENTRY), M(STAT_ENTRY), M(STAT)},
    [LINE] = {0, V, T, V, M(EVENT), 0, 0, 0, 0, V, V, T},
    [EVENT] = {0, V, V, V, M(STAT), V},
    [STAT] = {0, V, D, V, V, T, B, V},
    [EVENT_ENTRY] = {0, V, M(EVENT_META)},
    [STAT_ENTRY] = {0, V, M(STAT_META)},
    [EVENT_META] = {0, V, T, B, T, M(STAT), B}, // 6, child_id, is packed
    [STAT_META] = {0, V, T, T},
};

struct probe {
    unsigned known, unknown, names; // fields; planes with a name
    size_t text, strange;           // bytes of texts; those that are unusual in texts
    bool wrong;
};

static void probe_text(struct probe *b, const uint8_t *p, size_t n)
{
    b->text += n;
    for (size_t i = 0; i < n; i++) {
        b->strange += (p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') || p[i] == 0x7f;
    }
}

// A message in p[0, n); `whole`: the message itself ends there, not only the head.
static void probe_message(struct probe *b, enum level level, const uint8_t *p, size_t n, bool whole)
{
    struct stk_pb_cursor c = {p, p + n};
    while (!b->wrong && c.p < c.end) {
        struct stk_pb_cursor tag_at = c;
        uint64_t tag, size;
        enum stk_pb_step step = stk_pb_varint(&tag_at, &tag);
        if (step == STK_PB_FIELD && (tag & 7) == STK_PB_LEN) {
            step = stk_pb_varint(&tag_at, &size);
        }
        struct stk_pb_field f = {0};
        if (step == STK_PB_FIELD) {
            step = stk_pb_next(&c, &f);
        }
        if (step == STK_PB_BAD || (step == STK_PB_CUT && whole)) {
            b->wrong = true;
            return;
        }
        if (step == STK_PB_CUT && (f.wire != STK_PB_LEN || !f.number)) {
            return;
        }
        uint8_t holds = f.number < 12 ? grammar[level][f.number] : 0;
        uint32_t wire = holds == V ? STK_PB_VARINT : holds == D ? STK_PB_FIXED64 : STK_PB_LEN;
        if (!holds) {
            b->unknown++;
        } else if (f.wire != wire && !(level == EVENT_META && f.number == 6)) {
            b->wrong = true;
        } else {
            b->known++;
            bool cut = step == STK_PB_CUT;
            const uint8_t *data = cut ? tag_at.p : f.data;
            size_t visible = cut ? (size_t)(c.end - tag_at.p) : (size_t)f.value;
            if (holds >= M(0)) {
                probe_message(b, (enum level)(holds - M(0)), data, visible, !cut);
            } else if (holds == T) {
                probe_text(b, data, visible);
            }
            b->names += level == PLANE && f.number == 2 && f.value > 0;
        }
        if (step == STK_PB_CUT) {
            return;
        }
    }
}

// Length of the UTF-8 sequence at p, 0 if invalid. Overlong forms aren't checked: they are rare in
// binary data and harmless here.
static size_t utf8_length(const uint8_t *p, size_t n)
{
    size_t length = *p < 0x80                 ? 1
                    : *p >= 0xc2 && *p < 0xe0 ? 2
                    : *p >= 0xe0 && *p < 0xf0 ? 3
                    : *p >= 0xf0 && *p < 0xf5 ? 4
                                              : 0;
    for (size_t i = 1; i < length && i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

// Binary data that is valid UTF-8 throughout and full of U+FFFD: a program decoded the file as text
// and replaced invalid bytes.
static bool is_mangled(const uint8_t *p, size_t n)
{
    size_t replaced = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = utf8_length(p + i, n - i);
        if (!length) {
            return false;
        }
        replaced += length == 3 && i + 3 <= n && memcmp(p + i, "\xef\xbf\xbd", 3) == 0;
    }
    return replaced >= 4;
}

static bool contains(const uint8_t *p, size_t n, const char *text)
{
    return memmem(p, n, text, strlen(text)) != NULL;
}

int stk_xp_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    struct probe b = {0};
    if (n < 2) {
        return 0;
    }
    bool starts = head[0] == (1 << 3 | STK_PB_LEN);
    if (starts && is_mangled(head, n) && contains(head, n < 64 ? n : 64, "/")) {
        if (why_not) {
            *why_not = "this was an XPlane profile, but a copy or commit as text replaced bytes "
                       "with U+FFFD. "
                       "Copy the original again in binary mode";
        }
        return 0;
    }
    if (contains(head, n < 4096 ? n : 4096, "type.googleapis.com/tensorflow.profiler.")) {
        if (why_not) {
            *why_not = "this is the stored result of a TensorBoard tool, not a profile. Give the "
                       "*.xplane.pb file next to it";
        }
        return 0;
    }
    if (!starts && head[0] != (2 << 3 | STK_PB_LEN) && head[0] != (3 << 3 | STK_PB_LEN) &&
        head[0] != (4 << 3 | STK_PB_LEN)) {
        return 0;
    }
    probe_message(&b, SPACE, head, n, false);
    // A single name of control characters is still a name.
    if (b.wrong || b.unknown > b.known / 4 || b.strange > b.text / 16) {
        return 0;
    }
    if (b.names && b.known >= 4) {
        return 2;
    }
    return b.names || b.known >= 2 || (b.known && !starts && n >= 3) ? 1 : 0;
}
