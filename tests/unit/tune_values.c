// SPDX-License-Identifier: Apache-2.0
// Which values of a fix are tried, by the job's facts: none that a trial's run couldn't show, and
// none that the user set. Also, the variable's value then.
#include "job/tune/choice.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct stk_tune_values values;

// Workers that stay, in a job of two workers and epochs of `batches`.
static bool stays(const char *batches, uint64_t run_steps)
{
    struct stk_tune_facts facts;
    stk_facts_init(&facts);
    stk_facts_set(&facts, "torch.dataloader.num_workers", "2");
    stk_facts_set(&facts, "torch.dataloader.batches", batches);
    facts.run_steps = run_steps;
    values = (struct stk_tune_values){.count = 0};
    stk_values_torch_dataloader_persistent_workers(&facts, &values);
    stk_facts_deinit(&facts);
    return values.count == 1;
}

static void workers_stay_where_a_run_sees_an_epoch_end(void)
{
    CHECK(stays("20", 54));
    CHECK(stays("53", 54));
    CHECK(!stays("54", 54));
    CHECK(!stays("400", 54));
    CHECK(strstr(values.why, "a run has 54 steps, and only a second epoch, after 400"));
    CHECK(!stays("1001", 5000));
    CHECK(strstr(values.why, "start only every 1001 steps"));
    CHECK(stays("400", 0)); // nobody knows yet how long a run is
    CHECK(stays("-3", 54)); // no length
}

static void memory_is_kept_where_nobody_said_how_much(void)
{
    static const struct {
        const char *name, *text;
        bool is_tried;
    } cases[] = {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", true},
                 {"GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1000", false},
                 {"GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1000", false},
                 {"MALLOC_TRIM_THRESHOLD_", "1000", false},
                 {"LD_PRELOAD", "/usr/lib/libjemalloc.so.2", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv(cases[i].name, cases[i].text, true);
        values = (struct stk_tune_values){.count = 0};
        stk_values_process_keep_memory(NULL, &values);
        CHECK_EQ(values.count, (int)cases[i].is_tried);
        unsetenv(cases[i].name);
    }
}

// What it could save follows from the pages that each step takes.
static void pages_are_priced(void)
{
    struct stk_tune_facts facts;
    stk_facts_init(&facts);
    double (*saving)(const struct stk_tune_facts *, double) = stk_saving_process_keep_memory;
    CHECK(saving(&facts, 0.01) < 0); // nobody counted
    stk_facts_set(&facts, "process.faults", "0");
    CHECK(saving(&facts, 0.01) == 0);
    stk_facts_set(&facts, "process.faults", "3000");
    double share = saving(&facts, 0.01); // a page takes 0.05 to 40 us
    CHECK_SAY(share > 0.015 && share < 12, "3,000 pages are %.3f of 10 ms", share);
    stk_facts_deinit(&facts);
}

static void text_is(const char *now, const char *wanted)
{
    char text[STK_TUNE_LINE];
    struct stoker_err err;
    struct stk_tune_choice pages = {.fix = stk_tune_fix_find("process.huge_pages", &err)};
    stk_tune_set_variable(&pages, now, text, sizeof text);
    CHECK_STR(text, wanted);
}

static void settings_of_the_c_library_are_a_list(void)
{
    text_is(NULL, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
    text_is("glibc.malloc.check=1", "GLIBC_TUNABLES=glibc.malloc.check=1:glibc.malloc.hugetlb=1");
}

static const struct stk_tune_values *of(const char *id, bool has_gpu)
{
    struct stk_tune_facts facts = {.has_gpu = has_gpu};
    struct stoker_err err;
    values = (struct stk_tune_values){.count = 0};
    stk_tune_values(stk_tune_fix_find(id, &err), &facts, &values);
    return &values;
}

// Values that no function computes are in the text.
static void texts_have_values(void)
{
    CHECK(of("torch.autocast", false)->count == 1 && strcmp(values.at[0], "True") == 0);
    CHECK(of("torch.tf32", false)->count == 0);
    CHECK_STR(values.why, "there is no GPU");
    CHECK(of("jax.pgle", true)->count == 1 && values.at[0][0] == 0);
    setenv("JAX_ENABLE_PGLE", "true", true);
    CHECK(of("jax.pgle", true)->count == 0);
    CHECK_STR(values.why, "JAX_ENABLE_PGLE is set already");
    unsetenv("JAX_ENABLE_PGLE");
    CHECK(of("tf.gpu_thread_mode", true)->count == 1 && strcmp(values.at[0], "gpu_private") == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    unsetenv("GLIBC_TUNABLES");
    unsetenv("LD_PRELOAD");
    CHECK_RUN(workers_stay_where_a_run_sees_an_epoch_end);
    CHECK_RUN(memory_is_kept_where_nobody_said_how_much);
    CHECK_RUN(pages_are_priced);
    CHECK_RUN(texts_have_values);
    CHECK_RUN(settings_of_the_c_library_are_a_list);
    return check_done("unit.tune_values");
}
