// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what the engine reads besides records and images. The first byte chooses: an
// indexed file (also that of caches and snapshots), read in order and by position, as it is or with
// the checksums made right, so that what is behind them is reached; text lines, plain and
// compressed; fixed-length records; the state of an iterator.
#include "fuzz.h"

#include "engine/graph/dataset.h"
#include "base/crc32c.h"
#include "engine/formats/indexed_impl.h"
#include "stoker/data.h"

static const char *path;

static void mend_crc(uint8_t *data, uint32_t crc, size_t from, size_t n)
{
    uint64_t masked = stk_crc32c_mask(stk_crc32c(crc, data + from, n));
    memcpy(data + from + n, &masked, sizeof masked);
}

// As far as the index leads to places in the file.
static void mend_checksums(uint8_t *data, size_t size)
{
    struct stk_indexed_trailer t;
    uint64_t components;
    if (size < 16 + sizeof t) {
        return;
    }
    memcpy(&t, data + size - sizeof t, sizeof t);
    memcpy(&components, data + 8, sizeof components);
    uint64_t end = size - sizeof t;
    if (components > 64 || STK_INDEXED_HEADER(components) > size || t.index > end ||
        t.count > size / 8 || t.index + (t.count + 1) * 8 + 8 > end) {
        return;
    }
    for (uint64_t k = 0; k < t.count; k++) {
        uint64_t two[2];
        memcpy(two, data + t.index + 8 * k, sizeof two);
        if (two[0] <= two[1] && two[1] <= t.index && two[1] - two[0] >= 8) {
            mend_crc(data, 0, two[0], two[1] - two[0] - 8);
        }
    }
    mend_crc(data, stk_crc32c(0, data, STK_INDEXED_HEADER(components)), t.index, (t.count + 1) * 8);
}

static volatile unsigned touched; // so that the sum is made
// Touches all bytes of a value.
static void touch(const struct stoker_tensor *t)
{
    unsigned sum = 0;
    size_t count = 1;
    for (int k = 0; k < t->rank; k++) {
        count *= (size_t)t->dim[k];
    }
    if (t->dtype == STOKER_STRING) {
        const struct stoker_bytes *s = t->data;
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < s[i].size; k++) {
                sum += s[i].data[k];
            }
        }
    } else {
        for (size_t i = 0; i < count * stoker_dtype_bytes(t->dtype); i++) {
            sum += ((const uint8_t *)t->data)[i];
        }
    }
    touched = sum;
}

static struct stoker_dataset *make(const char *kind, struct stoker_dataset *in, const char *name,
                                   int64_t value, const char *codec)
{
    struct stoker_err err;
    struct stoker_dataset *ds = NULL;
    struct stoker_args *a = stoker_args_new();
    struct stoker_bytes file = {(const unsigned char *)path, strlen(path)};
    bool ok = a && (in || stoker_args_texts(a, "filenames", &file, 1)) &&
              (!name || stoker_args_int(a, name, value)) &&
              (!codec || stoker_args_text(a, "compression_type", codec, strlen(codec)));
    if (!ok || stoker_dataset_make(kind, in ? &in : NULL, in != NULL, a, NULL, &ds, &err)) {
        ds = NULL;
    }
    stoker_args_free(a);
    stoker_dataset_free(in);
    return ds;
}

static void drain(struct stoker_dataset *ds, const void *state, size_t n)
{
    struct stoker_run_options o = {.has_seed = 1, .threads = 1, .ram_bytes = 32 << 20};
    struct stoker_iterator *it = NULL;
    struct stoker_err err;
    struct stoker_tensor out[64];
    int is_end = 0, count = ds ? stoker_specs_count(stoker_dataset_specs(ds)) : 0;
    enum stoker_status s = STOKER_EINVAL;
    if (ds && count <= 64) {
        s = state ? stoker_iterator_resume(ds, &o, state, n, &it, &err)
                  : stoker_iterator_open(ds, &o, &it, &err);
    }
    for (int i = 0; s == STOKER_OK && i < 5000 && !is_end; i++) {
        bool is_error = stoker_iterator_next(it, out, count, &is_end, &err) != STOKER_OK;
        for (int k = 0; k < count && !is_end && !is_error; k++) {
            touch(&out[k]);
            stoker_tensor_release(&out[k]);
        }
    }
    stoker_iterator_free(it);
    stoker_dataset_free(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codecs[] = {"", "GZIP", "ZLIB"};
    if (size == 0) {
        return 0;
    }
    unsigned how = data[0] % 16;
    uint8_t *copy = malloc(size);
    if (!copy) {
        abort();
    }
    memcpy(copy, data + 1, size - 1);
    if (how < 8 && how & 1) {
        mend_checksums(copy, size - 1);
    }
    path = fuzz_put(FUZZ_INPUT, copy, size - 1);
    if (how < 8) {
        struct stoker_dataset *ds = make("indexed", NULL, NULL, 0, NULL);
        drain(ds && how & 2 ? make("shuffle", ds, "buffer_size", -1, NULL) : ds, NULL, 0);
    } else if (how < 11) {
        drain(make("text_lines", NULL, NULL, 0, codecs[how - 8]), NULL, 0);
    } else if (how < 14) {
        drain(make("fixed_records", NULL, "record_bytes", 1 + data[0] / 16, codecs[how - 11]), NULL,
              0);
    } else {
        drain(make("text_lines", NULL, NULL, 0, NULL), copy, size - 1);
    }
    free(copy);
    return 0;
}

// As it is, behind every first byte; with one byte changed here and there, and cut.
static void each(uint8_t *bytes, size_t n)
{
    for (int how = 0; how < 16; how++) {
        bytes[-1] = (uint8_t)(0x20 | how);
        LLVMFuzzerTestOneInput(bytes - 1, n + 1);
    }
    for (size_t at = 0; at < n; at += 1 + n / 200) {
        uint8_t before = bytes[at];
        bytes[at] ^= (uint8_t)(1u << at % 8);
        for (int how = 0; how < 4; how++) {
            bytes[-1] = (uint8_t)how;
            LLVMFuzzerTestOneInput(bytes - 1, how == 2 ? at + 1 : n + 1);
        }
        bytes[at] = before;
    }
}

FUZZ_MAIN(each, 0)
