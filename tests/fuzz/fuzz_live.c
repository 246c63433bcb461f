// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what `stoker top` follows. The first byte chooses.
//
// A sampler's record that grows: it is followed piece by piece, and once more as a whole. Both must
// know the same: the newest time, what was lost, and each figure of the last seconds.
// A run's folder that changes: its record and its steps grow, are cut, replaced and removed, while
// it is followed and shown. Each form of the output is well made: JSON is JSON, and text holds
// nothing that a terminal obeys. Following goes on after every change.
#include "fuzz_output.h"
#include "fuzz_run.h"

#include "job/live/live_record.h"
#include "stoker/live.h"

enum { CHANGES_MAX = 60, TEXT_MAX = 120 };
#define WINDOW_NS INT64_C(5000000000)

static struct fuzz_record made;

// ---- a record that grows ----

static void append(int fd, size_t from, size_t to)
{
    FUZZ_REQUIRE(pwrite(fd, made.bytes + from, to - from, (off_t)from) == (ssize_t)(to - from));
}

static void require_same_view(const struct stk_machine_view *a, const struct stk_machine_view *b)
{
    FUZZ_REQUIRE(!a == !b);
    if (!a) {
        return;
    }
    const struct stk_machine *m = a->machine, *n = b->machine;
    FUZZ_REQUIRE(m->series_count == n->series_count && m->sample_count == n->sample_count);
    FUZZ_REQUIRE(a->looks == b->looks && a->process_count == b->process_count);
    FUZZ_REQUIRE(a->from_ns == b->from_ns && a->to_ns == b->to_ns);
    for (uint32_t i = 0; i < m->series_count; i++) {
        const struct stk_machine_series *s = &m->series[i], *t = &n->series[i];
        FUZZ_REQUIRE(s->sample == t->sample && s->process == t->process && s->number == t->number);
        FUZZ_REQUIRE(strcmp(s->name, t->name) == 0 && s->count == t->count);
        FUZZ_REQUIRE(s->count > 0 && a->figures[i].samples <= s->count);
        FUZZ_REQUIRE(memcmp(&a->figures[i].mean, &b->figures[i].mean, sizeof(double)) == 0);
    }
    for (uint32_t i = 0; i < a->process_count; i++) {
        FUZZ_REQUIRE(a->processes[i].pid == b->processes[i].pid);
    }
}

// What is damaged is counted by pieces, so it may differ.
static void require_same(const struct stk_live_record *pieces, const struct stk_live_record *whole)
{
    struct stk_live_record_state a = stk_live_record_state(pieces);
    struct stk_live_record_state b = stk_live_record_state(whole);
    struct stk_arena arena;
    FUZZ_REQUIRE(a.is_record && b.is_record && a.bytes == b.bytes && a.lost == b.lost);
    FUZZ_REQUIRE(a.newest_ns == b.newest_ns && a.has_ended == b.has_ended && a.look_s == b.look_s);
    FUZZ_REQUIRE(a.newest_ns >= 0 && a.look_s >= 0 && a.look_s <= 3600);
    for (size_t i = 0; stk_live_record_absent(whole, i); i++) {
        const char *text = stk_live_record_absent(pieces, i);
        FUZZ_REQUIRE(text && strcmp(text, stk_live_record_absent(whole, i)) == 0);
    }
    stk_arena_init(&arena, 0);
    require_same_view(stk_live_record_view(pieces, WINDOW_NS, &arena),
                      stk_live_record_view(whole, WINDOW_NS, &arena));
    stk_arena_deinit(&arena);
}

static void follow_record(struct fuzz_choices *c)
{
    int fd = fuzz_open(FUZZ_INPUT)->fd;
    struct stk_live_record *pieces, *whole;
    struct stoker_err err;
    size_t done = 0;
    FUZZ_REQUIRE(ftruncate(fd, 0) == 0);
    FUZZ_REQUIRE(stk_live_record_open(&pieces, fd, false, &err) == STOKER_OK);
    FUZZ_REQUIRE(stk_live_record_open(&whole, fd, false, &err) == STOKER_OK);
    fuzz_record_begin(&made, c);
    bool is_good = made.is_good;
    while (c->left) {
        fuzz_record_more(&made, c);
        if (fuzz_choose(c, 4) == 3) {
            size_t to = made.n - fuzz_choose(c, 64);
            is_good = made.is_good;
            if (to > done && to <= made.n) {
                append(fd, done, to);
                done = to;
            }
            FUZZ_REQUIRE(stk_live_record_follow(pieces, &err) == STOKER_OK);
        }
    }
    append(fd, done, made.n);
    FUZZ_REQUIRE(stk_live_record_follow(pieces, &err) == STOKER_OK);
    FUZZ_REQUIRE(stk_live_record_follow(whole, &err) == STOKER_OK);
    if (is_good && made.is_good) { // else each piece is taken for a header
        require_same(pieces, whole);
    }
    stk_live_record_close(pieces);
    stk_live_record_close(whole);
}

