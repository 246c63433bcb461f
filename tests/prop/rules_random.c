// SPDX-License-Identifier: Apache-2.0
// For any run, findings are well formed: shares are in 0..1, words are known, evidence and advice
// are present, the order is right, every rule is accounted for, and a second run gives the same
// answer.
#include "rules_run.h"

static struct fake f;
static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t n)
{
    return next() % n;
}

// Small, middling or huge: as much as a count of events or a time of days can be.
static uint64_t any_count(void)
{
    static const uint64_t tops[] = {1, 10, 1000, 1000000, UINT32_MAX};
    return below(tops[below(5)] + 1);
}

static int64_t any_ns(void)
{
    static const int64_t tops[] = {1, 1000, 1000000, 600000000, INT64_C(600000000000000)};
    return (int64_t)below((uint64_t)tops[below(5)] + 1);
}

static void random_steps(void)
{
    for (uint32_t i = 0; i < f.run.step_count; i++) {
        struct stk_step *s = &f.steps[i];
        int64_t left = s->dur_ns = any_ns();
        memset(s->parts, 0, sizeof s->parts);
        for (int k = 0; k < 3; k++) {
            int64_t ns = (int64_t)below((uint64_t)left + 1);
            s->parts[below(STK_PART_COUNT)] += ns;
            left -= ns;
        }
        s->parts[STK_PART_COMPUTE] += left;
        if (below(6) == 0) {
            s->excluded = "first step";
        }
    }
    // Totals cover the used steps only.
    memset(f.run.parts, 0, sizeof f.run.parts);
    f.run.wall_ns = 0;
    f.run.steps_used = 0;
    for (uint32_t i = 0; i < f.run.step_count; i++) {
        if (f.steps[i].excluded) {
            continue;
        }
        f.run.wall_ns += f.steps[i].dur_ns;
        f.run.steps_used += i < FAKE_STEPS;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            f.run.parts[p] += f.steps[i].parts[p];
        }
    }
}

static void random_facts(void)
{
    struct stk_facts *x = &f.run.facts;
    x->device_ops = any_count();
    x->unlinked_ops = below(x->device_ops + 1);
    x->launches = any_count();
    x->launches_without_work = below(x->launches + 1);
    x->serialized_launches = below(x->launches + 1);
    x->copies = any_count();
    x->pageable_copies = below(x->copies + 1);
    x->pinned_copies = below(x->copies + 1);
    x->negative_delays = any_count();
    x->worst_negative_ns = any_ns();
    x->startup_ns = any_ns();
    x->compile_recurring_ns = (int64_t)below((uint64_t)f.run.parts[STK_PART_COMPILE] + 1);
    x->profiler_overhead_ns = any_ns();
    x->loader_fetches = any_count();
    x->loader_fetch_ns = any_ns();
    x->input_asleep_ns = any_ns();
    x->sync_calls = any_count();
    x->alloc_calls = any_count();
    x->python_events = below(2);
    x->frameworks = (uint32_t)below(1u << STK_FW_COUNT);
    x->has_device_rows = below(8) != 0;
    x->has_launch_rows = below(4) != 0;
    x->host_event_fill = (double)below(101) / 100;
    x->unknown_accelerator = below(20) == 0;
    f.devices[0].short_kernels = below(501);
    f.devices[0].kind = below(4) == 0 ? STK_DEVICE_TPU : STK_DEVICE_GPU;
    f.rank[0].cold_ns = any_ns();
}

static void random_names(void)
{
    static const char *const names[] = {
        "",
        "cudaLaunchKernel",
        "hipFree in aten::convolution_backward",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "IteratorGetNext::DoCompute",
        "train.py(12): main",
        "ncclDevKernel_AllGather_RING_LL",
        "aten::item",
        "ampere_bf16_s16816gemm",
        "copy-done.2",
        "MPI_Recv"};
    for (int p = 0; p < STK_PART_COUNT; p++) {
        struct stk_cause *c = &f.run.causes[p];
        for (uint64_t n = below(4); n > 0; n--) {
            fake_name(&f, p, names[below(sizeof names / sizeof names[0])]);
        }
        if (c->example_count > 0) {
            c->examples[0].step = (int64_t)below(3) - 1;
        }
    }
}

static bool is_word(const char *s, const char *const *words)
{
    for (; s && *words; words++) {
        if (strcmp(s, *words) == 0) {
            return true;
        }
    }
    return false;
}

static void check_finding(const struct stk_rep_finding *x)
{
    static const char *const bases[] = {"bound", "none", NULL};
    const struct stk_rep_evidence *e = x->evidence.items;
    CHECK(x->title && x->title[0] && x->severity < STK_LEVEL_NONE &&
          x->confidence <= STK_LEVEL_LOW);
    CHECK(is_word(x->saving.basis, bases));
    CHECK(x->saving.has_high == (strcmp(x->saving.basis, "bound") == 0));
    CHECK(!x->saving.has_high || (x->saving.high_share >= 0 && x->saving.high_share <= 1));
    CHECK(x->evidence.count > 0 && x->fix.count > 0 && x->steps_affected <= FAKE_STEPS);
    for (size_t i = 0; i < x->evidence.count; i++) {
        CHECK(e[i].text && e[i].text[0] && !strstr(e[i].text, "nan") && !strstr(e[i].text, "inf "));
    }
}

static void check_report(void)
{
    size_t fired = 0;
    const struct stk_rep_rule *rows = f.report.rules.items;
    const struct stk_rep_finding *x = f.report.findings.items;
    for (size_t i = 0; i < f.report.rules.count; i++) {
        fired += strcmp(rows[i].state, "fired") == 0;
        CHECK(rows[i].why && rows[i].why[0]);
    }
    CHECK_EQ(fired, f.report.findings.count);
    for (size_t i = 0; i < f.report.findings.count; i++) {
        check_finding(&x[i]);
    }
    // Each verdict has a finding of its own; of several losses, one of them.
    unsigned kinds =
        f.verdict.kind == STK_VERDICT_MIXED ? ~(1u << STK_VERDICT_COMPUTE) : 1u << f.verdict.kind;
    bool explained = false;
    for (size_t i = 0; i < f.report.findings.count; i++) {
        explained |= (stk_rule_find(x[i].id)->verdicts & kinds) != 0;
    }
    CHECK(explained);
    if (!explained) {
        fprintf(stderr, "nothing explains: %s\n", f.verdict.sentence);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (int round = 0; round < 3000; round++) {
        enum stk_scope scope = below(4) == 0 ? STK_SCOPE_HOST : STK_SCOPE_STEPS;
        fake_init(&f, 1 + (uint32_t)below(FAKE_RANKS), scope);
        random_steps();
        random_facts();
        random_names();
        if (f.run.rank_count > 1 && below(3) == 0) {
            f.run.straggler = (struct stk_straggler){.fired = below(2),
                                                     .rank = 1,
                                                     .wait_ns = any_ns(),
                                                     .wait_share = 0.2,
                                                     .held_share = 0.7,
                                                     .matched = (uint32_t)below(20),
                                                     .clocks_agree = below(2)};
        }
        fake_ask(&f);
        CHECK_RUN(check_report);
        size_t count = f.report.findings.count;
        const char *first =
            count ? ((const struct stk_rep_finding *)f.report.findings.items)->id : "";
        fake_ask(&f);
        CHECK_EQ(f.report.findings.count, count);
        CHECK(!count ||
              strcmp(((const struct stk_rep_finding *)f.report.findings.items)->id, first) == 0);
        fake_done(&f);
    }
    return check_done("prop.rules_random");
}
