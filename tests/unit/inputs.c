// SPDX-License-Identifier: Apache-2.0
// Expansion of paths: every layout that profilers leave behind, built in a temporary directory.
#include "api/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "profile/readers/reader.h"

static char root[256];
static struct stk_arena arena;
static struct stk_inputs in;
static struct stoker_err err;

static const char trace_json[] = "{\"schemaVersion\": 1, \"traceEvents\": []}";
static const char sqlite_head[] = "SQLite format 3\0 and more";

static void make(const char *name, const void *content, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (f) {
        CHECK_EQ(fwrite(content, 1, n, f), n);
        fclose(f);
    }
}
static void make_json(const char *name)
{
    make(name, trace_json, sizeof trace_json - 1);
}

// Fresh directory for a case.
static void begin(const char *name)
{
    snprintf(root, sizeof root, "%s/stoker-inputs-%ld-%s",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid(), name);
    mkdir(root, 0700);
    stk_arena_init(&arena, 0);
}
static void end(void)
{
    char command[400];
    stk_arena_deinit(&arena);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    CHECK_EQ(system(command), 0);
}
static enum stoker_status expand(const char *below)
{
    char path[512];
    const char *paths[1] = {path};
    snprintf(path, sizeof path, "%s%s", root, below);
    stk_err_init(&err);
    return stk_inputs_expand(paths, 1, &arena, &in, &err);
}
static const struct stk_input *entry(const char *ending)
{
    for (uint32_t i = 0; i < in.count; i++) {
        size_t n = strlen(in.entries[i].path), k = strlen(ending);
        if (n >= k && strcmp(in.entries[i].path + n - k, ending) == 0) {
            return &in.entries[i];
        }
    }
    return NULL;
}
static void check_taken(const char *ending, bool taken)
{
    const struct stk_input *e = entry(ending);
    CHECK(e != NULL);
    if (e && e->taken != taken) {
        fprintf(stderr, "%s: %s\n", e->path, e->why ? e->why : "taken");
    }
    CHECK(e && e->taken == taken);
    CHECK(e && (taken || e->why));
}