// ---- a folder that changes ----

static void write_as(const struct stoker_live *l, const char *format,
                     const struct stoker_live_write_options *how)
{
    struct stoker_err err;
    fuzz_output.n = 0;
    FUZZ_REQUIRE(stoker_live_write(l, format, how, fuzz_take, NULL, &err) == STOKER_OK);
}

static void show(const struct stoker_live *l, struct fuzz_choices *c)
{
    uint8_t options = fuzz_byte(c);
    const struct stoker_live_write_options how = {.colour = options & 1,
                                                  .ascii = options >> 1 & 1,
                                                  .columns = 20 + (options >> 2) * 2,
                                                  .rows = options >> 6 ? 24 : 0};
    write_as(l, "json", &how);
    FUZZ_REQUIRE(strchr(fuzz_output.bytes, '\n') == fuzz_output.bytes + fuzz_output.n - 1);
    fuzz_check_json();
    write_as(l, "text", &how);
    fuzz_check_text(how.colour, how.ascii, 0);
    write_as(l, "line", &how);
    FUZZ_REQUIRE(strchr(fuzz_output.bytes, '\n') == fuzz_output.bytes + fuzz_output.n - 1);
    fuzz_check_text(false, how.ascii, 0);
}

static void cut(int folder, const char *name, struct fuzz_choices *c)
{
    int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        FUZZ_REQUIRE(ftruncate(fd, fuzz_choose(c, 1 << 15)) == 0);
        close(fd);
    }
}

static void change(int folder, struct fuzz_choices *c)
{
    static const char *const names[] = {"machine.stk", "steps-1.rec", "steps-2.rec", "steps-3.rec",
                                        "run.json"};
    uint32_t what = fuzz_choose(c, 32);
    const char *name = names[fuzz_choose(c, 5)];
    size_t n;
    if (what < 12) {
        fuzz_record_more(&made, c);
        fuzz_put_file(folder, "machine.stk", made.bytes, made.n);
    } else if (what < 22) {
        fuzz_put_steps(folder, c);
    } else if (what < 24) {
        fuzz_record_begin(&made, c);
        fuzz_put_file(folder, "machine.stk", made.bytes, made.n);
    } else if (what < 26) {
        cut(folder, name, c);
    } else if (what < 28) {
        unlinkat(folder, name, 0);
    } else if (what < 29) {
        mkfifoat(folder, name, 0600);
    } else if (what < 30) {
        FUZZ_REQUIRE(symlinkat("/dev/zero", folder, name) == 0 || errno == EEXIST);
    } else {
        const uint8_t *bytes = fuzz_bytes(c, TEXT_MAX, &n);
        fuzz_put_file(folder, name, bytes, n);
    }
}

static void follow_folder(struct fuzz_choices *c)
{
    int folder = fuzz_folder();
    struct stoker_live *l;
    struct stoker_err err;
    fuzz_folder_clear(folder);
    fuzz_record_begin(&made, c);
    fuzz_put_file(folder, "machine.stk", made.bytes, made.n);
    const struct stoker_live_options options = {.window_ns =
                                                    (uint64_t)fuzz_choose(c, 8) * 1000000000};
    FUZZ_REQUIRE(stoker_live_open(fuzz_folder_path, &options, &l, &err) == STOKER_OK);
    for (int i = 0; i < CHANGES_MAX && c->left; i++) {
        change(folder, c);
        if (fuzz_choose(c, 4) == 3 || c->left == 0) {
            FUZZ_REQUIRE(stoker_live_refresh(l, &err) == STOKER_OK);
            show(l, c);
        }
    }
    FUZZ_REQUIRE(stoker_live_refresh(l, &err) == STOKER_OK);
    FUZZ_REQUIRE(stoker_live_is_over(l) || faccessat(folder, "run.json", F_OK, 0) != 0);
    show(l, c);
    stoker_live_close(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    if (fuzz_byte(&c) & 1) {
        follow_folder(&c);
    } else {
        follow_record(&c);
    }
    return 0;
}

FUZZ_MAIN(fuzz_once, 3000)
