// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of stoker_inspect, which is `stoker data inspect`: what a file of training data
// holds. The first byte chooses: the rest is the file; or its records, each behind its length in
// two bytes, written with good checksums, plain or compressed; or one Example made of choices, some
// of its bytes changed. What was written well is counted, and nothing of it is damaged.
#include "fuzz_records.h"

#include "stoker/data.h"

enum { EXAMPLES_MAX = 1 << 16, FEATURES = 6, VALUES = 8 };

static void check_features(const struct stoker_inspection *x)
{
    const struct stoker_data_feature *f;
    for (size_t i = 0; (f = stoker_inspection_feature(x, i)) != NULL; i++) {
        FUZZ_REQUIRE(f->name && f->type >= 0 && f->type <= STOKER_FEATURE_INT64);
        FUZZ_REQUIRE(f->records == 0 || f->values_min <= f->values_max);
        FUZZ_REQUIRE(f->records == 0 || f->type > 0);
    }
}

static void check_specs(const struct stoker_specs *specs)
{
    for (int k = 0; specs && k < stoker_specs_count(specs); k++) {
        struct stoker_spec s;
        stoker_specs_get(specs, k, &s);
        FUZZ_REQUIRE(stoker_dtype_name(s.dtype) && s.rank <= STOKER_RANK_MAX);
        for (int d = 0; d < s.rank; d++) {
            FUZZ_REQUIRE(s.dim[d] >= STOKER_UNKNOWN);
        }
    }
}

// `records`: how many good ones there are; -1: who knows.
static void inspect(const char *path, int64_t records)
{
    struct stoker_inspection *x;
    struct stoker_err err;
    enum stoker_status status = stoker_inspect(path, NULL, NULL, &x, &err);
    if (status != STOKER_OK) {
        FUZZ_REQUIRE(!x && err.message[0] && records <= 0);
        return;
    }
    const struct stoker_data_summary *s = stoker_inspection_summary(x);
    FUZZ_REQUIRE(s->format && s->compression && (s->damaged > 0) == (s->first_damage[0] != 0));
    FUZZ_REQUIRE(s->record_min <= s->record_max && s->examples <= s->records);
    FUZZ_REQUIRE(records < 0 || (s->damaged == 0 && s->records == (uint64_t)records));
    check_features(x);
    check_specs(stoker_inspection_specs(x));
    stoker_inspection_free(x);
}

// An Example (or SequenceExample) of choices behind its length; its size, 0: there is no room.
static size_t put_example(uint8_t *out, struct fuzz_choices *c)
{
    static const char *const names[] = {"id", "x", "tags", "id", "", "a/b"};
    struct stoker_feature features[FEATURES];
    struct stoker_bytes strings[FEATURES][VALUES], bytes;
    int64_t whole[VALUES];
    float real[VALUES];
    size_t n = fuzz_choose(c, FEATURES), steps[] = {1, 0, 2};
    int is_sequence = fuzz_choose(c, 4) == 1;
    for (size_t i = 0; i < VALUES; i++) {
        whole[i] = fuzz_number(c);
        real[i] = (float)whole[i];
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t type = fuzz_choose(c, 4);
        struct stoker_feature *f = &features[i];
        *f = (struct stoker_feature){.name = names[i], .dtype = -1};
        f->is_list = is_sequence && fuzz_choose(c, 2);
        f->count = type == 3 ? 0 : f->is_list ? 3 : fuzz_choose(c, VALUES);
        f->steps = steps;
        f->step_count = f->is_list && type < 3 ? 3 : 0;
        for (size_t k = 0; type == 0 && k < f->count; k++) {
            strings[i][k].data = fuzz_bytes(c, 20, &strings[i][k].size);
        }
        f->dtype = type == 0   ? STOKER_STRING
                   : type == 1 ? STOKER_FLOAT32
                   : type == 2 ? STOKER_INT64
                               : -1;
        f->values = type == 0 ? (void *)strings[i] : type == 1 ? (void *)real : whole;
    }
    if (stoker_example_encode(features, n, is_sequence, &bytes, NULL) != STOKER_OK) {
        return 0;
    }
    size_t size = bytes.size < 0xffff ? bytes.size : 0;
    out[0] = (uint8_t)size;
    out[1] = (uint8_t)(size >> 8);
    memcpy(out + 2, bytes.data, size);
    for (uint32_t changes = fuzz_choose(c, 3); size && changes > 0; changes--) {
        out[2 + fuzz_choose(c, (uint32_t)size)] = fuzz_byte(c);
    }
    stoker_bytes_free(&bytes);
    return 2 + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t made[EXAMPLES_MAX + 2];
    struct fuzz_choices c = {data, size};
    uint8_t how = fuzz_byte(&c);
    enum stk_record_codec codec = how % 8 == 7 ? (enum stk_record_codec)(1 + how / 8 % 2) : 0;
    uint64_t records;
    if (how % 4 == 0) {
        inspect(fuzz_put(FUZZ_INPUT, c.p, c.left), -1);
    } else if (how % 4 == 1) {
        const char *path = fuzz_put_records(codec, c.p, c.left, &records);
        inspect(path, (int64_t)records);
    } else {
        size_t used = 0;
        for (uint32_t count = 1 + fuzz_choose(&c, 4); count > 0; count--) {
            used += put_example(made + used, &c);
        }
        const char *path = fuzz_put_records(codec, made, used, &records);
        inspect(path, (int64_t)records);
    }
    return 0;
}

// Each file as it is.
static void each(uint8_t *bytes, size_t n)
{
    for (int how = 0; how < 8; how++) {
        bytes[-1] = (uint8_t)how;
        LLVMFuzzerTestOneInput(bytes - 1, n + 1);
    }
}

FUZZ_MAIN(each, 500)