static void test_rank_names(void)
{
    static const struct {
        const char *name;
        int rank;
    } cases[] = {{"rank0.json", 0},
                 {"rank-12.Apr_03_18_51_38.1102.pt.trace.json.gz", 12},
                 {"trace_rank_7_step_3.json", 7},
                 {"rank[5].json", 5},
                 {"worker3_step_12.1694128201545.pt.trace.json.gz", 3},
                 {"report_r4.sqlite", 4},
                 {"Local_Rank=2.json", 2},
                 {"rank_not_found.json.gz", -1},
                 {"frank1.json", -1},
                 {"tf_multiworker_8xV100.xplane.pb", -1},
                 {"worker_8xV100.xplane.pb", -1},
                 {"bar_4.json", -1},
                 {"resnet50_nw0.1623143089861.pt.trace.json.gz", -1},
                 {"rank99999999999.json", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_EQ(stk_inputs_rank_of_name(cases[i].name), cases[i].rank);
    }
}

static void test_tensorboard(void)
{
    begin("tb");
    make("plugins/profile/2024_05_01_12_30_00/h1.xplane.pb", "x", 1);
    make("plugins/profile/2024_05_02_08_00_00/h10.xplane.pb", "x", 1);
    make("plugins/profile/2024_05_02_08_00_00/h2.xplane.pb", "x", 1);
    make_json("plugins/profile/2024_05_02_08_00_00/h2.trace.json.gz");
    make("plugins/profile/2024_05_02_08_00_00/h2.SSTABLE", "x", 1);
    make("plugins/profile/2024_05_02_08_00_00/ALL_HOSTS.op_stats.pb", "x", 1);
    make("plugins/profile/2024_05_02_08_00_00/._h2.xplane.pb", "x", 1);
    make("events.out.tfevents.1.h2", "x", 1);
    CHECK_EQ(expand(""), STOKER_OK);
    CHECK_EQ(in.taken, 2);
    CHECK_EQ(in.left_out, 6);
    check_taken("00_00/h2.xplane.pb", true);
    check_taken("h10.xplane.pb", true);
    check_taken("h1.xplane.pb", false);
    check_taken("h2.trace.json.gz", false);
    check_taken("h2.SSTABLE", false);
    check_taken("ALL_HOSTS.op_stats.pb", false);
    check_taken("/._h2.xplane.pb", false);
    check_taken("tfevents.1.h2", false);
    CHECK_EQ(in.entries[0].rank_hint, 0); // by natural order: h2 before h10
    CHECK(in.count > 0 && strstr(in.entries[0].path, "/h2.xplane.pb"));
    CHECK_EQ(in.entries[1].rank_hint, 1);
    CHECK(in.note && strstr(in.note, "2024_05_02_08_00_00") && strstr(in.note, "2024_05_01"));
    CHECK_EQ(expand("/plugins/profile/2024_05_01_12_30_00"),
             STOKER_OK); // an older run, by its folder
    CHECK_EQ(in.taken, 1);
    CHECK_EQ(in.entries[0].rank_hint, -1);
    CHECK(in.note == NULL);
    end();
}

static void test_kineto(void)
{
    begin("kineto");
    make_json("host_101.1694128201545.pt.trace.json");
    make_json("host_101.1694128299999.pt.trace.json"); // the same worker, later
    make_json("host_102.1694128201547.pt.trace.json");
    make("empty.pt.trace.json", "", 0);
    make("config.json", "{\"a\": 1}", 8);
    CHECK_EQ(expand("/"), STOKER_OK);
    CHECK_EQ(in.taken, 2);
    check_taken("host_101.1694128201545.pt.trace.json", false);
    check_taken("host_101.1694128299999.pt.trace.json", true);
    check_taken("host_102.1694128201547.pt.trace.json", true);
    check_taken("empty.pt.trace.json", false);
    check_taken("config.json", false);
    end();

    begin("ranks");
    for (int i = 0; i < 12; i++) {
        char name[64];
        snprintf(name, sizeof name, "rank%d/trace.json", i);
        make_json(name);
    }
    CHECK_EQ(expand(""), STOKER_OK); // folders named by rank are one run
    CHECK_EQ(in.taken, 12);
    for (int i = 0; i < 12 && i < (int)in.taken; i++) {
        CHECK_EQ(in.entries[i].rank_hint, i);
    }
    CHECK(in.note == NULL);
    end();

    begin("runs");
    make_json("run_a/trace.json");
    make_json("run_b/trace.json");
    CHECK_EQ(expand(""), STOKER_OK); // folders that are not are runs
    CHECK_EQ(in.taken, 1);
    CHECK(in.note && strstr(in.note, "newest of 2 runs"));
    end();
}

static void test_nsys(void)
{
    begin("nsys");
    make("report1.nsys-rep", "x", 1);
    make("report1.sqlite", sqlite_head, sizeof sqlite_head);
    make("report1.sqlite-journal", "x", 1);
    make("report2.nsys-rep", "x", 1);
    make("zero.sqlite", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    CHECK_EQ(expand(""), STOKER_OK);
    CHECK_EQ(in.taken, 1);
    check_taken("report1.sqlite", true);
    check_taken("report1.nsys-rep", false);
    check_taken("report2.nsys-rep", false);
    check_taken("zero.sqlite", false);
    CHECK(entry("report1.nsys-rep") && strstr(entry("report1.nsys-rep")->why, "next to it"));
    CHECK(entry("report2.nsys-rep") && strstr(entry("report2.nsys-rep")->why, "nsys export"));
    CHECK_EQ(expand("/report1.nsys-rep"), STOKER_OK);
    CHECK_EQ(in.taken, 1);
    CHECK(in.taken && strstr(in.entries[0].path, "report1.sqlite") && in.entries[0].why);
    CHECK_EQ(expand("/report2.nsys-rep"), STOKER_EINPUT);
    CHECK(strstr(err.message, "nsys export --type=sqlite"));
    end();
}

// A seed of the fuzz tests that the reader is certain of: each reader has one, in the folder of its
// name. Returns its size; the bytes are the caller's to free.
static size_t seed_of(const struct stk_reader *r, char **bytes)
{
    char folder[512];
    size_t n = 0;
    *bytes = NULL;
    snprintf(folder, sizeof folder, "tests/fuzz/seeds/%s", r->name);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !*bytes && (e = readdir(d));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!f) {
            continue;
        }
        enum { SEED_MAX = 1 << 22 };
        char *p = malloc(SEED_MAX);
        n = p ? fread(p, 1, SEED_MAX, f) : 0;
        fclose(f);
        const char *why = NULL;
        if (n && r->sniff((const uint8_t *)p, n, &why) == 2) {
            *bytes = p;
        } else {
            free(p);
        }
    }
    if (d) {
        closedir(d);
    }
    return n;
}

