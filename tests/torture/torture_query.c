// SPDX-License-Identifier: Apache-2.0
// Every allocation of queries and searches fails once, on a few small profiles: the n-th alone,
// then the n-th and all after it. Nothing may crash or leak (address sanitizer), and any answer
// must be right.
#include "base/alloc.h"
#include "inputs.h"
#include "stoker/query.h"

#define MAX_ALLOCATIONS 150
#define PROFILES 5

static const char *const statements[] = {
    "select name, count(*), sum(dur_ns), max(end_ns) from events group by name, step",
    "select kind, count(distinct name) from events where name like '%a%' group by kind, name",
    "select * from events where end_ns > 5 and parent is not null order by dur_ns limit 5",
    "select e.name, k.name from kernels k join events e on e.id = k.launch",
    "select a.* from events e join args a on a.event = e.id limit 20",
    "select * from tracks, devices, ranks, steps limit 10",
    "select * from gaps",
    "select dur_ns / 1000, sum(dur_ns * 1.0), count(distinct name), min(name) from events group by "
    "1",
    "select name, dur_ns from events where name like '%a%' and dur_ns % 2 = 0 order by name, "
    "dur_ns "
    "desc limit 5",
    "select distinct substr(name, 1, 3), case when dur_ns > 9 then kind end from events",
    "select name regexp 'a+' from events",
    "select nmae from events",
};

static uint64_t opened_at; // allocations until the profile was open

struct text {
    unsigned hash;
    size_t n;
};
static int take(void *arg, const char *bytes, size_t n)
{
    struct text *t = arg;
    for (size_t i = 0; i < n; i++) {
        t->hash = t->hash * 31 + (unsigned char)bytes[i];
    }
    t->n += n;
    return 0;
}

static enum stoker_status answer(const char *path, size_t what, struct text *out)
{
    struct stoker_why_options options;
    struct stoker_profiles *p = NULL;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    memset(out, 0, sizeof *out);
    stoker_why_options_default(&options);
    options.threads = 1;
    options.redact = what & 1;
    enum stoker_status status = stoker_open(&path, 1, &options, &p, &err);
    opened_at = stk_alloc_count();
    if (status == STOKER_OK) {
        status = what < sizeof statements / sizeof statements[0]
                     ? stoker_query(p, statements[what], NULL, &tables, &err)
                     : stoker_find(p, "/a|e/", NULL, &tables, &err);
    }
    CHECK((status == STOKER_OK) == (tables != NULL));
    if (tables) {
        CHECK(stoker_tables_write(tables, "csv", NULL, NULL, take, out, &err) == STOKER_OK);
    }
    CHECK(tables || err.message[0]);
    stoker_tables_free(tables);
    stoker_close(p);
    return status;
}

static void fail_each(const struct torture_input *in, size_t what, int sticky)
{
    struct text want, got;
    const char *path = torture_write(in->bytes, in->size);
    uint64_t before = stk_alloc_count();
    enum stoker_status status = answer(path, what, &want);
    uint64_t needed = stk_alloc_count() - before, reading = opened_at - before;
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    for (uint64_t n = 1 + what % step; n <= needed; n += step) {
        stk_alloc_fail_at(n, sticky);
        enum stoker_status now = answer(path, what, &got);
        stk_alloc_fail_at(0, 0);
        CHECK(now == status || now == STOKER_ENOMEM || now == STOKER_ELIMIT);
        // While reading, a reader may leave out what it could not keep.
        if (now == STOKER_OK && n > reading) {
            CHECK(got.hash == want.hash && got.n == want.n);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t count;
    struct torture_input *inputs = torture_inputs(&count);
    size_t step = count / PROFILES + 1;
    for (size_t what = 0; what <= sizeof statements / sizeof statements[0]; what++) {
        for (size_t i = what % step; i < count; i += step) {
            CHECK_RUN(fail_each, &inputs[i], what, 0);
            CHECK_RUN(fail_each, &inputs[i], what, 1);
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(inputs[i].bytes);
    }
    free(inputs);
    return check_done("torture.torture_query");
}
