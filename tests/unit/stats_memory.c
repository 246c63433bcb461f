// SPDX-License-Identifier: Apache-2.0
// stoker stats memory: allocator events of every format, from the file to the tables.
#include "answer_files.h"

// Two steps of PyTorch: 100 B before the profile, 400 B of aten::mm live at the peak, of which
// aten::empty got the memory.
static const char kineto[] =
    "{\"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":100,"
    "\"args\":{\"device\":0,\"stream\":7}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"pid\":1,\"tid\":1,"
    "\"ts\":0,\"dur\":100},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":10,"
    "\"dur\":50},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::empty\",\"pid\":1,\"tid\":1,\"ts\":15,"
    "\"dur\":20},"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,"
    "\"tid\":1,\"ts\":20,\"args\":{\"Total Reserved\":4096,\"Total Allocated\":400,\"Bytes\":300,"
    "\"Addr\":18446744073709551000,\"Device Id\":0,\"Device Type\":1}},"
    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":30,\"args\":{"
    "\"Total Reserved\":4096,\"Total Allocated\":500,\"Bytes\":100,\"Addr\":8,\"Device Id\":0,"
    "\"Device Type\":1}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":1,\"tid\":1,\"ts\":70,"
    "\"dur\":20},"
    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":75,\"args\":{"
    "\"Total Reserved\":4096,\"Total Allocated\":400,\"Bytes\":-100,\"Addr\":8,\"Device Id\":0,"
    "\"Device Type\":1}},"
    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":80,\"args\":{"
    "\"Total Allocated\":16,\"Bytes\":16,\"Addr\":9,\"Device Id\":-1,\"Device Type\":0}}"
    "], \"deviceProperties\": [{\"id\":0,\"name\":\"x\",\"totalGlobalMem\":1000}]}";

static void test_kineto(void)
{
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_memory, kineto);
    answer_analyse(&a, &stk_stats_memory);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_STR(answer_cell(&a, 0, "op")->text, "aten::mm");
    CHECK_STR(answer_cell(&a, 0, "device")->text, "0/0");
    CHECK_EQ(NUMBER(&a, 0, "bytes"), 400);
    CHECK_EQ(NUMBER(&a, 0, "blocks"), 2);
    CHECK_EQ(PERCENT(answer_cell(&a, 0, "peak_share")), 80);
    CHECK_STR(answer_cell(&a, 1, "op")->text, "(before the profile)");
    CHECK_EQ(NUMBER(&a, 1, "bytes"), 100);
    CHECK_STR(answer_cell(&a, 2, "op")->text, "aten::add");
    CHECK_STR(answer_cell(&a, 2, "device")->text, "0/host");
    CHECK_EQ(answer_figure(&a, "peak_bytes")->number, 500);
    CHECK_EQ(PERCENT(answer_figure(&a, "capacity_share")), 50);
    CHECK_EQ(answer_figure(&a, "reserved_bytes")->number, 4096);
    CHECK(!answer_figure(&a, "fragmentation_share")->known);
    CHECK_EQ(answer_figure(&a, "allocations")->number, 3);
    CHECK_EQ(a.doc.tables[2].row_count, 4);
    CHECK_EQ(answer_cell_in(&a, 2, 1, "bytes")->number, 500);
    CHECK_EQ(answer_cell_in(&a, 2, 2, "bytes")->number, 400);
    CHECK_EQ(a.doc.tables[3].row_count,
             7); // what lives at each of these times, and 100 B of before
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_STR(answer_cell_in(&a, 3, 2 * i, "op")->text, "aten::mm");
        CHECK_EQ(answer_cell_in(&a, 3, 2 * i, "bytes")->number, i == 1 ? 400 : 300);
        CHECK_EQ(answer_cell_in(&a, 3, 2 * i, "blocks")->number, i == 1 ? 2 : 1);
        CHECK_EQ(answer_cell_in(&a, 3, 2 * i, "t_ns")->number,
                 answer_cell_in(&a, 2, i, "t_ns")->number);
        CHECK_STR(answer_cell_in(&a, 3, 2 * i + 1, "op")->text, "(before the profile)");
        CHECK_EQ(answer_cell_in(&a, 3, 2 * i + 1, "bytes")->number, 100);
    }
    CHECK_STR(answer_cell_in(&a, 3, 6, "op")->text, "aten::add");
    CHECK(!a.doc.inconclusive);
    CHECK_EQ(a.doc.missing_count, 1);
    answer_end(&a);
}

// Without sizes and addresses: levels are relative, and raised to be no less than 0.
static void test_changes_only(void)
{
    static const char text[] =
        "{\"traceEvents\": ["
        "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9},"
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,"
        "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Bytes\":-50}},"
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":2,"
        "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Bytes\":80}}]}";
    struct answer a;
    answer_begin(&a);
    answer_read_text(&a, &stk_stats_memory, text);
    answer_analyse(&a, &stk_stats_memory);
    CHECK_EQ(answer_figure(&a, "peak_bytes")->number, 80);
    CHECK_EQ(answer_cell_in(&a, 2, 0, "bytes")->number, 0);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK(!answer_cell(&a, 0, "op")->known);
    CHECK_EQ(a.doc.missing_count, 3); // what was before, what was live, fragmentation
    answer_end(&a);
}