// A folder that holds one file of that name, and the seed in it, is found and read.
static void check_suffix(const struct stk_reader *r, const struct stk_reader_suffix *s,
                         const char *packing, const char *seed, size_t n)
{
    char name[64];
    struct stk_trace *t = NULL;
    struct stoker_err why;
    begin("suffix");
    snprintf(name, sizeof name, "run%s%s", s->text, packing);
    make(name, seed, n);
    make("zz.txt", "x", 1);
    CHECK_EQ(expand(""), STOKER_OK);
    CHECK_EQ(in.taken, 1);
    check_taken(name, true);
    check_taken("zz.txt", false);
    stk_err_init(&why);
    CHECK_EQ(in.taken ? stk_reader_read_path(in.entries[0].path, 1, NULL, &t, &why) : STOKER_EINPUT,
             r->is_eventless ? STOKER_EUSAGE : STOKER_OK);
    stk_trace_free(t);
    make(name, "of another kind", 15); // the name fits, the content does not
    CHECK_EQ(expand(""), s->suffices ? STOKER_OK : STOKER_EINPUT);
    CHECK(s->suffices || strstr(err.message, r->mistaken));
    end();
}

// Every suffix of every reader's row, and the names of packed files, whether they are packed or
// not.
static void test_every_suffix(void)
{
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader *r = stk_readers[i];
        char *seed;
        size_t n = seed_of(r, &seed);
        CHECK(seed != NULL);
        CHECK(r->suffixes->text != NULL && r->files && r->mistaken);
        for (const struct stk_reader_suffix *s = r->suffixes; seed && s->text; s++) {
            check_suffix(r, s, "", seed, n);
            if (!r->opens_path) {
                check_suffix(r, s, ".gz", seed, n);
                check_suffix(r, s, ".zst", seed, n);
            }
        }
        free(seed);
    }
}

// Of a folder with one file of each format the one of the lowest rank is taken, and the records
// that go with any.
static void test_every_format(void)
{
    const struct stk_reader *first = stk_readers[0];
    char name[64];
    uint32_t taken = 1;
    begin("formats");
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader *r = stk_readers[i];
        char *seed;
        size_t n = seed_of(r, &seed);
        snprintf(name, sizeof name, "job%s", r->suffixes->text);
        make(name, seed, n);
        free(seed);
        first = r->folder_rank < first->folder_rank ? r : first;
        taken += r->goes_along;
    }
    CHECK_EQ(expand(""), STOKER_OK);
    CHECK_EQ(in.taken, taken);
    CHECK_EQ(in.left_out, stk_reader_count - (int)taken);
    snprintf(name, sizeof name, "job%s", first->suffixes->text);
    check_taken(name, true);
    for (uint32_t i = taken; i < in.count; i++) {
        CHECK(in.entries[i].why && strstr(in.entries[i].why, first->files));
    }
    end();
}

// What a row refuses by name is left out, and said.
static void test_every_stranger(void)
{
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader_stranger *s = stk_readers[i]->refuses;
        for (; s && s->text; s++) {
            if (!s->suffix && !s->part) {
                continue;
            }
            char name[64];
            begin("stranger");
            make("a.xplane.pb", "x", 1);
            snprintf(name, sizeof name, "b%s", s->suffix ? s->suffix : s->part);
            make(name, "x", 1);
            CHECK_EQ(expand(""), STOKER_OK);
            CHECK_EQ(in.taken, 1);
            const struct stk_input *e = entry(name);
            CHECK(e && !e->taken && strstr(e->why, s->text));
            CHECK(!s->export_command || (e && strstr(e->why, s->export_command)));
            end();
        }
    }
}

static void test_odd_places(void)
{
    char path[512], other[512];
    begin("odd");
    make("a/h.xplane.pb", "x", 1);
    snprintf(path, sizeof path, "%s/a/loop", root);
    CHECK_EQ(symlink(root, path), 0);
    snprintf(path, sizeof path, "%s/a/dangling.xplane.pb", root);
    CHECK_EQ(symlink("nowhere", path), 0);
    snprintf(path, sizeof path, "%s/a/h.xplane.pb", root);
    snprintf(other, sizeof other, "%s/a/same.xplane.pb", root);
    CHECK_EQ(symlink(path, other), 0);
    make("1/2/3/4/5/6/7/8/9/deep.xplane.pb", "x", 1);
    make("closed/h.xplane.pb", "x", 1);
    snprintf(path, sizeof path, "%s/closed", root);
    CHECK_EQ(chmod(path, 0), 0);
    CHECK_EQ(expand(""), STOKER_OK);
    check_taken("dangling.xplane.pb", false);
    check_taken("same.xplane.pb", false);
    check_taken("/9", false);
    if (getuid() != 0) {
        CHECK_EQ(in.taken, 1);
        check_taken("closed", false);
    }
    CHECK_EQ(chmod(path, 0700), 0);
    CHECK_EQ(expand("/missing"), STOKER_EINPUT);
    CHECK(strstr(err.message, strerror(ENOENT)));
    CHECK_EQ(expand("/1"), STOKER_OK); // the deep one is within reach from here
    end();

    begin("none");
    CHECK_EQ(expand(""), STOKER_EINPUT);
    CHECK(strstr(err.message, "no profile found"));
    make("readme.txt", "x", 1);
    CHECK_EQ(expand(""), STOKER_EINPUT);
    end();
}

