// SPDX-License-Identifier: Apache-2.0
// Annotations of an event (DebugAnnotation, and the extra data of render stages), as the arguments
// of the same event in Kineto's JSON: those that stoker uses become fields right away, and all of
// them become JSON text if details are wanted.
//
// Limits: an event's text has at most NOTE_BYTES_FACTOR times its bytes plus NOTE_BYTES_FREE; the
// rest is left out. So names and texts that many events share can't cost much more than they take
// in the file. Lists and dictionaries may nest DEPTH_MAX deep.
#include "profile/readers/perfetto/perfetto_run.h"

#include "base/alloc.h"
#include "base/text.h"

#define NOTE_BYTES_FREE 256
#define NOTE_BYTES_FACTOR 4
#define ALONE_BYTES_MAX ((size_t)32 << 20) // of an event that is requested alone
#define DEPTH_MAX 16

#define NOTE_DICT 11
#define NOTE_LIST 12

static double real_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void read_field(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pb_field *f,
                       struct stk_pf_note *out)
{
    struct stk_str text = {(const char *)f->data, (size_t)f->value};
    bool is_text = f->wire == STK_PB_LEN, is_number = f->wire == STK_PB_VARINT;
    switch (f->number) {
    case 1:
        if (is_number) {
            out->name_id = stk_pf_text_of(in, s, STK_PF_NOTE_NAMES, f->value);
            out->name = stk_pf_text(in, out->name_id);
        }
        break;
    case 10:
        if (is_text) {
            out->name = text;
            out->is_inline = true;
        }
        break;
    case 2: // a bool
    case 3:
    case 4:
    case 7: // a pointer
        if (is_number) {
            out->type = STK_PF_INT;
            out->number = (int64_t)f->value;
        }
        break;
    case 5:
        if (f->wire == STK_PB_FIXED64) {
            out->type = STK_PF_REAL;
            out->real = real_of(f->value);
        }
        break;
    case 6:
    case 9: // JSON of another program
        if (is_text) {
            out->type = STK_PF_TEXT;
            out->text = text;
        }
        break;
    case 17:
        if (is_number) {
            out->type = STK_PF_TEXT;
            out->text = stk_pf_text(in, stk_pf_text_of(in, s, STK_PF_NOTE_TEXTS, f->value));
        }
        break;
    case NOTE_DICT:
    case NOTE_LIST:
        if (is_text) {
            out->type = f->number == NOTE_DICT ? STK_PF_DICT : STK_PF_LIST;
        }
        break;
    default:
        break;
    }
}

bool stk_pf_note_read(struct stk_pf *in, const struct stk_pf_seq *s, const uint8_t *p, size_t n,
                      struct stk_pf_note *out)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    enum stk_pb_step step;
    *out = (struct stk_pf_note){.name = {"", 0}, .text = {"", 0}, .p = p, .n = n};
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        read_field(in, s, &f, out);
    }
    return step == STK_PB_END;
}

// ---- as fields ----

static bool whole(const struct stk_pf_note *note, int64_t *out)
{
    if (note->type == STK_PF_INT) {
        *out = note->number;
        return true;
    }
    return note->type == STK_PF_TEXT && stk_str_to_i64(note->text, out);
}

static void set(const struct stk_pf_note *note, struct stk_chrome_raw *r, int64_t *to,
                uint32_t flag)
{
    r->flags |= whole(note, to) ? flag : STK_CHROME_BAD_FIELD;
}

void stk_pf_take_note(const struct stk_pf_note *note, struct stk_chrome_raw *r)
{
    int64_t number;
    switch (stk_chrome_arg_find(note->name.p, note->name.n)) {
    case STK_CHROME_ARG_RANK:
        set(note, r, &r->rank, STK_CHROME_HAS_RANK);
        break;
    case STK_CHROME_ARG_BYTES:
        set(note, r, &r->bytes, STK_CHROME_HAS_BYTES);
        break;
    case STK_CHROME_ARG_DEVICE:
        set(note, r, &r->device, STK_CHROME_HAS_DEVICE);
        break;
    case STK_CHROME_ARG_STREAM:
        set(note, r, &r->stream, STK_CHROME_HAS_STREAM);
        break;
    case STK_CHROME_ARG_RAW_PID:
        r->flags |= STK_CHROME_HAS_RAW_PID;
        break;
    case STK_CHROME_ARG_GRAPH:
        r->flags |= whole(note, &number) && number ? STK_CHROME_IN_GRAPH : 0;
        break;
    case STK_CHROME_ARG_STEP:
        set(note, r, &r->step, STK_CHROME_HAS_STEP);
        break;
    case STK_CHROME_ARG_CORR:
        set(note, r, &r->corr, STK_CHROME_HAS_CORR);
        break;
    case STK_CHROME_ARG_MEMORY_PLACE:
        r->flags |= whole(note, &number) && number ? STK_CHROME_DEVICE_MEMORY : 0;
        break;
    case STK_CHROME_ARG_DETAILS:
        if (note->type == STK_PF_TEXT) {
            r->details = note->text;
        }
        break;
    default:
        break;
    }
}

// ---- as JSON ----