enum { M_ALLOC = 1, M_FREE, M_KERNEL };
enum { S_NAME = 1, S_TOTAL, S_FREE, S_FRAGMENTATION, S_SIZE, S_ADDR, S_OP, S_STACK };

static void bfc_event(struct pb *line, int64_t meta, int64_t t_us, int64_t addr, int64_t size,
                      int64_t total, int64_t stack, const char *op, double fragmentation)
{
    struct pb e = pb_event(meta, t_us * 1000000, 0), s = {0};
    pb_stat_str(&e, 4, S_NAME, "GPU_0_bfc");
    pb_stat_int(&e, 4, S_TOTAL, 4, total);
    pb_stat_int(&e, 4, S_FREE, 4, 1000 - total);
    pb_stat_int(&e, 4, S_STACK, 4, stack);
    pb_stat_int(&e, 4, S_ADDR, 3, addr);
    if (size) {
        pb_stat_int(&e, 4, S_SIZE, 4, size);
    }
    if (op) {
        pb_stat_str(&e, 4, S_OP, op);
    }
    pb_int(&s, 1, S_FRAGMENTATION);
    pb_double(&s, 2, fragmentation);
    pb_msg(&e, 4, &s);
    pb_msg(line, 4, &e);
}

static void test_bfc(void)
{
    static const char *const stats[] = {[S_NAME] = "allocator_name",
                                        [S_TOTAL] = "bytes_allocated",
                                        [S_FREE] = "bytes_available",
                                        [S_FRAGMENTATION] = "fragmentation",
                                        [S_SIZE] = "allocation_bytes",
                                        [S_ADDR] = "addr",
                                        [S_OP] = "tf_op",
                                        [S_STACK] = "bytes_reserved"};
    struct pb space = {0}, host = pb_plane("/host:CPU"), line = pb_line(1, "python", 1000);
    pb_named(&host, 4, M_ALLOC, "MemoryAllocation");
    pb_named(&host, 4, M_FREE, "MemoryDeallocation");
    for (int64_t i = S_NAME; i <= S_STACK; i++) {
        pb_named(&host, 5, i, stats[i]);
    }
    bfc_event(&line, M_ALLOC, 1, 64, 200, 200, 0, "conv", 0.1);
    bfc_event(&line, M_ALLOC, 2, 4096, 300, 500, 100, "dense", 0.25);
    bfc_event(&line, M_FREE, 3, 64, 0, 300, 100, NULL, 0.5); // as TPUs write it: without a size
    pb_msg(&host, 3, &line);
    pb_msg(&space, 1, &host);
    struct answer a;
    answer_begin(&a);
    answer_read_space(&a, &stk_stats_memory, &space);
    answer_analyse(&a, &stk_stats_memory);
    CHECK_EQ(answer_figure(&a, "peak_bytes")->number, 600);
    CHECK_EQ(PERCENT(answer_figure(&a, "fragmentation_share")), 25);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_STR(answer_cell(&a, 0, "op")->text, "dense");
    CHECK_STR(answer_cell(&a, 0, "allocator")->text, "GPU_0_bfc");
    CHECK_STR(answer_cell(&a, 1, "op")->text, "conv");
    CHECK_STR(answer_cell(&a, 2, "op")->text, "(held by the program)");
    CHECK_EQ(NUMBER(&a, 2, "bytes"), 100);
    CHECK_EQ(answer_cell_in(&a, 2, 2, "bytes")->number, 400);
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

static void test_nsys(void)
{
    static const char rows[] =
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER, "
        "deviceId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, "
        "memoryOperationType INTEGER);"
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, 16777216, 1, 64, 500, 2, 0),"
        "(20, 16777216, 1, 128, 100, 2, 0), (30, 16777216, 1, 64, 500, 2, 1),"
        "(40, 16777216, 1, 256, 70, 1, 0);";
    struct answer a;
    answer_begin(&a);
    answer_read_rows(&a, &stk_stats_memory, rows);
    answer_analyse(&a, &stk_stats_memory);
    CHECK_EQ(answer_figure(&a, "peak_bytes")->number, 600);
    CHECK_EQ(a.doc.tables[0].row_count, 2);
    CHECK_STR(answer_cell(&a, 0, "device")->text, "0/1");
    CHECK_STR(answer_cell(&a, 0, "allocator")->text, "device");
    CHECK_EQ(NUMBER(&a, 0, "blocks"), 2);
    CHECK_STR(answer_cell(&a, 1, "device")->text, "0/host");
    CHECK_STR(answer_cell(&a, 1, "allocator")->text, "pinned");
    answer_end(&a);
}

