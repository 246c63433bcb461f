// SPDX-License-Identifier: Apache-2.0
// The result of `stoker why`, as neutral structs that mirror the JSON contract field by field
// (docs/report.md is generated from the tables in results/fields.c). Passes and rules fill it,
// outputs print it; neither knows the other. Everything lives in the result's arena.
//
// A value that may be unknown has a `has_` member; lists are arrays with a count.
#ifndef STK_REPORT_REPORT_H
#define STK_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/terms.h"
#include "fixes/fixes.h" // struct stk_rep_fix
#include "results/evidence.h"
#include "results/field.h"

#define STK_REPORT_SCHEMA "stoker.report/1"

struct stk_rep_input {
    const char *path, *format, *producer; // format and producer may be NULL
    bool has_bytes;
    uint64_t bytes;
    struct stk_list ranks; // int64_t
};
struct stk_rep_issue {
    const char *id;
    enum stk_severity severity;
    uint64_t count;
    const char *meaning, *remedy, *example;
};
struct stk_rep_profile {
    struct stk_list inputs; // stk_rep_input
    int64_t base_ns;
    struct {
        uint64_t read, dropped;
        struct stk_list by_kind; // stk_entry used as key -> count
    } events;
    struct stk_list issues; // stk_rep_issue
    struct {
        const char *status;  // good|limited|unusable
        struct stk_list why; // texts
    } health;
    struct stk_list selection; // texts: what was selected, empty if everything
    bool is_cut;               // an input ends early
    uint64_t cut_steps;
    bool has_whole_until;
    int64_t whole_until_ns;
};
struct stk_rep_device {
    const char *id, *source_id, *name, *host;
    int64_t rank;
    bool has_span; // any device operation: first_ns, span_ns and idle_ns are known
    int64_t first_ns, span_ns, busy_ns, idle_ns;
    int64_t kernel_ns, compute_ns, communication_ns, communication_exposed_ns;
    struct {
        int64_t h2d, d2h, d2d, p2p;
    } transfer_ns;
    int64_t transfer_exposed_ns;
    uint64_t kernels, short_kernels;
};
struct stk_rep_excluded {
    int64_t step;
    const char *why;
};
struct stk_rep_step {
    int64_t number;
    const char *device; // NULL for host steps
    int64_t start_ns, dur_ns;
    bool has_host;
    int64_t host_start_ns, host_dur_ns;
    struct stk_list parts; // stk_entry, parts of 0 left out
};
struct stk_rep_steps {
    const char *source; // annotated|framework|inferred|none
    bool has_confidence;
    double confidence;
    uint64_t count, used;
    bool has_batches;
    uint64_t batches;         // that each step fetches, where it is more than one
    struct stk_list excluded; // stk_rep_excluded
    bool has_times;
    int64_t median_ns, mean_ns, p95_ns;
    struct stk_list list; // stk_rep_step
};
struct stk_rep_part {
    const char *id;
    // For people, not in the JSON: short name, and the cause it counts for.
    const char *label, *group;
    int64_t ns;
    double share;
};
struct stk_rep_left_out {
    const char *id, *why;
};
struct stk_rep_breakdown {
    const char *scope;     // steps|span|host; NULL where there is nothing to break down
    struct stk_list parts; // stk_rep_part, all ids in order
    bool has_median_step;
    struct {
        int64_t number;
        const char *device;
        struct stk_list parts;
    } median_step;
    struct stk_list devices_left_out; // stk_rep_left_out
};
struct stk_rep_verdict {
    enum stk_verdict_kind kind;
    const char *sentence;
    enum stk_level confidence;
};
struct stk_rep_evidence {
    const char *id, *text, *track;
    struct stk_list values; // stk_value, those that are known
    bool has_time;
    int64_t start_ns, dur_ns;
};
// What a step takes with a fix taken so far: shares of the step are what it saves.
struct stk_rep_level {
    enum stk_effort effort;
    const char *text;  // "about 3 background workers"
    const char *price; // the what-if that says so
    bool has_count;
    uint64_t count; // of workers or requests
    double low_share, expected_share, high_share;
    bool has_step;
    int64_t step_ns, low_ns, high_ns; // low_ns: of the shortest step
};
struct stk_rep_finding {
    const char *id, *title;
    enum stk_topic kind;
    enum stk_level severity, confidence;
    struct {
        bool has_low, has_expected, has_high;
        double low_share, expected_share, high_share;
        const char *basis; // replay|bound|none
    } saving;
    struct stk_list levels; // stk_rep_level, the least effort first
    uint64_t steps_affected;
    struct stk_list evidence; // stk_rep_evidence
    struct stk_list fix;      // stk_rep_fix, the framework in use first
    bool has_source;
    struct {
        const char *file;
        int64_t line;
    } source;
    const char *explain; // "stoker explain input-wait"
    uint64_t priced;     // bit k: the what-if of fix k applies here; for people, not in the JSON
};
// The step with the first fix, for the first screen.
struct stk_rep_outlook {
    const char *finding; // its id
    const char *basis;   // replay|bound
    double share;        // that stays of the step; of a bound, at the least
    double low_share, high_share;
    bool has_step;
    int64_t now_ns, step_ns, low_ns, high_ns;
};
struct stk_rep_rule {
    const char *id, *state, *why; // fired|passed|not_applicable|skipped
};
struct stk_report {
    const char *schema; // STK_REPORT_SCHEMA
    struct {
        const char *version;
    } stoker;
    struct stk_rep_profile profile;
    struct stk_list devices; // stk_rep_device
    struct stk_rep_steps steps;
    struct stk_rep_breakdown breakdown;
    struct stk_rep_verdict verdict;
    bool has_outlook;
    struct stk_rep_outlook outlook;
    struct stk_list findings; // stk_rep_finding, most valuable first
    struct stk_list rules;    // stk_rep_rule
    // For people, not in the JSON: the job's command and the profile as a shell takes them (NULL:
    // not known, or not to be told).
    const char *command, *given;
};

// Field table of struct stk_report; from it the JSON, the schema and the docs.
extern const struct stk_struct_info stk_report_info;
extern const struct stk_struct_info stk_profile_info; // of struct stk_rep_profile
extern const struct stk_struct_info stk_verdict_info; // of struct stk_rep_verdict

#endif
