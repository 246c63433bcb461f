// SPDX-License-Identifier: Apache-2.0
// Reads the hooks' reports; see job_facts.h. The hooks write each line with one write.
#include "job/tune/job_facts.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cgroup.h"
#include "base/plain_file.h"
#include "base/sort.h"
#include "base/text.h"
#include "fixes/fixes.h"

enum { LINES = 100000, FILE_BYTES = 4 << 20 };

static long processors(void)
{
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);
    int64_t quota = stk_cgroup_processors();
    return quota > 0 && quota < n ? (long)quota : n > 0 ? n : 1;
}

void stk_facts_init(struct stk_tune_facts *f)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    *f = (struct stk_tune_facts){
        .processors = processors(), .framework = STK_FW_COUNT, .cache_folder = ""};
    f->has_gpu = access("/dev/nvidiactl", R_OK) == 0 && !(visible && !*visible);
    stk_vec_init(&f->facts, sizeof(struct stk_tune_fact), LINES);
    stk_vec_init(&f->places, sizeof(struct stk_tune_place), LINES);
    stk_vec_init(&f->applied, sizeof(struct stk_tune_fact), LINES);
    stk_vec_init(&f->refused, sizeof(struct stk_tune_fact), LINES);
    stk_vec_init(&f->losses, sizeof(struct stk_tune_loss), LINES);
}

void stk_facts_deinit(struct stk_tune_facts *f)
{
    stk_vec_deinit(&f->facts);
    stk_vec_deinit(&f->places);
    stk_vec_deinit(&f->applied);
    stk_vec_deinit(&f->refused);
    stk_vec_deinit(&f->losses);
}

static bool add_fact(struct stk_vec *to, const char *name, const char *text)
{
    struct stk_tune_fact *fact = stk_vec_push(to);
    if (fact) {
        snprintf(fact->name, sizeof fact->name, "%s", name);
        snprintf(fact->text, sizeof fact->text, "%s", text);
    }
    return fact != NULL;
}

static bool add_place(struct stk_vec *to, const char *call, const char *file, const char *line)
{
    struct stk_tune_place *place = stk_vec_push(to);
    if (place) {
        snprintf(place->call, sizeof place->call, "%s", call);
        snprintf(place->file, sizeof place->file, "%s", file);
        place->line = strtol(line, NULL, 10);
    }
    return place != NULL;
}

static bool add_loss(struct stk_vec *to, const char *step, const char *value)
{
    char *rest;
    double v = strcmp(value, "nan") == 0 ? (double)NAN
               : strstr(value, "inf")    ? (double)INFINITY
                                         : stk_text_to_real(value, &rest);
    struct stk_tune_loss *loss = stk_vec_push(to);
    if (loss) {
        *loss = (struct stk_tune_loss){strtol(step, NULL, 10), v};
    }
    return loss != NULL;
}

// Takes one line, cut into its fields. False: no room.
static bool take_line(struct stk_tune_facts *f, char *line)
{
    char *fields[4] = {line, NULL, NULL, NULL};
    for (int i = 1; i < 4 && fields[i - 1]; i++) {
        fields[i] = strchr(fields[i - 1], '\t');
        if (fields[i]) {
            *fields[i]++ = 0;
        }
    }
    const char *kind = fields[0], *name = fields[1], *text = fields[2] ? fields[2] : "";
    if (!name) {
        return true;
    }
    if (strcmp(kind, "fact") == 0) {
        return add_fact(&f->facts, name, text);
    }
    if (strcmp(kind, "applied") == 0) {
        return add_fact(&f->applied, name, text);
    }
    if (strcmp(kind, "refused") == 0) {
        return add_fact(&f->refused, name, stk_refusal_of(text));
    }
    if (strcmp(kind, "place") == 0 && fields[3]) {
        return add_place(&f->places, name, text, fields[3]);
    }
    return strcmp(kind, "loss") != 0 || add_loss(&f->losses, name, text);
}

