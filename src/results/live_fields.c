// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker top --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/live.h"

#define COUNTERS_DOC "by its name in docs/sampler.md, without what stands before the point"

static const struct stk_field finding_fields[] = {
    ROW("id", TEXT, stk_live_doc_finding, id, NULL, NULL, "of the rule"),
    ROW("title", TEXT, stk_live_doc_finding, title, NULL, NULL, "of it"),
    ROW("evidence", TEXT, stk_live_doc_finding, evidence, NULL, NULL, "a sentence"), END};
INFO(finding, sizeof(struct stk_live_doc_finding));

static const struct stk_field rank_fields[] = {
    ROW_IF("rank", NUMBER, stk_live_doc_rank, rank, has_rank, NULL, "absent: none"),
    ROW("pid", COUNT, stk_live_doc_rank, pid, NULL, NULL, "process"),
    ROW_MAYBE("framework", stk_live_doc_rank, framework, NULL, "that steps"),
    ROW("steps", COUNT, stk_live_doc_rank, steps, NULL, NULL, "made"),
    ROW_IF("step_now_ns", NS, stk_live_doc_rank, step_now_ns, has_now, NULL, "of the last moments"),
    ROW_IF("step_median_ns", NS, stk_live_doc_rank, step_median_ns, has_median, NULL, "of all"),
    ROW_IF("steps_per_second", REAL, stk_live_doc_rank, steps_per_second, has_rate, NULL, "now"),
    ROW_IF("input_wait_share", REAL, stk_live_doc_rank, input_wait_share, has_wait, NULL,
           "of the step"),
    ROW_IF("since_last_step_s", REAL, stk_live_doc_rank, since_last_step_s, has_age, NULL,
           "seconds"),
    ROW("window", TEXT, stk_live_doc_rank, window, NULL, "none|open|done|left",
        "of the framework's profiler"),
    END};
INFO(rank, sizeof(struct stk_live_doc_rank));

static const struct stk_field thread_fields[] = {
    ROW("tid", NUMBER, stk_live_doc_thread, tid, NULL, NULL, "thread"),
    ROW("name", TEXT, stk_live_doc_thread, name, NULL, NULL, "its name"),
    ROW("cpu", REAL, stk_live_doc_thread, cpu, NULL, NULL, "processors"),
    ROW("queue", REAL, stk_live_doc_thread, queue, NULL, NULL, "processors it waited for"),
    ROW("is_blocked", BOOL, stk_live_doc_thread, is_blocked, NULL, NULL,
        "in uninterruptible sleep at the last scan"),
    END};
INFO(thread, sizeof(struct stk_live_doc_thread));

static const struct stk_field process_fields[] = {
    ROW("pid", NUMBER, stk_live_doc_process, pid, NULL, NULL, "process"),
    ROW("name", TEXT, stk_live_doc_process, name, NULL, NULL, "its name"),
    ROW_IF("parent", NUMBER, stk_live_doc_process, parent, has_parent, NULL,
           "process that began it"),
    ROW("cpu", REAL, stk_live_doc_process, cpu, NULL, NULL, "processors its threads ran on"),
    ROW("queue", REAL, stk_live_doc_process, queue, NULL, NULL, "processors they waited for"),
    ROW("COUNTER", REAL_MEMBERS, stk_live_doc_process, counters, NULL, NULL, COUNTERS_DOC),
    ROW("busiest_threads", LIST, stk_live_doc_process, busiest_threads, &thread, NULL, "some"),
    END};
INFO(process, sizeof(struct stk_live_doc_process));

static const struct stk_field thing_fields[] = {
    ROW("number", NUMBER, stk_live_doc_thing, number, NULL, NULL, "in the record"),
    ROW("name", TEXT, stk_live_doc_thing, name, NULL, NULL, "of the device"),
    ROW("COUNTER", REAL_MEMBERS, stk_live_doc_thing, counters, NULL, NULL, COUNTERS_DOC), END};
INFO(thing, sizeof(struct stk_live_doc_thing));

static const struct stk_field live_fields[] = {
    ROW("schema", TEXT, stk_live_doc, schema, NULL, STK_LIVE_SCHEMA,
        "name and version of this contract"),
    ROW("time_ns", NS, stk_live_doc, time_ns, NULL, NULL, "of the day"),
    ROW("state", TEXT, stk_live_doc, state, NULL, "running|silent|ended",
        "of the job; silent: its record does not grow"),
    ROW("sentence", TEXT, stk_live_doc, sentence, NULL, NULL, "what holds it"),
    ROW_MAYBE("folder", stk_live_doc, folder, NULL, "of the run"),
    ROW("sampled_by", TEXT, stk_live_doc, sampled_by, NULL, "stoker top|stoker run", "who samples"),
    ROW("findings", LIST, stk_live_doc, findings, &finding, NULL, "of the machine's rules"),
    ROW("ranks", LIST, stk_live_doc, ranks, &rank, NULL, "processes that step"),
    ROW_IF("window_s", REAL, stk_live_doc, window_s, has_machine, NULL,
           "seconds that the figures below cover"),
    ROW_IF("job", REAL_MAP, stk_live_doc, job, has_machine, NULL,
           "counters of the job, " COUNTERS_DOC),
    ROW_IF("machine", REAL_MAP, stk_live_doc, machine, has_machine, NULL,
           "counters of the machine, " COUNTERS_DOC),
    ROW_IF("processes", LIST, stk_live_doc, processes, has_machine, &process, "the busiest"),
    ROW_IF("processes_left_out", LEFT_OUT, stk_live_doc, processes, has_machine, NULL,
           "beyond these"),
    ROW_IF("disks", LIST, stk_live_doc, disks, has_machine, &thing, "with their counters"),
    ROW_IF("gpus", LIST, stk_live_doc, gpus, has_machine, &thing, "with their counters"),
    ROW_IF("absent", WORDS, stk_live_doc, absent, has_machine, NULL,
           "sources that could not be read, and why"),
    END};
const struct stk_struct_info stk_live_info = {"live", sizeof(struct stk_live_doc), live_fields};
