// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what stoker keeps of runs. The first byte chooses.
//
// A run's folder made of choices, read as `run`, `prove`, `tune` and `view` read it: what is judged
// is within what was recorded, shares are shares, and the viewer's document is JSON.
// Folders beside a new run, with hooks of dead runs, links and parts of profiles among them: the
// sweep ends, removes nothing outside them, and keeps what it has not made.
// A ledger: any bytes, or lines of choices that are written, read again and are the same.
#include "fuzz_output.h"
#include "fuzz_run.h"

#include <math.h>

#include "base/alloc.h"
#include "cli/view_extras.h"
#include "job/capture/parent/leftover.h"
#include "job/capture/parent/mark.h"
#include "job/prove/ledger.h"
#include "job/prove/measured.h"
#include "job/tune/job_facts.h"
#include "results/print/document.h"

enum { TEXT_MAX = 200, FILES_MAX = 12, LINES_MAX = 6 };

static struct fuzz_record made;

// ---- a folder that is read ----

static void put_facts(int folder, struct fuzz_choices *c)
{
    static const char *const words[] = {"fact\t",  "applied\t", "refused\t", "loss\t",
                                        "place\t", "\t",        "\n",        "nan",
                                        "1e999",   "-7",        "workers"};
    char text[1024];
    size_t n = 0, more;
    for (uint32_t i = fuzz_choose(c, 40); i > 0 && n < sizeof text - 64; i--) {
        uint32_t which = fuzz_choose(c, 16);
        const uint8_t *bytes = (const uint8_t *)"";
        if (which < sizeof words / sizeof words[0]) {
            bytes = (const uint8_t *)words[which];
            more = strlen(words[which]);
        } else {
            bytes = fuzz_bytes(c, 20, &more);
        }
        if (more) {
            memcpy(text + n, bytes, more);
        }
        n += more;
    }
    fuzz_put_file(folder, "tune-1.txt", text, n);
}

// run.json: as the program writes it, cut or with a byte changed; or any bytes.
static void put_run(int folder, struct fuzz_choices *c)
{
    char text[] = "{\"schema\":\"stoker.run/1\",\"command\":[\"python\",\"a.py\"],\"status\":0,"
                  "\"steps\":{\"count\":12,\"median_ns\":1000000,\"wait_share\":0.5}}";
    size_t n;
    if (fuzz_choose(c, 2)) {
        text[fuzz_choose(c, sizeof text - 1)] ^= fuzz_byte(c);
        n = sizeof text - 1 - fuzz_choose(c, 4) * fuzz_choose(c, 30);
        fuzz_put_file(folder, "run.json", text, n);
    } else {
        const uint8_t *bytes = fuzz_bytes(c, TEXT_MAX, &n);
        fuzz_put_file(folder, "run.json", bytes, n);
    }
}

static void put_something(int folder, struct fuzz_choices *c)
{
    static const char *const names[] = {"steps-1.rec", "steps-9.rec", "run.json", "machine.stk",
                                        "tune-2.txt"};
    uint32_t what = fuzz_choose(c, 24);
    const char *name = names[fuzz_choose(c, 5)];
    size_t n;
    if (what < 10) {
        fuzz_put_steps(folder, c);
    } else if (what < 13) {
        put_facts(folder, c);
    } else if (what < 16) {
        put_run(folder, c);
    } else if (what < 18) {
        fuzz_record_begin(&made, c);
        for (uint32_t i = fuzz_choose(c, 12); i > 0; i--) {
            fuzz_record_more(&made, c);
        }
        fuzz_put_file(folder, "machine.stk", made.bytes, made.n);
    } else if (what < 19) {
        mkfifoat(folder, name, 0600);
    } else if (what < 20) {
        FUZZ_REQUIRE(symlinkat("/dev/zero", folder, name) == 0 || errno == EEXIST);
    } else {
        const uint8_t *bytes = fuzz_bytes(c, TEXT_MAX, &n);
        fuzz_put_file(folder, name, bytes, n);
    }
}