static int by_step(const void *a, const void *b)
{
    const struct stk_tune_loss *x = a, *y = b;
    return (x->step > y->step) - (x->step < y->step);
}

// Makes one loss per step: the mean if a step has several (accumulation, several ranks).
static void settle_losses(struct stk_vec *v)
{
    STK_ASSERT(v->item_size == sizeof(struct stk_tune_loss));
    struct stk_tune_loss *l = v->items;
    size_t kept = 0;
    stk_sort(l, v->count, sizeof *l, by_step);
    for (size_t i = 0, n; i < v->count; i += n) {
        double sum = 0;
        for (n = 0; i + n < v->count && l[i + n].step == l[i].step; n++) {
            sum += l[i + n].value;
        }
        l[kept++] = (struct stk_tune_loss){l[i].step, sum / (double)n};
    }
    v->count = kept;
}

static enum stoker_status read_file(struct stk_tune_facts *f, int folder, const char *name,
                                    struct stoker_err *err)
{
    size_t n;
    char *text = stk_plain_text(folder, name, FILE_BYTES, &n), *rest = text;
    bool fits = true;
    while (fits && rest && *rest) {
        fits = take_line(f, strsep(&rest, "\n"));
    }
    stk_free(text);
    return fits ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_facts_read(struct stk_tune_facts *f, const char *folder,
                                  struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    DIR *d = opendir(folder);
    struct dirent *e;
    if (!d && errno != ENOENT) {
        return stk_err_set(err, STOKER_EINPUT, "can't read %s: %s", folder, strerror(errno));
    }
    for (errno = 0; d && status == STOKER_OK && (e = readdir(d)); errno = 0) {
        if (strncmp(e->d_name, "tune-", 5) == 0) {
            status = read_file(f, dirfd(d), e->d_name, err);
        }
    }
    if (d && status == STOKER_OK && errno) {
        status = stk_err_set(err, STOKER_EINPUT, "can't read %s: %s", folder, strerror(errno));
    }
    if (d) {
        closedir(d);
    }
    settle_losses(&f->losses);
    return status;
}

static const char *find(const struct stk_vec *v, const char *name)
{
    const struct stk_tune_fact *fact = v->items;
    for (size_t i = 0; i < v->count; i++) {
        if (strcmp(fact[i].name, name) == 0) {
            return fact[i].text;
        }
    }
    return NULL;
}

const char *stk_facts_get(const struct stk_tune_facts *f, const char *name)
{
    return find(&f->facts, name);
}

bool stk_facts_say(const struct stk_tune_facts *f, const char *name, const char *text)
{
    const struct stk_tune_fact *fact = f->facts.items;
    for (size_t i = 0; i < f->facts.count; i++) {
        if (strcmp(fact[i].name, name) == 0 && strcmp(fact[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

long stk_facts_number(const struct stk_tune_facts *f, const char *name, long otherwise)
{
    const char *text = stk_facts_get(f, name);
    char *rest = NULL;
    long n = text ? strtol(text, &rest, 10) : 0;
    return text && rest != text && *rest == 0 ? n : otherwise;
}

void stk_facts_set(struct stk_tune_facts *f, const char *name, const char *text)
{
    STK_ASSERT(strlen(name) < STK_FACT_NAME);
    struct stk_tune_fact *fact = f->facts.items;
    bool is_there = false;
    for (size_t i = 0; i < f->facts.count; i++) {
        if (strcmp(fact[i].name, name) == 0) {
            snprintf(fact[i].text, sizeof fact[i].text, "%s", text);
            is_there = true;
        }
    }
    if (!is_there) {
        add_fact(&f->facts, name, text); // without room, the fact is ignored
    }
}

bool stk_facts_applied(const struct stk_tune_facts *f, const char *fix)
{
    return find(&f->applied, fix) != NULL;
}

const char *stk_facts_refused(const struct stk_tune_facts *f, const char *fix)
{
    return find(&f->refused, fix);
}
