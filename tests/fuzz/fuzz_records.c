// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the record layer. The first byte chooses: a TFRecord file (codec, policy,
// block size) whose records are parsed too, or one message parsed as Example and SequenceExample.
// What was parsed and owned must lie within its columns.
#include "fuzz.h"

#include "engine/formats/example.h"

static const int64_t eleven = 11;

static const struct stk_example_feature features[] = {
    {.name = "id",
     .type = STK_EXAMPLE_INT64,
     .elements = 1,
     .defaults = &eleven,
     .default_count = 1},
    {.name = "x", .type = STK_EXAMPLE_FLOAT, .kind = STK_EXAMPLE_RAGGED},
    {.name = "tags", .type = STK_EXAMPLE_BYTES, .kind = STK_EXAMPLE_RAGGED},
    {.name = "big", .type = STK_EXAMPLE_INT64, .kind = STK_EXAMPLE_RAGGED},
    {.name = "frames",
     .type = STK_EXAMPLE_FLOAT,
     .elements = 2,
     .is_list = true,
     .allow_missing = true},
    {.name = "words", .type = STK_EXAMPLE_BYTES, .kind = STK_EXAMPLE_RAGGED, .is_list = true},
};

static struct stk_example_spec *specs[2];
static struct stk_example_parser *parsers[2];
static struct stk_example_batch batches[2];

static void set_up(void)
{
    for (int i = 0; i < 2 && !specs[i]; i++) {
        if (stk_example_compile(&specs[i], features, i ? 6 : 4, NULL) ||
            stk_example_parser_open(&parsers[i], specs[i], (enum stk_example_message)i, NULL) ||
            stk_example_batch_open(&batches[i], specs[i], NULL)) {
            abort();
        }
    }
}

static void check(const struct stk_example_batch *b)
{
    for (size_t i = 0; i < b->column_count; i++) {
        const struct stk_example_column *c = &b->columns[i];
        size_t units = c->is_list ? c->steps : c->count;
        if (c->count > c->capacity || (c->row_splits && (size_t)c->row_splits[b->rows] != units)) {
            abort();
        }
        if (c->step_splits && (size_t)c->step_splits[c->steps] != c->count) {
            abort();
        }
    }
}

static void parse(const struct stk_record *records, size_t count)
{
    for (int i = 0; i < 2; i++) {
        size_t done;
        stk_example_batch_clear(&batches[i]);
        if (stk_example_parse(parsers[i], &batches[i], records, count, true, &done, NULL) ||
            done != count) {
            abort();
        }
        check(&batches[i]);
    }
}

static void read_file(uint8_t how, const uint8_t *data, size_t size)
{
    const char *path = fuzz_put(FUZZ_INPUT, data, size);
    struct stk_record_opts o = {.codec = (enum stk_record_codec)(how % 3),
                                .on_damage = (enum stk_record_policy)(how >> 2 & 1),
                                .skip_data_crc = how & 8,
                                .block_bytes = how & 16 ? 64 : 0,
                                .max_record_bytes = (size_t)1 << 20};
    struct stk_record_reader *r;
    struct stk_record views[16];
    struct stk_buf *block;
    size_t n;
    if (stk_record_open(&r, path, &o, NULL)) {
        abort();
    }
    while (!stk_record_read(r, views, 16, &n, &block, NULL) && n > 0) {
        parse(views, n);
        stk_buf_drop(block);
    }
    const struct stk_record_stats *s = stk_record_stats_of(r);
    if (o.codec == STK_RECORD_PLAIN && o.on_damage == STK_RECORD_SKIP &&
        s->bytes + STK_RECORD_OVERHEAD * s->records + s->lost_bytes != size) {
        abort();
    }
    stk_record_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    set_up();
    if (data[0] & 0x80) {
        read_file(data[0] & 0x7f, data + 1, size - 1);
    } else {
        struct stk_record r = {data + 1, size - 1, 0, 0};
        parse(&r, 1);
    }
    return 0;
}

// As it is, behind every interesting first byte.
static void each(uint8_t *bytes, size_t n)
{
    for (int how = 0; how < 32; how++) {
        bytes[-1] = how ? (uint8_t)(0x80 | how) : 0;
        LLVMFuzzerTestOneInput(bytes - 1, n + 1);
    }
}

static void let_go(void)
{
    for (int i = 0; i < 2; i++) {
        stk_example_batch_close(&batches[i]);
        stk_example_parser_close(parsers[i]);
        stk_example_spec_free(specs[i]);
    }
}

FUZZ_MAIN(each, 0, let_go())
