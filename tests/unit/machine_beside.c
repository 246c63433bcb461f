// SPDX-License-Identifier: Apache-2.0
// A machine record next to a profile, in one folder: it is read for the profile's time, isn't a
// rank, leaves the verdict unchanged, and its findings and tables are there. Alone it can't give a
// verdict, and reports what it saw. One from another time is used as a whole, and the report says
// so.
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "stoker/report.h"
#include "stoker/stats.h"
#include "wire/samples.h"
#include "wire/wire_write.h"

#define SECOND INT64_C(1000000000)
#define STEPS 20
#define STEP_NS INT64_C(200000000)

static char folder[64], profile[96], record[96];

static struct text {
    char *p;
    size_t n;
} out;

static int append(void *arg, const char *p, size_t n)
{
    struct text *t = arg;
    t->p = realloc(t->p, t->n + n + 1);
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
    return 0;
}

// Steps that wait for their input for 60% of their time, from real_ns on.
static void write_profile(uint64_t real_ns)
{
    FILE *f = fopen(profile, "w");
    CHECK(f != NULL);
    fprintf(f, "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": %llu, \"traceEvents\": [\n",
            (unsigned long long)real_ns);
    for (int i = 0; i < STEPS; i++) {
        double us = (double)i * STEP_NS / 1e3;
        static const struct {
            const char *cat, *name;
            double at, dur;
        } rows[] = {{"user_annotation", "ProfilerStep#", 0, 200000},
                    {"user_annotation",
                     "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 100, 120000},
                    {"cpu_op", "aten::mm", 121000, 78000}};
        for (int k = 0; k < 3; k++) {
            char number[16] = "";
            if (k == 0) {
                snprintf(number, sizeof number, "%d", i);
            }
            fprintf(
                f,
                "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s%s\", \"pid\": 10, \"tid\": 10, "
                "\"ts\": %.3f, \"dur\": %.3f},\n",
                rows[k].cat, rows[k].name, number, us + rows[k].at, rows[k].dur);
        }
    }
    fprintf(f, "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 10, \"tid\": 10, \"ts\": 0, "
               "\"args\": {\"name\": \"python\"}}\n]}\n");
    CHECK(fclose(f) == 0);
}

static struct stk_wire_writer *writer;
static uint32_t names[STK_SAMPLE_COUNT];

static void put(enum stk_sampled id, uint32_t track, uint64_t ns, double value)
{
    struct stk_wire_counter c = {.time_ns = ns, .name = names[id], .track = track, .value = value};
    stk_wire_put(writer, STK_WIRE_COUNTERS, &c, sizeof c, ns, ns);
}

// Looks every second for 20 s before and after now; the group is throttled from now on.
static void write_record(uint64_t mono_ns, bool ends)
{
    struct stk_wire_file *file;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK(stk_wire_create(&file, record, STK_SAMPLE_PRODUCER " 0.1.0", &err) == STOKER_OK);
    writer = stk_wire_writer_open(file);
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        names[i] = stk_wire_string(writer, stk_sample_info((enum stk_sampled)i)->name);
    }
    uint32_t python = stk_wire_string(writer, "python");
    uint32_t thread = stk_wire_track(writer, STK_WIRE_SAMPLED, 10, 10, python);
    uint32_t process = stk_wire_track(writer, STK_WIRE_SAMPLED, 0, 10, python);
    put(STK_SAMPLE_OF_PROCESS_PARENT, process, mono_ns - 20 * SECOND, 1);
    put(STK_SAMPLE_OF_CGROUP_QUOTA, 0, mono_ns - 20 * SECOND, 2);
    for (int i = -20; i < 20; i++) {
        uint64_t ns = mono_ns + (uint64_t)(i * SECOND);
        put(STK_SAMPLE_OF_TICK, 0, ns, SECOND);
        put(STK_SAMPLE_OF_THREAD_CPU, thread, ns, 0.5);
        put(STK_SAMPLE_OF_JOB_CPU, 0, ns, 0.5);
        if (i >= 0) {
            put(STK_SAMPLE_OF_CGROUP_PERIODS, 0, ns, 0.31);
        }
    }
    stk_wire_writer_close(writer);
    CHECK(stk_wire_close(file, ends, &err) == STOKER_OK);
}

static const char *why(void)
{
    const char *paths[] = {folder};
    struct stoker_result *r = NULL;
    struct stoker_err err;
    out.n = 0;
    append(&out, "", 0);
    enum stoker_status s = stoker_why(paths, 1, NULL, &r, &err);
    CHECK_EQ(s, STOKER_OK);
    if (s == STOKER_OK) {
        CHECK_EQ(stoker_result_write(r, "json", NULL, append, &out, NULL), STOKER_OK);
    }
    stoker_result_free(r);
    return out.p;
}

static const char *machine_table(void)
{
    const char *paths[] = {folder};
    struct stoker_tables *t = NULL;
    struct stoker_err err;
    out.n = 0;
    append(&out, "", 0);
    CHECK_EQ(stoker_stats("machine", paths, 1, NULL, &t, &err), STOKER_OK);
    if (t) {
        CHECK_EQ(stoker_tables_write(t, "json", NULL, NULL, append, &out, NULL), STOKER_OK);
    }
    stoker_tables_free(t);
    return out.p;
}

static bool has(const char *text, const char *part)
{
    bool is_there = strstr(text, part) != NULL;
    if (!is_there) {
        fprintf(stderr, "not there: %s\n", part);
    }
    return is_there;
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    uint64_t mono_ns = stk_clock_ns(), real_ns = stk_clock_of(CLOCK_REALTIME);
    strcpy(folder, "/tmp/stoker-beside-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(profile, sizeof profile, "%s/rank0.pt.trace.json", folder);
    snprintf(record, sizeof record, "%s/machine.stk", folder);
    write_profile(real_ns);
    char *alone = strdup(why());
    CHECK(has(alone, "\"kind\": \"input-bound\"") && !strstr(alone, "cgroup-throttled\", \"title"));
    write_record(mono_ns, true);
    const char *both = why();
    CHECK(has(both, "\"kind\": \"input-bound\"") && has(both, "\"ranks\": [0]"));
    CHECK(has(both, "The cgroup was throttled 31% of the time"));
    CHECK(!strstr(both, "of the whole run"));
    const char *tables = machine_table();
    CHECK(has(tables, "cgroup.throttled_periods") && has(tables, "\"of_profile\": true"));
    // An hour later, not earlier: the machine may have started less than an hour ago.
    write_record(mono_ns + 4000 * SECOND, false); // and the sampler was killed
    CHECK(has(why(), "The machine's figures cover the whole run, not just the profile"));
    CHECK(has(machine_table(), "\"of_profile\": false"));
    unlink(profile);
    write_record(mono_ns, true);
    const char *record_alone = why();
    CHECK(has(record_alone, "\"kind\": \"cannot-tell\""));
    CHECK(has(record_alone, "The cgroup was throttled"));
    unlink(record);
    rmdir(folder);
    free(alone);
    free(out.p);
    return check_done("unit.machine_beside");
}
