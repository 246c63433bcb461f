// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of operations on strings, through include/stoker/data.h. The first byte chooses:
// base64 (decoded, and what was encoded decodes to the same), compressed data (zlib, gzip), or a
// regular expression: hostile patterns with hostile texts, which may take long, or want much
// memory, but not for ever. With FUZZ_REPLAY a program that runs the files given.
//
// A regular expression: byte 1 length of the pattern, byte 2 length of the rewrite, byte 3 flags;
// then pattern, rewrite and text.
#include "fuzz.h"

#include "stoker/data.h"

// What is searched and unpacked is kept small, so that thousands of inputs are tried a second: a
// text of 16 bytes makes a pattern take a million steps, not ten. Files that are replayed may reach
// the limits.
#ifdef FUZZ_REPLAY
enum { TEXT_MAX = 48, PACKED_MAX = 1 << 20 };
#else
enum { TEXT_MAX = 16, PACKED_MAX = 1 << 10 };
#endif
enum { RESULT_MAX = 1 << 20 };

// The operation on one string; 1: it gave *out, which is to be released.
static int call(const char *op, struct stoker_bytes in, struct stoker_args *args,
                struct stoker_tensor *out)
{
    struct stoker_tensor t = {.dtype = STOKER_STRING, .data = &in};
    struct stoker_err err;
    int n = 1;
    enum stoker_status s = stoker_op_call(op, &t, 1, args, 1, out, &n, &err);
    if (s != STOKER_OK && !err.message[0]) {
        abort(); // nobody says why
    }
    stoker_args_free(args);
    return s == STOKER_OK;
}

static struct stoker_args *with_text(const char *name, const char *text)
{
    struct stoker_args *a = stoker_args_new();
    if (a) {
        stoker_args_text(a, name, text, strlen(text));
    }
    return a;
}

static struct stoker_bytes bytes_of(const struct stoker_tensor *t)
{
    return *(const struct stoker_bytes *)t->data;
}

static void base64(struct stoker_bytes in, int pads)
{
    struct stoker_tensor out, back;
    if (call("decode_base64", in, stoker_args_new(), &out)) {
        if (bytes_of(&out).size > in.size) {
            abort();
        }
        stoker_tensor_release(&out);
    }
    struct stoker_args *a = stoker_args_new();
    stoker_args_int(a, "pad", pads);
    if (!call("encode_base64", in, a, &out) ||
        !call("decode_base64", bytes_of(&out), stoker_args_new(), &back) ||
        bytes_of(&back).size != in.size ||
        (in.size && memcmp(bytes_of(&back).data, in.data, in.size) != 0)) {
        abort();
    }
    stoker_tensor_release(&out);
    stoker_tensor_release(&back);
}

static void unpack(struct stoker_bytes in, const char *codec)
{
    struct stoker_tensor out;
    in.size = in.size < PACKED_MAX ? in.size : PACKED_MAX;
    if (call("decode_compressed", in, with_text("compression_type", codec), &out)) {
        volatile unsigned char last = 0;
        struct stoker_bytes b = bytes_of(&out);
        last = b.size ? b.data[b.size - 1] : last;
        stoker_tensor_release(&out);
    }
}

static void regex(const uint8_t *data, size_t size)
{
    if (size < 3) {
        return;
    }
    size_t pattern = data[0], rewrite = data[1];
    int flags = data[2];
    data += 3;
    size -= 3;
    pattern = pattern < size ? pattern : size;
    rewrite = rewrite < size - pattern ? rewrite : size - pattern;
    struct stoker_bytes in = {data + pattern + rewrite, size - pattern - rewrite};
    in.size = in.size < TEXT_MAX ? in.size : TEXT_MAX;
    struct stoker_tensor out;
    struct stoker_args *a = stoker_args_new();
    stoker_args_text(a, "pattern", (const char *)data, pattern);
    if (flags & 1) {
        stoker_args_text(a, "rewrite", (const char *)data + pattern, rewrite);
        stoker_args_int(a, "replace_global", flags >> 1 & 1);
    }
    if (!call(flags & 1 ? "string_regex_replace" : "string_regex_full_match", in, a, &out)) {
        return;
    }
    if (flags & 1 && bytes_of(&out).size > RESULT_MAX) {
        abort();
    }
    stoker_tensor_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    struct stoker_bytes rest = {data + 1, size - 1};
    switch (data[0] % 5) {
    case 0:
        base64(rest, data[0] >> 7);
        break;
    case 1:
        unpack(rest, "ZLIB");
        break;
    case 2:
        unpack(rest, "GZIP");
        break;
    default:
        regex(data + 1, size - 1);
    }
    return 0;
}

FUZZ_MAIN(fuzz_once, 0)