static void test_several_paths(void)
{
    begin("several");
    make_json("a.json");
    make_json("b.json");
    char a[512], b[512], gone[512];
    snprintf(a, sizeof a, "%s/a.json", root);
    snprintf(b, sizeof b, "%s/b.json", root);
    snprintf(gone, sizeof gone, "%s/gone.json", root);
    const char *all[] = {b, a, gone, a, "-"};
    CHECK_EQ(stk_inputs_expand(all, 5, &arena, &in, &err), STOKER_OK);
    CHECK_EQ(in.taken, 3);
    CHECK_EQ(in.left_out, 2);
    const char *twice[] = {"-", "-"};
    CHECK_EQ(stk_inputs_expand(twice, 2, &arena, &in, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_inputs_expand(twice, 0, &arena, &in, &err), STOKER_EUSAGE);
    const char *none[] = {gone, gone};
    CHECK_EQ(stk_inputs_expand(none, 2, &arena, &in, &err), STOKER_EINPUT);
    end();
}

static void test_ranks(void)
{
    const char *note;
    stk_arena_init(&arena, 0);
    struct stk_input_rank content[] = {{"b", 1, -1}, {"a", 0, 7}};
    CHECK_EQ(stk_inputs_check_ranks(content, 2, &arena, &note, &err), STOKER_OK);
    CHECK(content[0].rank == 1 && content[1].rank == 0 && !note);
    struct stk_input_rank twice[] = {{"a", 0, -1}, {"b", 0, -1}};
    CHECK_EQ(stk_inputs_check_ranks(twice, 2, &arena, &note, &err), STOKER_EUSAGE);
    CHECK(strstr(err.message, "stoker diff a b"));
    struct stk_input_rank hints[] = {{"a", -1, 3}, {"b", -1, 3}};
    CHECK_EQ(stk_inputs_check_ranks(hints, 2, &arena, &note, &err), STOKER_EUSAGE);
    struct stk_input_rank none[] = {{"h10", -1, -1}, {"h9", -1, -1}, {"h1", 0, -1}};
    CHECK_EQ(stk_inputs_check_ranks(none, 3, &arena, &note, &err), STOKER_OK);
    CHECK(none[0].rank == 2 && none[1].rank == 1 && none[2].rank == 0);
    CHECK(note && strstr(note, "2 of 3"));
    struct stk_input_rank mixed[] = {{"a", 1, -1}, {"b", -1, 1}};
    CHECK_EQ(stk_inputs_check_ranks(mixed, 2, &arena, &note, &err), STOKER_OK);
    CHECK(mixed[0].rank == 1 && mixed[1].rank == 0); // content displaces the name's hint
    struct stk_input_rank one[] = {{"a", -1, 5}};
    CHECK_EQ(stk_inputs_check_ranks(one, 1, &arena, &note, &err), STOKER_OK);
    CHECK_EQ(one[0].rank, -1);
    stk_arena_deinit(&arena);
}

static void test_memory(void)
{
    begin("memory");
    make_json("rank0/trace.json");
    make_json("rank1/trace.json");
    make_json("old/a.1694128201545.pt.trace.json");
    CHECK_EQ(expand(""), STOKER_OK);
    uint32_t taken = in.taken, count = in.count;
    for (int sticky = 0; sticky < 2; sticky++) {
        for (uint64_t n = 1; n < 400; n++) {
            stk_alloc_fail_at(n, sticky);
            enum stoker_status status = expand("");
            stk_alloc_fail_at(0, 0);
            CHECK(status == STOKER_ENOMEM || (status == STOKER_OK && in.taken == taken));
            CHECK(status != STOKER_OK || in.count == count);
            stk_arena_deinit(&arena);
            stk_arena_init(&arena, 0);
        }
    }
    end();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_rank_names);
    CHECK_RUN(test_tensorboard);
    CHECK_RUN(test_kineto);
    CHECK_RUN(test_nsys);
    CHECK_RUN(test_every_suffix);
    CHECK_RUN(test_every_format);
    CHECK_RUN(test_every_stranger);
    CHECK_RUN(test_odd_places);
    CHECK_RUN(test_several_paths);
    CHECK_RUN(test_ranks);
    CHECK_RUN(test_memory);
    return check_done("unit.inputs");
}