static void check_steps(uint64_t warmup, uint64_t most)
{
    struct stk_steps_of_run run;
    struct stoker_err err;
    FUZZ_REQUIRE(stk_steps_read_first(fuzz_folder_path, warmup, most, &run, &err) == STOKER_OK);
    FUZZ_REQUIRE(run.count ? run.lead < run.count : !run.lead);
    for (size_t i = 0; i < run.count; i++) {
        const struct stk_steps *s = &run.ranks[i];
        FUZZ_REQUIRE(s->judged <= s->head.kept && s->head.kept <= most);
        FUZZ_REQUIRE(s->wait_ns <= s->time_ns);
        FUZZ_REQUIRE(memchr(s->head.notes, 0, sizeof s->head.notes));
        FUZZ_REQUIRE(memchr(s->head.profile, 0, sizeof s->head.profile));
    }
    stk_steps_free(&run);
}

static void check_measured(uint64_t warmup, uint64_t most)
{
    struct stk_measured m;
    struct stoker_err err;
    FUZZ_REQUIRE(stk_measure_read(fuzz_folder_path, warmup, most, &m, &err) == STOKER_OK);
    FUZZ_REQUIRE(m.wait_share == -1 || (m.wait_share >= 0 && m.wait_share <= 1));
    FUZZ_REQUIRE(m.judged <= m.steps && (m.judged || (!m.mean_ns && !m.median_ns)));
}

static void check_records(void)
{
    struct stk_steps_header head;
    struct stk_steps_record *records;
    struct stoker_err err;
    FUZZ_REQUIRE(stk_steps_records(fuzz_folder_path, &head, &records, &err) == STOKER_OK);
    FUZZ_REQUIRE(!head.kept == !records);
    for (uint64_t i = 0; i < head.kept; i++) {
        volatile uint64_t seen = records[i].end_ns; // all of them are there
        (void)seen;
    }
    stk_free(records);
    FUZZ_REQUIRE(!stk_steps_window_is_recorded(fuzz_folder_path) ||
                 stk_steps_window_is_over(fuzz_folder_path));
    (void)stk_steps_made(fuzz_folder_path);
}

static void check_facts(void)
{
    struct stk_tune_facts facts;
    struct stoker_err err;
    stk_facts_init(&facts);
    FUZZ_REQUIRE(stk_facts_read(&facts, fuzz_folder_path, &err) == STOKER_OK);
    const struct stk_tune_loss *losses = facts.losses.items;
    for (size_t i = 1; i < facts.losses.count; i++) {
        FUZZ_REQUIRE(losses[i - 1].step < losses[i].step);
    }
    stk_facts_deinit(&facts);
}

static void check_view(void)
{
    const struct stk_view_extra extra = {.name = "run", .arg = fuzz_folder_path};
    struct stk_body body = {.p = NULL};
    struct stoker_err err;
    (void)stk_view_is_run(fuzz_folder_path);
    FUZZ_REQUIRE(stk_view_run_make(&extra, &body, &err) == STOKER_OK);
    fuzz_output.n = 0;
    fuzz_take(NULL, body.p, body.n);
    fuzz_check_json();
    stk_body_free(&body);
}

static void read_folder(struct fuzz_choices *c)
{
    int folder = fuzz_folder();
    uint64_t warmup = fuzz_choose(c, 32), most = fuzz_choose(c, 64);
    fuzz_folder_clear(folder);
    for (int i = 0; i < FILES_MAX && c->left; i++) {
        put_something(folder, c);
    }
    check_steps(warmup, most ? most : UINT64_MAX);
    check_measured(warmup, most);
    check_records();
    check_facts();
    check_view();
}

// ---- folders that are swept ----

static int inner(int folder, const char *name)
{
    mkdirat(folder, name, 0700);
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd;
}

