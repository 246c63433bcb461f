// SPDX-License-Identifier: Apache-2.0
// Advice suits the job: its own optimizer, what it launches as graphs already, the devices it has.
#include "profile/model/calls_seen.h"
#include "rules_run.h"

static struct fake f;

// Advice about the optimizer speaks of the one that runs.
static void own_optimizer(void)
{
    static const struct {
        const char *recorded, *advice;
    } rows[] = {
        {"Optimizer.step#SGD.step", "torch.optim.SGD(model.parameters(), lr=lr, fused=True)"},
        {"Optimizer.zero_grad#AdamW.zero_grad", "torch.optim.AdamW("},
        {"Optimizer.step#RMSprop.step", "foreach=True"},
        {"torch/optim/optimizer.py(493): Optimizer.step", "others: foreach=True"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_init(&f, 1, STK_SCOPE_STEPS);
        fake_part(&f, STK_PART_LAUNCH, 0.3, -1);
        f.devices[0].short_kernels = 400;
        fake_name(&f, STK_PART_LAUNCH, rows[i].recorded);
        fake_ask(&f);
        CHECK_EQ(advises(fake_finding(&f, "host-bound"), rows[i].advice), 1);
        fake_done(&f);
    }
}

// Code to paste that edits a call is printed where the profile shows that call.
static void calls_it_edits(uint32_t seen, bool is_printed)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.3, -1);
    f.devices[0].short_kernels = 400;
    f.run.facts.calls_seen = seen;
    fake_name(&f, STK_PART_LAUNCH, "Optimizer.step#SGD.step");
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "update all parameters in one call") == 1);
    CHECK_EQ(advises(x, "fused=True") == 1, is_printed);
    CHECK(advises(x, "torch.compile(") == 0); // edits no call of the program
    fake_done(&f);
}

// On a CPU foreach can take longer than the loop: without a replay it isn't advised.
static void foreach_on_cpu(const char *recorded, bool is_advised)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_name(&f, STK_PART_COMPUTE, recorded);
    f.run.causes[STK_PART_COMPUTE].names[0].ns = f.run.wall_ns / 4;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "compute-bound");
    CHECK_EQ(x->id && advises(x, "Let the optimizer update") >= 0, is_advised);
    fake_done(&f);
}

// What is launched as a graph already is not advised to be.
static void graphs_already(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.15, -1);
    f.devices[0].short_kernels = 400;
    f.run.causes[STK_PART_LAUNCH].ns = 6000000;
    fake_name(&f, STK_PART_LAUNCH, "cudaGraphLaunch");
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(strstr(x->title, "idles at graph launches") != NULL);
    CHECK(advises(x, "CUDA graphs already") == 0);
    CHECK(advises(x, "reduce-overhead") < 0 && advises(x, "cudaGraphInstantiate") < 0);
    f.run.causes[STK_PART_LAUNCH].names[0].name = "cudaLaunchKernel";
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "host-bound"), "reduce-overhead") == 0);
    fake_done(&f);
}

// Copies from a device to a device: with one device, no link between two is to blame.
static void copies_within(uint32_t devices, const char *advice, const char *other)
{
    fake_init(&f, devices, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_D2D, 0.3, -1);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "transfer-exposed");
    CHECK(advises(x, advice) >= 0 && advises(x, other) < 0);
    fake_done(&f);
}

// A kernel's name as the compiler wrote it begins with what it gives back: nothing.
static void kernel_name(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.3, -1);
    fake_name(&f, STK_PART_LAUNCH, "void at::native::reduce<float>(float*)");
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(says(x, "in at::native::reduce") && !says(x, "void "));
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(own_optimizer);
    CHECK_RUN(calls_it_edits, stk_calls_seen_bit(STK_STR("torch.optim")), true);
    CHECK_RUN(calls_it_edits, stk_calls_seen_bit(STK_STR("DataLoader")), false);
    CHECK_RUN(foreach_on_cpu, "Optimizer.step#Adadelta.step", false);
    CHECK_RUN(foreach_on_cpu, "Optimizer.step#Adam.step", true);
    CHECK_RUN(graphs_already);
    CHECK_RUN(copies_within, 1, "own memory", "topo");
    CHECK_RUN(copies_within, 2, "topo", "own memory");
    CHECK_RUN(kernel_name);
    return check_done("unit.rules_advice");
}
