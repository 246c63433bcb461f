// SPDX-License-Identifier: Apache-2.0
// One file gives one trace for every instruction set, number of workers and block size, whether the
// file is sound or damaged.
#include "base/thread.h"
#include "chrome_read.h"

static uint64_t digest_of(const char *text, size_t n, int threads)
{
    struct stoker_err err;
    struct stk_trace *t = chrome_read_bytes(text, n, threads, &err);
    uint64_t h = t ? chrome_digest(t) : (uint64_t)err.code;
    stk_trace_free(t);
    return h;
}

static void check_same(const char *what, const char *text, size_t n, const size_t *blocks)
{
    static const enum stk_chrome_isa isas[] = {STK_CHROME_ISA_PLAIN, STK_CHROME_ISA_AVX2,
                                               STK_CHROME_ISA_AVX512, STK_CHROME_ISA_NEON};
    stk_chrome_use_blocks(64u << 20);
    stk_chrome_scan_use(STK_CHROME_ISA_AUTO);
    const uint64_t want = digest_of(text, n, 1);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!stk_chrome_scan_use(isas[i])) {
            continue;
        }
        CHECK(digest_of(text, n, 1) == want);
    }
    stk_chrome_scan_use(STK_CHROME_ISA_AUTO);
    for (; *blocks; blocks++) {
        for (int threads = 1; threads <= 3; threads++) {
            stk_chrome_use_blocks(*blocks);
            uint64_t got = digest_of(text, n, threads);
            CHECK(got == want);
            if (got != want) {
                fprintf(stderr, "%s: blocks of %zu, %d threads\n", what, *blocks, threads);
            }
        }
    }
    stk_chrome_use_blocks(0);
}

static char *slurp(const char *path, size_t *n)
{
    struct stoker_err err;
    struct stk_stream *s = NULL;
    struct stk_stream_opts opts = {0};
    char *text = malloc(48u << 20);
    *n = 0;
    if (!text || stk_stream_open(&s, path, &opts, &err) != STOKER_OK) {
        abort();
    }
    for (size_t got = 1; got > 0 && *n < 48u << 20; *n += got) {
        if (stk_stream_read(s, text + *n, (48u << 20) - *n, &got, &err) != STOKER_OK) {
            abort();
        }
    }
    stk_stream_close(s);
    return text;
}

static uint64_t seed = 88172645463325252u;
static uint64_t random_below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

// Overwrite, here and there, with bytes that matter to JSON.
static void damage(char *text, size_t n, int places)
{
    static const char bytes[] = "\"\"\"{}[],:\\ \n\0x1eN";
    while (places-- > 0) {
        text[random_below(n)] = bytes[random_below(sizeof bytes - 1)];
    }
}

static void check_file(const char *dir, const char *name, const size_t *blocks, int rounds)
{
    char path[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/kineto/%s", dir, name);
    char *text = slurp(path, &n);
    check_same(name, text, n, blocks);
    char *sound = malloc(n);
    if (!sound) {
        abort();
    }
    memcpy(sound, text, n);
    for (int round = 0; round < CHECK_ROUNDS(rounds); round++) {
        memcpy(text, sound, n);
        damage(text, n, 1 + round * 3 % 40);
        check_same(name, text, n, blocks);
    }
    free(sound);
    free(text);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    static const size_t tiny[] = {1, 7, 64, 1000, 4096, 65536, 0};
    static const size_t large[] = {50000, 1u << 20, 0};
    const char *dir = check_fixtures();
    if (dir) {
        CHECK_RUN(check_file, dir, "kineto/before_fix_trace.json", tiny, 30);
        CHECK_RUN(check_file, dir, "HolisticTraceAnalysis/event_sync_trace.json.gz", tiny, 30);
        CHECK_RUN(check_file, dir, "HPCTrainingExamples/merged_nccl_only.json.gz", tiny + 2, 8);
        CHECK_RUN(check_file, dir, "TraceLens/sglang_Qwen3-8B_decode.json.gz", tiny + 3, 4);
        CHECK_RUN(check_file, dir, "TraceLens/h100_Falconsai_nsfw.json.gz", large, 2);
        CHECK_RUN(check_file, dir, "HolisticTraceAnalysis/nccl_data.json.gz", large, 2);
    }
    return check_done("unit.chrome_same");
}