// Per step what is allocated, and what stays: 10 B more each time.
static void test_steps(void)
{
    struct answer a;
    answer_begin(&a);
    struct stk_track_key key = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = MAIN};
    int64_t total = 0;
    for (int64_t i = 0; i < 5; i++) {
        synth_step(&a.s, MAIN, (double)i * 1000, 900, i);
        synth_launch(&a.s, MAIN, (double)i * 1000 + 10, 4, "k", (double)i * 1000 + 20, 800, S0);
        for (int k = 0; k < 2; k++) {
            int64_t bytes = k == 0 ? 110 : -100;
            total += bytes;
            struct stk_detail details[] = {{.key = STK_DETAIL_DEVICE, .number = 0},
                                           {.key = STK_DETAIL_TOTAL, .number = total},
                                           {.key = STK_DETAIL_ADDRESS, .number = i * 2 + k}};
            struct stk_row row = {.start_ns = (i * 1000 + 100 + k * 100) * US,
                                  .name = stk_shard_intern(a.s.shard, "[memory]", 8),
                                  .track = stk_shard_track(a.s.shard, &key),
                                  .kind = STK_KIND_MEMORY};
            struct stk_row_ext ext = {
                .value = bytes, .flags = STK_EXT_VALUE, .dst_mem = STK_MEM_DEVICE};
            stk_shard_add_detailed(a.s.shard, &row, &ext, details, 3);
        }
    }
    answer_analyse(&a, &stk_stats_memory);
    CHECK(a.doc.tables[1].row_count >= 3);
    for (size_t i = 0; i < a.doc.tables[1].row_count; i++) {
        int64_t step = answer_cell_in(&a, 1, i, "step")->number;
        CHECK_EQ(answer_cell_in(&a, 1, i, "allocations")->number, 1);
        CHECK_EQ(answer_cell_in(&a, 1, i, "allocated_bytes")->number, 110);
        CHECK_EQ(answer_cell_in(&a, 1, i, "freed_bytes")->number, 100);
        CHECK_EQ(answer_cell_in(&a, 1, i, "peak_bytes")->number, step * 10 + 110);
        CHECK_EQ(answer_cell_in(&a, 1, i, "end_bytes")->number, step * 10 + 10);
    }
    CHECK_EQ(answer_figure(&a, "growth_per_step_bytes")->number, 10);
    CHECK_EQ(answer_figure(&a, "allocations_per_step")->number, 1);
    answer_end(&a);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// Random events, hostile sizes among them: what is live never exceeds the peak, nothing is below 0.
static void test_random(void)
{
    uint64_t random = 7;
    for (int round = 0; round < 200; round++) {
        struct answer a;
        answer_begin(&a);
        struct stk_track_key key = {.kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = 1};
        bool absolute = round % 2, wild = round % 5 == 0;
        for (int i = 0; i < 60; i++) {
            uint64_t r = next_random(&random);
            int64_t bytes = (int64_t)(r % 1000) - 400;
            if (wild && i % 7 == 0) {
                bytes = r % 2 ? INT64_MAX : INT64_MIN;
            }
            struct stk_detail details[] = {
                {.key = STK_DETAIL_DEVICE, .number = (int64_t)(r % 3) - 1},
                {.key = STK_DETAIL_ADDRESS, .number = (int64_t)(r / 3 % 8)},
                {.key = STK_DETAIL_TOTAL, .number = wild ? bytes : (int64_t)(r % 5000)}};
            struct stk_row row = {.start_ns = (int64_t)next_random(&random) % 5000,
                                  .name = stk_shard_intern(a.s.shard, "[memory]", 8),
                                  .track = stk_shard_track(a.s.shard, &key),
                                  .kind = STK_KIND_MEMORY};
            struct stk_row_ext ext = {.value = bytes, .flags = STK_EXT_VALUE};
            stk_shard_add_detailed(a.s.shard, &row, &ext, details, absolute ? 3 : 2);
        }
        answer_analyse(&a, &stk_stats_memory);
        const struct stk_table *peak = &a.doc.tables[0], *timeline = &a.doc.tables[2];
        for (size_t i = 0; i < peak->row_count; i++) {
            CHECK(NUMBER(&a, i, "bytes") >= 0);
            const struct stk_cell *share = answer_cell(&a, i, "peak_share");
            CHECK(!share->known || (share->ratio >= 0 && share->ratio <= 1));
        }
        int64_t most = 0;
        for (size_t i = 0; i < timeline->row_count; i++) {
            int64_t bytes = answer_cell_in(&a, 2, i, "bytes")->number;
            CHECK(bytes >= 0);
            if (strcmp(answer_cell_in(&a, 2, i, "device")->text, "0/host") != 0 && bytes > most) {
                most = bytes;
            }
        }
        CHECK_EQ(answer_figure(&a, "peak_bytes")->number, most);
        for (size_t i = 0; i < a.doc.tables[3].row_count; i++) {
            CHECK(answer_cell_in(&a, 3, i, "bytes")->number >= 0);
            const struct stk_cell *blocks = answer_cell_in(&a, 3, i, "blocks");
            CHECK(!blocks->known || blocks->number > 0);
        }
        answer_end(&a);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_kineto);
    CHECK_RUN(test_changes_only);
    CHECK_RUN(test_bfc);
    CHECK_RUN(test_nsys);
    CHECK_RUN(test_steps);
    CHECK_RUN(test_random);
    return check_done("unit.stats_memory");
}
