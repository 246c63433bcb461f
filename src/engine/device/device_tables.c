// SPDX-License-Identifier: Apache-2.0
// See device_tables.h. The tables of all components share one piece of device memory.
#include "engine/device/device_tables.h"

#include <string.h>

#include "base/alloc.h"

#define VALUES ((size_t)256) // table entries: one per byte value

void stoker_byte_table_normalise(float *values, int channels, const float *mean, const float *std,
                                 double max_value)
{
    for (int c = 0; c < channels; c++) {
        float scale = (float)(1 / (max_value * (double)std[c]));
        float offset = (float)(-(double)mean[c] / (double)std[c]);
        for (size_t x = 0; x < VALUES; x++) {
            float product = (float)x * scale; // rounded separately: no fused multiply-add
            values[(size_t)c * VALUES + x] = product + offset;
        }
    }
}

static enum stoker_status check_shape(int component, int channels, int is_planar, int rank,
                                      const int64_t *dim, struct stoker_err *err)
{
    if (rank == STOKER_UNKNOWN) {
        return STOKER_OK;
    }
    if (is_planar && rank < 3) {
        return stk_err_set(err, STOKER_EINVAL,
                           "component %d has %d dimensions: planes need (..., height, width, "
                           "channels)",
                           component, rank);
    }
    if (channels == 1) {
        return STOKER_OK;
    }
    if (rank == 0 || (dim[rank - 1] != STOKER_UNKNOWN && dim[rank - 1] != channels)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "component %d has %lld channels in its last dimension, its table %d",
                           component, rank ? (long long)dim[rank - 1] : 0LL, channels);
    }
    return STOKER_OK;
}

enum stoker_status stk_device_tables_check(const struct stoker_byte_table *t, int n,
                                           const struct stoker_specs *specs, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    int components = stoker_specs_count(specs);
    if (n < 0 || n > components) {
        return stk_err_set(err, STOKER_EINVAL, "%d tables for %d components", n, components);
    }
    for (int i = 0; s == STOKER_OK && i < n; i++) {
        struct stoker_spec spec;
        for (int k = 0; s == STOKER_OK && k < i; k++) {
            if (t[k].component == t[i].component) {
                s = stk_err_set(err, STOKER_EINVAL, "two tables for component %d", t[i].component);
            }
        }
        if (s != STOKER_OK) {
            break;
        }
        if (t[i].component < 0 || t[i].component >= components || !t[i].values) {
            s = stk_err_set(err, STOKER_EINVAL, "no component %d, or a table without values",
                            t[i].component);
        } else if (t[i].channels < 1 || t[i].channels > STOKER_TABLE_CHANNELS_MAX) {
            s = stk_err_set(err, STOKER_EINVAL, "a table has 1 to %d channels, not %d",
                            STOKER_TABLE_CHANNELS_MAX, t[i].channels);
        } else {
            stoker_specs_get(specs, t[i].component, &spec);
            s = spec.dtype == STOKER_UINT8
                    ? check_shape(t[i].component, t[i].channels, t[i].is_planar, spec.rank,
                                  spec.dim, err)
                    : stk_err_set(err, STOKER_EINVAL, "component %d is %s: tables are for uint8",
                                  t[i].component, stoker_dtype_name(spec.dtype));
        }
    }
    return s;
}

