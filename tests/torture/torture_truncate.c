// SPDX-License-Identifier: Apache-2.0
// Every input truncated at every byte (longer ones at 4096 spread places, fewer under sanitizers),
// then with single bits flipped: always a clear answer, never a crash, hang or unbounded
// allocation.
#include "inputs.h"

#define MAX_CUTS CHECK_ROUNDS(4096)

static void ask(const uint8_t *bytes, size_t size)
{
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    enum stoker_status status = torture_why(torture_write(bytes, size), &err);
    CHECK(status == STOKER_OK || status == STOKER_EINPUT || status == STOKER_ELIMIT);
}

static void cut(const struct torture_input *in)
{
    size_t step = in->size > MAX_CUTS ? in->size / MAX_CUTS : 1;
    for (size_t n = 0; n < in->size; n += step) {
        ask(in->bytes, n);
    }
}

static void flip(const struct torture_input *in)
{
    uint8_t *copy = malloc(in->size ? in->size : 1);
    size_t step = in->size > MAX_CUTS / 4 ? in->size / (MAX_CUTS / 4) : 1;
    for (size_t n = 0; n < in->size; n += step) {
        memcpy(copy, in->bytes, in->size);
        copy[n] ^= (uint8_t)(1u << (n % 8));
        ask(copy, in->size);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t count;
    struct torture_input *inputs = torture_inputs(&count);
    for (size_t i = 0; i < count; i++) {
        CHECK_RUN(cut, &inputs[i]);
        CHECK_RUN(flip, &inputs[i]);
        free(inputs[i].bytes);
    }
    free(inputs);
    return check_done("torture.torture_truncate");
}
