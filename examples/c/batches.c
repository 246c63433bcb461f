// SPDX-License-Identifier: Apache-2.0
// An input pipeline from a program: the numbers below 100, shuffled, in batches of 32. Prints the
// size and the sum of each batch. Usage: batches
#include <inttypes.h>
#include <stdio.h>

#include <stoker/data.h>

// Adds a stage. Takes over the caller's reference to `input` (NULL: a source) and `args`.
static struct stoker_dataset *stage(const char *kind, struct stoker_dataset *input,
                                    struct stoker_args *args, struct stoker_err *err)
{
    struct stoker_dataset *out = NULL;
    if (args) {
        stoker_dataset_make(kind, &input, input ? 1 : 0, args, NULL, &out, err);
    }
    stoker_dataset_free(input);
    stoker_args_free(args);
    return out;
}

static struct stoker_args *number(const char *name, int64_t value)
{
    struct stoker_args *args = stoker_args_new();
    if (args && !stoker_args_int(args, name, value)) {
        stoker_args_free(args);
        args = NULL;
    }
    return args;
}

static void show(const struct stoker_tensor *batch)
{
    const int64_t *values = batch->data;
    int64_t sum = 0;
    for (int64_t i = 0; i < batch->dim[0]; i++) {
        sum += values[i];
    }
    printf("%" PRId64 " numbers, sum %" PRId64 "\n", batch->dim[0], sum);
}

static int run(struct stoker_dataset *ds, struct stoker_err *err)
{
    struct stoker_iterator *it;
    if (stoker_iterator_open(ds, NULL, &it, err) != STOKER_OK) {
        return 1;
    }
    enum stoker_status status;
    struct stoker_tensor batch;
    int is_end = 0;
    while ((status = stoker_iterator_next(it, &batch, 1, &is_end, err)) == STOKER_OK && !is_end) {
        show(&batch);
        stoker_tensor_release(&batch);
    }
    stoker_iterator_free(it);
    return status != STOKER_OK;
}

int main(void)
{
    struct stoker_err e = {.message = "out of memory"};
    struct stoker_dataset *ds = stage("range", NULL, number("stop", 100), &e);
    ds = ds ? stage("shuffle", ds, number("buffer_size", 100), &e) : NULL;
    ds = ds ? stage("batch", ds, number("batch_size", 32), &e) : NULL;
    int failed = !ds || run(ds, &e);
    stoker_dataset_free(ds);
    if (failed) {
        fprintf(stderr, "batches: %s\n", e.message);
    }
    return failed;
}