// A folder of hooks, of files that stoker makes, others, and links to `outside`.
static void put_hooks(int run, struct fuzz_choices *c)
{
    static const char *const names[] = {"sitecustomize.py", "seen",       "control", "mine",
                                        "dynolog",          "__pycache__"};
    int hooks = inner(run, "hooks");
    if (hooks < 0) {
        return;
    }
    for (uint32_t i = fuzz_choose(c, 6); i > 0; i--) {
        const char *name = names[fuzz_choose(c, 6)];
        uint32_t how = fuzz_choose(c, 4);
        if (how == 0) {
            FUZZ_REQUIRE(symlinkat("../../../outside", hooks, name) == 0 || errno == EEXIST);
        } else if (how == 1) {
            int deep = inner(hooks, name);
            if (deep >= 0) {
                fuzz_put_file(deep, "sitecustomize.cpython-313.pyc", "x", 1);
                close(deep);
            }
        } else {
            fuzz_put_file(hooks, name, "x", 1);
        }
    }
    if (fuzz_choose(c, 2)) {
        int mark = stk_mark_put(hooks);
        stk_mark_release(mark); // its maker is dead
    }
    close(hooks);
}

static void put_old_run(int above, struct fuzz_choices *c)
{
    static const char *const names[] = {"a", "b", "capture", "run-1", "hooks"};
    static const char *const files[] = {"run.json", "rank0.part", "process-1.part", "mine.part"};
    const char *name = names[fuzz_choose(c, 5)];
    uint32_t how = fuzz_choose(c, 8);
    if (how == 0) {
        FUZZ_REQUIRE(symlinkat("../outside", above, name) == 0 || errno == EEXIST);
        return;
    }
    int run = inner(above, name);
    if (run < 0) {
        return;
    }
    fuzz_put_file(run, files[fuzz_choose(c, 4)], "x", 1);
    if (how == 1) {
        FUZZ_REQUIRE(symlinkat("../../outside", run, "hooks") == 0 || errno == EEXIST);
    } else {
        put_hooks(run, c);
    }
    if (how > 5 && c->left) { // a search: its trials are a level deeper
        put_old_run(run, c);
    }
    close(run);
}

