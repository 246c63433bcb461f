// SPDX-License-Identifier: Apache-2.0
// Ranges that the program and its libraries mark with NVTX 3 (PyTorch's emit_nvtx, XLA, NCCL,
// cuBLAS, user code). Each library that contains NVTX calls InitializeInjectionNvtx2 at its own
// first use, and gets our functions in tables. Names, numbers and layouts are from NVTX's public
// interface.
//
// Recorded inside windows: push and pop, as annotations of their thread. Not recorded: marks,
// ranges that may end in another thread (RangeStart), wide texts, payloads.
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "job/capture/inject/inject.h"

enum { CALLBACKS = 1, CORE = 1, CORE2 = 5 };
enum {
    CORE_PUSH_EX = 8,
    CORE_PUSH_A = 9,
    CORE_POP = 11,
    CORE2_PUSH_EX = 4,
    CORE2_POP = 5,
    CORE2_REGISTER_A = 10,
    CORE2_DOMAIN_A = 12
};
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3, TIMED_EVERY = 64 };
enum { TEXTS_BYTES = 1 << 20 };

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};
struct callbacks {
    size_t struct_size;
    int (*table)(int module, void ****table, unsigned *n);
};

STK_EXPORT int InitializeInjectionNvtx2(const void *(*get)(uint32_t id));

// Registered texts: a length, the text and a zero. Never freed, since handles stay valid.
struct registered {
    uint32_t length;
    char text[];
};
static _Alignas(8) char texts[TEXTS_BYTES];
static atomic_size_t texts_used;
static _Alignas(8) char no_room[] = "\1\0\0\0?"; // a struct registered
static STK_THREAD_LOCAL unsigned calls;

static const void *keep(const char *text)
{
    size_t n = text ? strnlen(text, 1000) : 0;
    size_t size = (sizeof(struct registered) + n + 8) & ~(size_t)7;
    size_t at = atomic_fetch_add(&texts_used, size);
    if (at + size > TEXTS_BYTES) {
        atomic_fetch_sub(&texts_used, size);
        return no_room;
    }
    struct registered *r = (struct registered *)(void *)(texts + at);
    r->length = (uint32_t)n;
    memcpy(r->text, text ? text : "", n);
    r->text[n] = 0;
    return r;
}

static const char *text_of(const struct attributes *a, size_t *n)
{
    const char *text = NULL;
    if (a && a->size >= sizeof *a && a->message && a->message_type == MESSAGE_ASCII) {
        text = a->message;
        *n = strlen(text);
    } else if (a && a->size >= sizeof *a && a->message && a->message_type == MESSAGE_REGISTERED) {
        const struct registered *r = a->message;
        text = r->text;
        *n = r->length;
    }
    return text;
}

// Times every 64th call, to estimate all.
static uint64_t begin_timing(void)
{
    return calls++ % TIMED_EVERY == 0 ? stk_clock_ns() : 0;
}

static void end_timing(uint64_t start_ns)
{
    if (start_ns) {
        atomic_fetch_add_explicit(&stk_inject.hook_ns, (stk_clock_ns() - start_ns) * TIMED_EVERY,
                                  memory_order_relaxed);
    }
}

static bool enter(struct stk_inject_thread **t)
{
    if (!atomic_load_explicit(&stk_inject.is_open, memory_order_acquire) || stk_inject_inside) {
        return false;
    }
    stk_inject_inside++;
    *t = stk_threads_mine();
    return true;
}

static int push(const char *text, size_t n)
{
    struct stk_inject_thread *t;
    if (enter(&t)) {
        uint64_t timed_ns = begin_timing();
        struct stk_open_range *r = t ? stk_threads_push(t) : NULL;
        if (r) {
            r->length = (uint32_t)(n < sizeof r->text ? n : sizeof r->text);
            r->is_recorded = text != NULL;
            memcpy(r->text, text ? text : "", text ? r->length : 0);
            r->start_ns = stk_clock_ns();
        }
        end_timing(timed_ns);
        stk_inject_inside--;
    }
    return 0;
}

static int pop(void)
{
    struct stk_inject_thread *t;
    if (enter(&t)) {
        int error = errno;
        uint64_t timed_ns = begin_timing();
        struct stk_open_range *r = t ? stk_threads_pop(t) : NULL;
        if (r && r->is_recorded) {
            stk_threads_event(t, r->text, r->length, STK_WIRE_ANNOTATION, r->start_ns,
                              stk_clock_ns());
        }
        end_timing(timed_ns);
        errno = error;
        stk_inject_inside--;
    }
    return 0;
}

static int push_ex(const struct attributes *a)
{
    size_t n = 0;
    const char *text = text_of(a, &n);
    return push(text, n);
}

static int push_text(const char *text)
{
    return push(text, text ? strlen(text) : 0);
}

static int domain_push(const void *domain, const struct attributes *a)
{
    (void)domain;
    return push_ex(a);
}

static int domain_pop(const void *domain)
{
    (void)domain;
    return pop();
}

static const void *register_text(const void *domain, const char *text)
{
    (void)domain;
    return keep(text);
}

// NVTX treats a domain without a handle as switched off.
static const void *make_domain(const char *name)
{
    return keep(name);
}

static void put(void ***table, unsigned n, unsigned id, const void *function)
{
    if (id < n && table[id]) {
        memcpy(table[id], function, sizeof(void *));
    }
}
#define PUT(table, n, id, function)                                                                \
    do {                                                                                           \
        __typeof__(function) *own = function;                                                      \
        put(table, n, id, &own);                                                                   \
    } while (0)

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
    int error = errno;
    void ***table = NULL;
    unsigned n = 0;
    const struct callbacks *c = get ? get(CALLBACKS) : NULL;
    bool ok = c && c->struct_size >= sizeof *c && c->table && stk_inject_start();
    if (ok && c->table(CORE, &table, &n) && table) {
        PUT(table, n, CORE_PUSH_EX, push_ex);
        PUT(table, n, CORE_PUSH_A, push_text);
        PUT(table, n, CORE_POP, pop);
    }
    if (ok && c->table(CORE2, &table, &n) && table) {
        PUT(table, n, CORE2_PUSH_EX, domain_push);
        PUT(table, n, CORE2_POP, domain_pop);
        PUT(table, n, CORE2_REGISTER_A, register_text);
        PUT(table, n, CORE2_DOMAIN_A, make_domain);
    }
    errno = error;
    return ok;
}