enum stoker_status stk_device_tables_open(struct stk_device_tables **out,
                                          const struct stk_cuda_device *d,
                                          const struct stoker_byte_table *t, int n, void *stream,
                                          struct stoker_err *err)
{
    struct stk_device_tables *own = stk_alloc_zero(1, sizeof *own);
    size_t floats = 0;
    *out = own;
    if (!own) {
        return stk_err_nomem(err);
    }
    own->device = d;
    own->rows = stk_alloc_zero((size_t)n, sizeof own->rows[0]);
    for (int i = 0; own->rows && i < n; i++) {
        own->rows[i] =
            (struct stk_device_table){t[i].component, t[i].channels, t[i].is_planar != 0, floats};
        floats += (size_t)t[i].channels * VALUES;
    }
    own->n = own->rows ? n : 0;
    own->host = own->rows ? stk_alloc(floats * sizeof(float)) : NULL;
    if (!own->host) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < n; i++) {
        memcpy(own->host + own->rows[i].at, t[i].values,
               (size_t)t[i].channels * VALUES * sizeof(float));
    }
    const struct stk_cuda *c = d->cuda;
    enum stoker_status s = stk_device_kernels_get(d, &own->kernels, err);
    if (s == STOKER_OK) {
        s = stk_cuda_check(c, c->memory_get(&own->memory, floats * sizeof(float)), "cuMemAlloc",
                           err);
        own->memory = s == STOKER_OK ? own->memory : 0;
    }
    if (s == STOKER_OK) {
        s = stk_cuda_check(c, c->copy_in(own->memory, own->host, floats * sizeof(float), stream),
                           "cuMemcpyHtoDAsync", err);
    }
    return s;
}

void stk_device_tables_close(struct stk_device_tables *t)
{
    if (!t) {
        return;
    }
    if (t->memory) {
        (void)t->device->cuda->memory_free(t->memory);
    }
    stk_free(t->host);
    stk_free(t->rows);
    stk_free(t);
}

const struct stk_device_table *stk_device_tables_find(const struct stk_device_tables *t,
                                                      int component)
{
    for (int i = 0; t && i < t->n; i++) {
        if (t->rows[i].component == component) {
            return &t->rows[i];
        }
    }
    return NULL;
}

// The tensor as images of pixels of channels; a single image unless planes are requested.
static void split_shape(const struct stk_device_table *row, const struct stoker_tensor *t,
                        int64_t *images, int64_t *pixels, int64_t *channels)
{
    int n_inner = row->is_planar ? 3 : t->rank;
    *images = *pixels = 1;
    *channels = t->rank > 0 ? t->dim[t->rank - 1] : 1;
    for (int i = 0; i < t->rank - 1; i++) {
        *(i < t->rank - n_inner ? images : pixels) *= t->dim[i];
    }
}

enum stoker_status stk_device_table_suits(const struct stk_device_table *row,
                                          const struct stoker_tensor *t, struct stoker_err *err)
{
    int64_t images, pixels, channels;
    enum stoker_status s =
        check_shape(row->component, row->channels, row->is_planar, t->rank, t->dim, err);
    if (s != STOKER_OK || !row->is_planar) {
        return s;
    }
    split_shape(row, t, &images, &pixels, &channels);
    if (pixels > STK_LOOKUP_PIXELS_MAX || channels > STOKER_TABLE_CHANNELS_MAX) {
        return stk_err_set(err, STOKER_EINVAL,
                           "component %d: planes of %lld pixels and %lld channels are too large",
                           row->component, (long long)pixels, (long long)channels);
    }
    return STOKER_OK;
}

enum stoker_status stk_device_table_apply(const struct stk_device_tables *t,
                                          const struct stk_device_table *row,
                                          const struct stoker_tensor *bytes, uint64_t from,
                                          uint64_t to, void *stream, uint64_t *launches,
                                          struct stoker_err *err)
{
    struct stk_lookup l = {.to = to,
                           .from = from,
                           .table = t->memory + row->at * sizeof(float),
                           .has_one_table = row->channels == 1};
    split_shape(row, bytes, &l.images, &l.pixels, &l.channels);
    return stk_device_look_up(t->device, t->kernels, &l, row->is_planar, stream, launches, err);
}

void stk_device_table_shape(const struct stk_device_table *row, struct stoker_tensor *t)
{
    t->dtype = STOKER_FLOAT32;
    if (row->is_planar) {
        int64_t channels = t->dim[t->rank - 1];
        t->dim[t->rank - 1] = t->dim[t->rank - 2];
        t->dim[t->rank - 2] = t->dim[t->rank - 3];
        t->dim[t->rank - 3] = channels;
    }
}