static void sweep(struct fuzz_choices *c)
{
    static const char *const kept[] = {"mine", "sitecustomize.py", "seen", "rank0.part"};
    int folder = fuzz_folder();
    char path[96];
    fuzz_folder_clear(folder);
    int outside = inner(folder, "outside"), above = inner(folder, "runs");
    for (int i = 0; i < 4; i++) {
        fuzz_put_file(outside, kept[i], "x", 1);
    }
    fuzz_put_file(above, "mine", "x", 1);
    for (int i = 0; i < FILES_MAX && c->left; i++) {
        put_old_run(above, c);
    }
    snprintf(path, sizeof path, "%s/runs/new", fuzz_folder_path);
    stk_leftover_sweep_beside(path);
    for (int i = 0; i < 4; i++) {
        FUZZ_REQUIRE(faccessat(outside, kept[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    }
    FUZZ_REQUIRE(faccessat(above, "mine", F_OK, 0) == 0);
    close(outside);
    close(above);
}

// ---- a ledger ----

static void cell(char *to, size_t size, struct fuzz_choices *c)
{
    size_t n;
    const uint8_t *bytes = fuzz_bytes(c, 255, &n);
    n = n < size - 1 ? n : size - 1;
    if (n) {
        memcpy(to, bytes, n);
    }
    to[n] = 0;
}

static void interval(struct stk_interval *i, struct fuzz_choices *c)
{
    i->is_known = fuzz_choose(c, 2);
    i->low = (double)fuzz_byte(c) / 100;
    i->estimate = i->low + (double)fuzz_byte(c) / 100;
    i->high = i->estimate + (double)fuzz_byte(c) / 100;
}

static void line_of(struct stk_ledger_line *line, struct fuzz_choices *c)
{
    cell(line->time, sizeof line->time, c);
    cell(line->profile, sizeof line->profile, c);
    cell(line->fix, sizeof line->fix, c);
    cell(line->framework, sizeof line->framework, c);
    cell(line->device, sizeof line->device, c);
    cell(line->stoker, sizeof line->stoker, c);
    line->pairs = fuzz_choose(c, 1000);
    interval(&line->predicted, c);
    interval(&line->measured, c);
}

static void require_same_interval(const struct stk_interval *a, const struct stk_interval *b)
{
    FUZZ_REQUIRE(a->is_known == b->is_known);
    FUZZ_REQUIRE(!a->is_known || (fabs(a->low - b->low) < 1e-4 && fabs(a->high - b->high) < 1e-4 &&
                                  fabs(a->estimate - b->estimate) < 1e-4));
}

// Cells come back as long as they were: what would end one is a space.
static void require_same_line(const struct stk_ledger_line *a, const struct stk_ledger_line *b)
{
    FUZZ_REQUIRE(strlen(a->time) == strlen(b->time) && strlen(a->fix) == strlen(b->fix));
    FUZZ_REQUIRE(strlen(a->profile) == strlen(b->profile));
    FUZZ_REQUIRE(strlen(a->framework) == strlen(b->framework));
    FUZZ_REQUIRE(strlen(a->device) == strlen(b->device) && strlen(a->stoker) == strlen(b->stoker));
    FUZZ_REQUIRE(a->pairs == b->pairs);
    require_same_interval(&a->predicted, &b->predicted);
    require_same_interval(&a->measured, &b->measured);
}

static void check_ledger(const char *path, const struct stk_ledger_line *lines, size_t count)
{
    struct stk_ledger ledger;
    struct stoker_err err;
    enum stoker_status status = stk_ledger_read(path, &ledger, &err);
    FUZZ_REQUIRE(status == STOKER_OK || (err.message[0] && !count));
    if (status == STOKER_OK) {
        struct stk_calibration s = stk_ledger_calibration(&ledger);
        struct stk_sink sink;
        struct stk_ledger_doc doc = {.schema = STK_LEDGER_SCHEMA, .file = "ledger"};
        FUZZ_REQUIRE(s.inside <= s.predictions && s.meet <= s.predictions &&
                     s.too_low <= s.predictions && s.predictions <= ledger.lines.count);
        FUZZ_REQUIRE(isfinite(s.median_error) && s.median_error >= 0);
        FUZZ_REQUIRE(!count || (ledger.lines.count == count && !ledger.damaged));
        for (size_t i = 0; i < count; i++) {
            require_same_line(&lines[i], stk_vec_at(&ledger.lines, i));
        }
        doc.lines = (struct stk_list){.items = ledger.lines.items, .count = ledger.lines.count};
        fuzz_output.n = 0;
        stk_sink_init(&sink, fuzz_take, NULL);
        stk_json_document(&stk_ledger_doc_info, &doc, false, &sink);
        FUZZ_REQUIRE(stk_sink_finish(&sink, &err) == STOKER_OK);
        fuzz_check_json();
    }
    stk_ledger_free(&ledger);
}

static void keep_ledger(struct fuzz_choices *c)
{
    static const char header[] = STK_LEDGER_HEADER;
    static uint8_t bytes[1 << 16];
    struct stk_ledger_line lines[LINES_MAX] = {0};
    struct fuzz_open *f = fuzz_open(FUZZ_INPUT);
    struct stoker_err err;
    size_t count = fuzz_choose(c, LINES_MAX), n = sizeof header - 1;
    FUZZ_REQUIRE(ftruncate(f->fd, 0) == 0);
    for (size_t i = 0; i < count; i++) {
        line_of(&lines[i], c);
        FUZZ_REQUIRE(stk_ledger_append(f->path, &lines[i], &err) == STOKER_OK);
    }
    check_ledger(f->path, lines, count);
    memcpy(bytes, header, n); // any bytes, below a header
    if (fuzz_choose(c, 16) == 15) {
        bytes[fuzz_choose(c, (uint32_t)n)] ^= fuzz_byte(c);
    }
    size_t more = c->left < sizeof bytes - n ? c->left : sizeof bytes - n;
    if (more) {
        memcpy(bytes + n, c->p, more);
    }
    check_ledger(fuzz_put(FUZZ_INPUT, bytes, n + more), NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    uint32_t what = fuzz_choose(&c, 16);
    if (what < 10) {
        read_folder(&c);
    } else if (what < 11) {
        sweep(&c);
    } else {
        keep_ledger(&c);
    }
    return 0;
}

FUZZ_MAIN(fuzz_once, 2000)
