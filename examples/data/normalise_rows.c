// SPDX-License-Identifier: Apache-2.0
// A plug-in for stoker.data: operations of one's own, in C. examples/data/plugin.py uses it.
//
//   include=$(python3 -c 'import stoker.data as sd; print(sd.get_include())')
//   cc -shared -fPIC -O2 -I$include examples/data/normalise_rows.c -lm -o normalise_rows.so
#include <math.h>
#include <string.h>

#include "stoker/plugin.h"

// normalise_rows(x, epsilon=1e-6): each row of a float32 matrix less its mean, over its deviation.
static int rows_infer(struct stoker_plugin_infer *c)
{
    if (c->n_in != 1 || c->in[0].dtype != STOKER_FLOAT32 || c->in[0].rank != 2) {
        return c->fail(c, "takes a float32 matrix");
    }
    c->out[0] = c->in[0];
    return 0;
}

static int rows_run(struct stoker_plugin_run *r)
{
    const struct stoker_plugin_column *in = &r->in[0];
    float epsilon = (float)r->attr_float(r->attrs, "epsilon", 1e-6);
    int64_t width = in->dim[1];
    float *out = r->make(r, 0, in->dim);
    if (!out) {
        return -1;
    }
    for (int64_t i = 0; i < r->n; i++) {
        const float *x = stoker_plugin_at(in, i);
        for (int64_t row = 0; row < in->dim[0]; row++, x += width, out += width) {
            float sum = 0, squares = 0;
            for (int64_t k = 0; k < width; k++) {
                sum += x[k];
                squares += x[k] * x[k];
            }
            float mean = sum / (float)width, variance = squares / (float)width - mean * mean;
            float scale = 1 / sqrtf((variance > 0 ? variance : 0) + epsilon);
            for (int64_t k = 0; k < width; k++) {
                out[k] = (x[k] - mean) * scale;
            }
        }
    }
    return 0;
}

// keep_words(text, least): the words of a string that are at least so long: a vector whose length
// differs from element to element, of views into the string.
static int words_infer(struct stoker_plugin_infer *c)
{
    if (c->n_in != 1 || c->in[0].dtype != STOKER_STRING || c->in[0].rank != 0) {
        return c->fail(c, "takes one string");
    }
    c->out[0] = (struct stoker_spec){STOKER_STRING, 1, {STOKER_UNKNOWN}, NULL};
    return 0;
}

static int next_word(const struct stoker_bytes *s, size_t *at, size_t least,
                     struct stoker_bytes *word)
{
    while (*at < s->size) {
        const unsigned char *first = s->data + *at, *end = memchr(first, ' ', s->size - *at);
        size_t size = end ? (size_t)(end - first) : s->size - *at;
        *at += size + 1;
        if (size >= least) {
            *word = (struct stoker_bytes){first, size};
            return 1;
        }
    }
    return 0;
}

static int words_run(struct stoker_plugin_run *r)
{
    size_t least = (size_t)r->attr_int(r->attrs, "least", 1);
    for (int64_t i = 0; i < r->n; i++) {
        const struct stoker_bytes *s = stoker_plugin_at(&r->in[0], i);
        struct stoker_bytes word;
        int64_t count = 0;
        for (size_t at = 0; next_word(s, &at, least, &word);) {
            count++;
        }
        struct stoker_bytes *out = r->add(r, 0, &count);
        if (!out) {
            return -1;
        }
        for (size_t at = 0; next_word(s, &at, least, &word);) {
            *out++ = word;
        }
    }
    return r->borrow(r, 0, 0) ? 0 : -1;
}

static const struct stoker_plugin_op ops[] = {{.name = "normalise_rows",
                                               .summary = "Rows of mean 0 and deviation 1",
                                               .infer = rows_infer,
                                               .run = rows_run},
                                              {.name = "keep_words",
                                               .summary = "The longer words of a string",
                                               .infer = words_infer,
                                               .run = words_run}};
STOKER_PLUGIN(ops)