// Room for n more bytes and the padding; NULL: beyond the event's limit, or no memory.
static char *more(struct stk_pf *in, size_t n)
{
    if (in->json_len + n > in->json_most) {
        return NULL;
    }
    if (in->json_len + n + STK_PF_PAD > in->json_size) {
        size_t size = (in->json_len + n + STK_PF_PAD) * 2;
        char *grown = stk_realloc_array(in->json, size, 1);
        if (!grown) {
            in->failed = true;
            return NULL;
        }
        in->json = grown;
        in->json_size = size;
    }
    return in->json + in->json_len;
}

static bool put(struct stk_pf *in, const char *p, size_t n)
{
    char *to = more(in, n);
    if (to && n) {
        memcpy(to, p, n);
        in->json_len += n;
    }
    return to != NULL;
}

static bool put_text(struct stk_pf *in, struct stk_str s)
{
    bool ok = s.n <= in->json_most - in->json_len && put(in, "\"", 1);
    while (s.n && ok) {
        size_t plain = 0;
        while (plain < s.n && (unsigned char)s.p[plain] >= 0x20 && s.p[plain] != '"' &&
               s.p[plain] != '\\' && (unsigned char)s.p[plain] < 0x7f) {
            plain++;
        }
        if (plain) {
            ok = put(in, s.p, plain);
            s = (struct stk_str){s.p + plain, s.n - plain};
            continue;
        }
        struct stk_text_piece piece;
        stk_text_json(&piece, s);
        ok = put(in, piece.text, piece.n);
        s = (struct stk_str){s.p + piece.taken, s.n - piece.taken};
    }
    return ok && put(in, "\"", 1);
}

static bool put_value(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_note *note,
                      int depth);

static bool put_nested(struct stk_pf *in, const struct stk_pf_seq *s,
                       const struct stk_pf_note *note, int depth)
{
    bool is_dict = note->type == STK_PF_DICT, ok = put(in, is_dict ? "{" : "[", 1), comma = false;
    struct stk_pb_cursor c = {note->p, note->p + note->n};
    struct stk_pb_field f;
    while (ok && stk_pb_next(&c, &f) == STK_PB_FIELD) {
        struct stk_pf_note inner;
        if (f.wire != STK_PB_LEN || f.number != (is_dict ? NOTE_DICT : NOTE_LIST)) {
            continue;
        }
        stk_pf_note_read(in, s, f.data, (size_t)f.value, &inner);
        ok = (!comma || put(in, ", ", 2)) &&
             (!is_dict || (put_text(in, inner.name) && put(in, ": ", 2))) &&
             put_value(in, s, &inner, depth + 1);
        comma = true;
    }
    return ok && put(in, is_dict ? "}" : "]", 1);
}

static bool put_value(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_note *note,
                      int depth)
{
    char text[STK_TEXT_NUMBER_MAX];
    size_t n = 0;
    switch (note->type) {
    case STK_PF_INT:
        return put(in, text, stk_text_put_i64(text, note->number));
    case STK_PF_REAL:
        n = stk_text_put_real(text, note->real);
        return n ? put(in, text, n) : put(in, "null", 4);
    case STK_PF_TEXT:
        return put_text(in, note->text);
    case STK_PF_LIST:
    case STK_PF_DICT:
        return depth < DEPTH_MAX ? put_nested(in, s, note, depth) : put(in, "null", 4);
    default:
        return put(in, "null", 4);
    }
}

void stk_pf_json_begin(struct stk_pf *in, size_t event_bytes)
{
    in->json_len = 0;
    in->json_most = SIZE_MAX / 4;
    put(in, "{", 1);
    in->json_most = in->ctx ? NOTE_BYTES_FREE + NOTE_BYTES_FACTOR * event_bytes : ALONE_BYTES_MAX;
}

void stk_pf_json_note(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_str key,
                      const struct stk_pf_note *note)
{
    size_t before = in->json_len;
    bool ok = (before <= 1 || put(in, ", ", 2)) && put_text(in, key) && put(in, ": ", 2) &&
              put_value(in, s, note, 0);
    if (!ok) {
        in->json_len = before;
    }
}

void stk_pf_json_end(struct stk_pf *in, struct stk_chrome_raw *r)
{
    in->json_most = SIZE_MAX / 4;
    if (in->json_len > 1 && put(in, "}", 1)) {
        memset(in->json + in->json_len, ' ', STK_PF_PAD);
        r->args = (struct stk_str){in->json, in->json_len};
    }
}

void stk_pf_notes(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor event,
                  struct stk_chrome_raw *r)
{
    struct stk_pb_field f;
    bool wants = in->wants_json;
    if (wants) {
        stk_pf_json_begin(in, (size_t)(event.end - event.p));
    }
    while (stk_pb_next(&event, &f) == STK_PB_FIELD) {
        struct stk_pf_note note;
        if (f.number != 4 || f.wire != STK_PB_LEN) {
            continue;
        }
        if (!stk_pf_note_read(in, s, f.data, (size_t)f.value, &note)) {
            r->flags |= STK_CHROME_BAD_FIELD;
        }
        stk_pf_take_note(&note, r);
        if (wants) {
            stk_pf_json_note(in, s, note.name, &note);
        }
    }
    if (wants) {
        stk_pf_json_end(in, r);
    }
}
