// SPDX-License-Identifier: Apache-2.0
// A profile of Kineto's format made of choices: threads, streams, launches, copies, steps,
// counters; events that overlap, names of any bytes. 60 events at most.
#ifndef STK_TESTS_FUZZ_PROFILE_H
#define STK_TESTS_FUZZ_PROFILE_H

#include "fuzz.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/err.h"

enum { PROFILE_MAX = 1 << 18, EVENTS_MAX = 60 };

struct profile {
    char text[PROFILE_MAX];
    size_t n;
    int64_t now_ns, corr, step;
};

static void put(struct profile *p, const char *fmt, ...) STK_PRINTF(2, 3);
static void put(struct profile *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(p->text + p->n, PROFILE_MAX - p->n, fmt, ap);
    va_end(ap);
    FUZZ_REQUIRE(n >= 0 && (size_t)n < PROFILE_MAX - p->n);
    p->n += (size_t)n;
}

// A JSON string: a usual name, or bytes of the input.
static void put_name(struct profile *p, struct fuzz_choices *c)
{
    static const char *const names[] = {
        "gemm",       "void relu<float, 4>()", "aten::mul",
        "DataLoader", "cudaStreamSynchronize", "ncclKernel_AllReduce",
        "",           "IteratorGetNext"};
    uint32_t which = fuzz_choose(c, 12);
    size_t n;
    if (which < sizeof names / sizeof names[0]) {
        put(p, "\"%s\"", names[which]);
        return;
    }
    const uint8_t *bytes = fuzz_bytes(c, 40, &n);
    put(p, "\"");
    for (size_t i = 0; i < n; i++) {
        bool is_plain = bytes[i] >= 0x20 && bytes[i] != '"' && bytes[i] != '\\';
        put(p, is_plain ? "%c" : "\\u%04x", bytes[i]);
    }
    put(p, "\"");
}

static int64_t some_ns(struct fuzz_choices *c)
{
    static const int64_t scales[] = {1, 125, 1000, 20000, 1000000};
    return scales[fuzz_choose(c, 5)] * fuzz_byte(c);
}

static void put_time(struct profile *p, const char *key, int64_t ns)
{
    put(p, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

// A complete event; left open for its args.
static void put_event(struct profile *p, const char *cat, int pid, uint32_t tid, int64_t at_ns,
                      int64_t dur_ns, struct fuzz_choices *c)
{
    put(p, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%u", cat, pid, (unsigned)tid);
    put_time(p, "ts", at_ns);
    put_time(p, "dur", dur_ns);
    put(p, ",\"name\":");
    put_name(p, c);
}

static void put_launch(struct profile *p, struct fuzz_choices *c)
{
    static const char *const copies[] = {"HtoD (Pageable -> Device)", "DtoH (Device -> Pinned)",
                                         "DtoD (Device -> Device)"};
    uint32_t thread = 1 + fuzz_choose(c, 3), stream = 7 + fuzz_choose(c, 3);
    p->corr++;
    put(p,
        ",\n{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":5000,"
        "\"tid\":%u",
        (unsigned)thread);
    put_time(p, "ts", p->now_ns);
    put_time(p, "dur", some_ns(c));
    put(p, ",\"args\":{\"correlation\":%" PRId64 "}}", p->corr);
    int64_t start_ns = p->now_ns + some_ns(c), dur_ns = some_ns(c);
    if (fuzz_choose(c, 4) == 1) {
        put(p,
            ",\n{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy %s\",\"pid\":0,\"tid\":%u",
            copies[fuzz_choose(c, 3)], (unsigned)stream);
        put_time(p, "ts", start_ns);
        put_time(p, "dur", dur_ns);
        put(p, ",\"args\":{\"bytes\":%u,", fuzz_choose(c, 1 << 16));
    } else {
        put_event(p, "kernel", 0, stream, start_ns, dur_ns, c);
        put(p, ",\"args\":{");
    }
    put(p, "\"device\":0,\"stream\":%u,\"correlation\":%" PRId64 "}}", (unsigned)stream, p->corr);
}

static void put_any(struct profile *p, struct fuzz_choices *c)
{
    static const char *const cats[] = {"cpu_op",          "python_function", "cuda_runtime",
                                       "user_annotation", "cuda_driver",     "overhead"};
    p->now_ns += some_ns(c);
    switch (fuzz_choose(c, 8)) {
    case 0:
        put(p,
            ",\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%" PRId64
            "\",\"pid\":5000,\"tid\":1",
            p->step++);
        put_time(p, "ts", p->now_ns);
        put_time(p, "dur", 1000 + some_ns(c));
        put(p, "}");
        break;
    case 1:
        put(p, ",\n{\"ph\":\"C\",\"name\":");
        put_name(p, c);
        put_time(p, "ts", p->now_ns);
        put(p, ",\"pid\":5000,\"args\":{\"used\":%u,\"free\":0.5}}", fuzz_choose(c, 1 << 16));
        break;
    case 2:
        put(p, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":");
        put_name(p, c);
        put_time(p, "ts", p->now_ns);
        put(p, ",\"pid\":5000,\"tid\":%u}", 1 + (unsigned)fuzz_choose(c, 3));
        break;
    case 3:
    case 4:
        put_event(p, cats[fuzz_choose(c, 6)], 5000, 1 + fuzz_choose(c, 3), p->now_ns, some_ns(c),
                  c);
        put(p, "}");
        break;
    default:
        put_launch(p, c);
    }
}

static const char *make_profile(struct fuzz_choices *c)
{
    static struct profile p;
    p.n = 0;
    p.now_ns = p.corr = p.step = 0;
    put(&p, "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3,\"world_size\":8},"
            "\"deviceProperties\":[{\"id\":0,\"name\":\"Test GPU\",\"numSms\":80}],"
            "\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5000,\"tid\":1,\"args\":{\"name\":");
    put_name(&p, c);
    put(&p, "}}");
    for (int i = 0; i < EVENTS_MAX && c->left > 0; i++) {
        put_any(&p, c);
    }
    put(&p, "\n]}\n");
    return fuzz_put(FUZZ_INPUT, (const uint8_t *)p.text, p.n);
}

#endif
