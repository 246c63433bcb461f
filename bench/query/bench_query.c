// SPDX-License-Identifier: Apache-2.0
// stoker_bench_query PROFILE REPEATS SQL...: reads the profile once, then times each statement
// separately, the best of REPEATS, and prints one line of JSON: seconds to open, and per statement
// its seconds (elapsed and CPU), rows and a sum over the last column for comparing answers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "stoker/query.h"

// Rows, and the sum of the last field of each line of CSV.
struct answer {
    unsigned long lines;
    double sum;
    char field[64];
    size_t used;
};

static int take(void *arg, const char *bytes, size_t n)
{
    struct answer *a = arg;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            a->field[a->used] = 0;
            a->sum += a->lines++ ? strtod(a->field, NULL) : 0;
            a->used = 0;
        } else if (bytes[i] == ',') {
            a->used = 0;
        } else if (a->used + 1 < sizeof a->field) {
            a->field[a->used++] = bytes[i];
        }
    }
    return 0;
}

static void fail(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_bench_query: %s\n", err->message);
    exit(1);
}

static void measure(struct stoker_profiles *p, const char *sql, int repeats, const char *before)
{
    struct stoker_query_options o;
    struct stoker_err err;
    struct answer a = {.lines = 0};
    double best = 1e9, best_cpu = 1e9;
    stoker_query_options_default(&o);
    o.limit = 0;
    o.timeout_ns = 0;
    for (int i = 0; i < repeats; i++) {
        struct stoker_tables *t;
        double start = stk_clock_seconds(CLOCK_MONOTONIC),
               cpu = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (stoker_query(p, sql, &o, &t, &err) != STOKER_OK) {
            fail(&err);
        }
        double took = stk_clock_seconds(CLOCK_MONOTONIC) - start;
        cpu = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        best = took < best ? took : best;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
        if (i == 0 && stoker_tables_write(t, "csv", NULL, NULL, take, &a, &err) != STOKER_OK) {
            fail(&err);
        }
        stoker_tables_free(t);
    }
    printf("%s{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"rows\": %lu, \"sum\": %.17g}", before,
           best, best_cpu, a.lines - 1, a.sum);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: stoker_bench_query PROFILE REPEATS SQL...\n");
        return 2;
    }
    struct stoker_profiles *p;
    struct stoker_err err;
    struct stoker_why_options o;
    const char *path = argv[1];
    stoker_why_options_default(&o);
    double start = stk_clock_seconds(CLOCK_MONOTONIC);
    if (stoker_open(&path, 1, &o, &p, &err) != STOKER_OK) {
        fail(&err);
    }
    printf("{\"open_seconds\": %.6f, \"queries\": [", stk_clock_seconds(CLOCK_MONOTONIC) - start);
    for (int i = 3; i < argc; i++) {
        measure(p, argv[i], atoi(argv[2]), i > 3 ? ", " : "");
    }
    printf("]}\n");
    stoker_close(p);
    return 0;
}
