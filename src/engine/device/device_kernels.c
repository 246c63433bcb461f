// SPDX-License-Identifier: Apache-2.0
// See device_kernels.h. PTX 6.0 for sm_50: every driver since CUDA 9 takes it, for every device
// since Maxwell. tests/gpu/assemble.py assembles it if ptxas is available.
//
// A thread of `stoker_bytes_to_floats` reads and writes four values at once. A thread of
// `stoker_bytes_to_planes` handles all channels of a pixel, so a warp writes whole lines of each
// plane.
#include "engine/device/device_kernels.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define BLOCK 256u           // threads per block
#define VALUES_OF_A_THREAD 4 // values per thread of stoker_bytes_to_floats
#define VALUES_OF_A_LAUNCH ((int64_t)1 << 30)
#define ROWS_MAX ((int64_t)65535) // grid size in its second dimension
#define LOG_BYTES 512

enum { JIT_LOG = 5, JIT_LOG_BYTES = 6 }; // CU_JIT_ERROR_LOG_BUFFER, .._SIZE_BYTES

// clang-format off
#define PTX(line) line "\n"
#define LOOK_UP(byte, value)                                                                       \
    PTX("  mad.lo.u32 %at, %c, 256, " byte ";")                                                    \
    PTX("  mul.wide.u32 %a, %at, 4;")                                                              \
    PTX("  add.u64 %a, %table, %a;")                                                               \
    PTX("  ld.global.nc.f32 " value ", [%a];")
#define NEXT_CHANNEL                                                                               \
    PTX("  add.u32 %c, %c, 1;")                                                                    \
    PTX("  setp.eq.u32 %is_last, %c, %channels;")                                                  \
    PTX("  selp.u32 %c, 0, %c, %is_last;")

static const char ptx[] =
    PTX(".version 6.0")
    PTX(".target sm_50")
    PTX(".address_size 64")
    PTX(".visible .entry stoker_bytes_to_floats(")
    PTX("  .param .u64 p_to, .param .u64 p_from, .param .u64 p_table,")
    PTX("  .param .u32 p_n, .param .u32 p_channels)")
    PTX("{")
    PTX("  .reg .pred %is_out, %is_short, %is_last;")
    PTX("  .reg .u32 %block, %size, %thread, %i, %n, %channels, %c, %at;")
    PTX("  .reg .u32 %b0, %b1, %b2, %b3;")
    PTX("  .reg .u64 %to, %from, %table, %a;")
    PTX("  .reg .f32 %f0, %f1, %f2, %f3;")
    PTX("  ld.param.u32 %n, [p_n];")
    PTX("  mov.u32 %block, %ctaid.x;")
    PTX("  mov.u32 %size, %ntid.x;")
    PTX("  mov.u32 %thread, %tid.x;")
    PTX("  mad.lo.u32 %i, %block, %size, %thread;")
    PTX("  shl.b32 %i, %i, 2;")
    PTX("  setp.ge.u32 %is_out, %i, %n;")
    PTX("  @%is_out bra END;")
    PTX("  ld.param.u64 %to, [p_to];")
    PTX("  ld.param.u64 %from, [p_from];")
    PTX("  ld.param.u64 %table, [p_table];")
    PTX("  ld.param.u32 %channels, [p_channels];")
    PTX("  cvta.to.global.u64 %to, %to;")
    PTX("  cvta.to.global.u64 %from, %from;")
    PTX("  cvta.to.global.u64 %table, %table;")
    PTX("  rem.u32 %c, %i, %channels;")
    PTX("  cvt.u64.u32 %a, %i;")
    PTX("  add.u64 %from, %from, %a;")
    PTX("  mul.wide.u32 %a, %i, 4;")
    PTX("  add.u64 %to, %to, %a;")
    PTX("  sub.u32 %n, %n, %i;")
    PTX("  setp.lt.u32 %is_short, %n, 4;")
    PTX("  @%is_short bra FEW;")
    PTX("  ld.global.nc.v4.u8 {%b0, %b1, %b2, %b3}, [%from];")
    LOOK_UP("%b0", "%f0")
    NEXT_CHANNEL
    LOOK_UP("%b1", "%f1")
    NEXT_CHANNEL
    LOOK_UP("%b2", "%f2")
    NEXT_CHANNEL
    LOOK_UP("%b3", "%f3")
    PTX("  st.global.v4.f32 [%to], {%f0, %f1, %f2, %f3};")
    PTX("  bra END;")
    PTX("FEW:")
    PTX("  ld.global.nc.u8 %b0, [%from];")
    LOOK_UP("%b0", "%f0")
    NEXT_CHANNEL
    PTX("  st.global.f32 [%to], %f0;")
    PTX("  add.u64 %from, %from, 1;")
    PTX("  add.u64 %to, %to, 4;")
    PTX("  sub.u32 %n, %n, 1;")
    PTX("  setp.ne.u32 %is_short, %n, 0;")
    PTX("  @%is_short bra FEW;")
    PTX("END:")
    PTX("  ret;")
    PTX("}")
    PTX(".visible .entry stoker_bytes_to_planes(")
    PTX("  .param .u64 p_to, .param .u64 p_from, .param .u64 p_table,")
    PTX("  .param .u32 p_pixels, .param .u32 p_channels, .param .u32 p_table_bytes)")
    PTX("{")
    PTX("  .reg .pred %is_out, %is_left;")
    PTX("  .reg .u32 %block, %size, %thread, %pixel, %image, %pixels, %channels, %table_bytes, %b;")
    PTX("  .reg .u64 %to, %from, %table, %a, %step, %table_step, %many;")
    PTX("  .reg .f32 %f;")
    PTX("  ld.param.u32 %pixels, [p_pixels];")
    PTX("  mov.u32 %block, %ctaid.x;")
    PTX("  mov.u32 %size, %ntid.x;")
    PTX("  mov.u32 %thread, %tid.x;")
    PTX("  mad.lo.u32 %pixel, %block, %size, %thread;")
    PTX("  setp.ge.u32 %is_out, %pixel, %pixels;")
    PTX("  @%is_out bra END;")
    PTX("  ld.param.u64 %to, [p_to];")
    PTX("  ld.param.u64 %from, [p_from];")
    PTX("  ld.param.u64 %table, [p_table];")
    PTX("  ld.param.u32 %channels, [p_channels];")
    PTX("  ld.param.u32 %table_bytes, [p_table_bytes];")
    PTX("  cvta.to.global.u64 %to, %to;")
    PTX("  cvta.to.global.u64 %from, %from;")
    PTX("  cvta.to.global.u64 %table, %table;")
    PTX("  mov.u32 %image, %ctaid.y;")
    PTX("  cvt.u64.u32 %many, %channels;")
    PTX("  mul.wide.u32 %a, %image, %pixels;") // pixels of the previous images
    PTX("  mul.lo.u64 %a, %a, %many;")         // and their bytes, the same number as floats
    PTX("  add.u64 %from, %from, %a;")
    PTX("  shl.b64 %a, %a, 2;")
    PTX("  add.u64 %to, %to, %a;")
    PTX("  mul.wide.u32 %a, %pixel, %channels;")
    PTX("  add.u64 %from, %from, %a;")
    PTX("  mul.wide.u32 %a, %pixel, 4;")
    PTX("  add.u64 %to, %to, %a;")
    PTX("  mul.wide.u32 %step, %pixels, 4;")
    PTX("  cvt.u64.u32 %table_step, %table_bytes;")
    PTX("EACH:")
    PTX("  ld.global.nc.u8 %b, [%from];")
    PTX("  mul.wide.u32 %a, %b, 4;")
    PTX("  add.u64 %a, %table, %a;")
    PTX("  ld.global.nc.f32 %f, [%a];")
    PTX("  st.global.f32 [%to], %f;")
    PTX("  add.u64 %from, %from, 1;")
    PTX("  add.u64 %to, %to, %step;")
    PTX("  add.u64 %table, %table, %table_step;")
    PTX("  sub.u32 %channels, %channels, 1;")
    PTX("  setp.ne.u32 %is_left, %channels, 0;")
    PTX("  @%is_left bra EACH;")
    PTX("END:")
    PTX("  ret;")
    PTX("}");
// clang-format on

static enum stoker_status launch(const struct stk_cuda_device *d, void *kernel, unsigned columns,
                                 unsigned rows, void **args, void *stream, struct stoker_err *err)
{
    const struct stk_cuda *c = d->cuda;
    return stk_cuda_check(c,
                          c->launch(kernel, columns, rows, 1, BLOCK, 1, 1, 0, stream, args, NULL),
                          "cuLaunchKernel", err);
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

// In pieces that start with channel 0, at an address aligned for reading four values at once.
static enum stoker_status to_floats(const struct stk_cuda_device *d, void *kernel,
                                    const struct stk_lookup *l, void *stream, uint64_t *launches,
                                    struct stoker_err *err)
{
    uint32_t channels = l->has_one_table ? 1 : (uint32_t)l->channels;
    int64_t grain = (int64_t)channels * VALUES_OF_A_THREAD;
    int64_t most = VALUES_OF_A_LAUNCH / grain * grain;
    int64_t all = l->images * l->pixels * l->channels;
    enum stoker_status s = STOKER_OK;
    for (int64_t at = 0; s == STOKER_OK && at < all; at += most) {
        uint64_t to = l->to + (uint64_t)at * sizeof(float), from = l->from + (uint64_t)at;
        uint64_t table = l->table;
        uint32_t n = (uint32_t)(all - at < most ? all - at : most);
        void *args[] = {&to, &from, &table, &n, &channels};
        int64_t threads = ((int64_t)n + VALUES_OF_A_THREAD - 1) / VALUES_OF_A_THREAD;
        s = launch(d, kernel, blocks_for(threads), 1, args, stream, err);
        ++*launches;
    }
    return s;
}

static enum stoker_status to_planes(const struct stk_cuda_device *d, void *kernel,
                                    const struct stk_lookup *l, void *stream, uint64_t *launches,
                                    struct stoker_err *err)
{
    uint32_t channels = (uint32_t)l->channels, pixels = (uint32_t)l->pixels;
    uint32_t table_bytes = l->has_one_table ? 0 : 256 * sizeof(float);
    uint64_t image_bytes = (uint64_t)l->pixels * channels;
    enum stoker_status s = STOKER_OK;
    for (int64_t at = 0; s == STOKER_OK && image_bytes > 0 && at < l->images; at += ROWS_MAX) {
        int64_t n = l->images - at < ROWS_MAX ? l->images - at : ROWS_MAX;
        uint64_t from = l->from + (uint64_t)at * image_bytes, table = l->table;
        uint64_t to = l->to + (uint64_t)at * image_bytes * sizeof(float);
        void *args[] = {&to, &from, &table, &pixels, &channels, &table_bytes};
        s = launch(d, kernel, blocks_for(pixels), (unsigned)n, args, stream, err);
        ++*launches;
    }
    return s;
}

enum stoker_status stk_device_look_up(const struct stk_cuda_device *d,
                                      const struct stk_device_kernels *k,
                                      const struct stk_lookup *l, bool is_planar, void *stream,
                                      uint64_t *launches, struct stoker_err *err)
{
    if (is_planar) {
        return to_planes(d, k->function[STK_KERNEL_PLANES], l, stream, launches, err);
    }
    return to_floats(d, k->function[STK_KERNEL_FLOATS], l, stream, launches, err);
}

// Compares a few look-ups of each kind with the CPU's: the driver translated the kernels, and
// nothing else would show that the result is wrong. Once per device and process.
enum { PROVE_IMAGES = 2, PROVE_PIXELS = 5, PROVE_CHANNELS = 3 };

struct proof { // the same layout on the device
    float table[PROVE_CHANNELS * 256], to[2][PROVE_IMAGES * PROVE_PIXELS * PROVE_CHANNELS];
    unsigned char from[PROVE_IMAGES * PROVE_PIXELS * PROVE_CHANNELS];
};

static void fill_proof(struct proof *want, struct proof *start)
{
    for (int i = 0; i < PROVE_CHANNELS * 256; i++) {
        want->table[i] = (float)i * 1.25f - 100;
    }
    for (int i = 0; i < PROVE_IMAGES * PROVE_PIXELS * PROVE_CHANNELS; i++) {
        int c = i % PROVE_CHANNELS, pixel = i / PROVE_CHANNELS, image = pixel / PROVE_PIXELS;
        want->from[i] = (unsigned char)(i * 37 + 5);
        float value = want->table[c * 256 + want->from[i]];
        want->to[0][i] = value;
        want->to[1][(image * PROVE_CHANNELS + c) * PROVE_PIXELS + pixel % PROVE_PIXELS] = value;
    }
    *start = *want;
    memset(start->to, 0, sizeof start->to);
}

static enum stoker_status run_proof(const struct stk_cuda_device *d,
                                    const struct stk_device_kernels *k, uint64_t memory,
                                    void *stream, struct stoker_err *err)
{
    const struct stk_cuda *c = d->cuda;
    struct proof want, got;
    uint64_t launches = 0;
    struct stk_lookup l = {.from = memory + offsetof(struct proof, from),
                           .table = memory + offsetof(struct proof, table),
                           .images = PROVE_IMAGES,
                           .pixels = PROVE_PIXELS,
                           .channels = PROVE_CHANNELS};
    fill_proof(&want, &got);
    enum stoker_status s =
        stk_cuda_check(c, c->copy_in(memory, &got, sizeof got, stream), "cuMemcpyHtoDAsync", err);
    for (int i = 0; s == STOKER_OK && i < 2; i++) {
        l.to = memory + offsetof(struct proof, to) + (size_t)i * sizeof got.to[0];
        s = stk_device_look_up(d, k, &l, i == 1, stream, &launches, err);
    }
    if (s == STOKER_OK) {
        s = stk_cuda_check(c, c->stream_wait(stream), "a kernel", err);
    }
    if (s == STOKER_OK) {
        s = stk_cuda_check(c, c->copy_out(&got, memory, sizeof got), "cuMemcpyDtoH", err);
    }
    if (s == STOKER_OK && memcmp(got.to, want.to, sizeof got.to) != 0) {
        s = stk_err_set(err, STOKER_EINPUT, "cuda:%d computes values that differ from the CPU's",
                        d->ordinal);
    }
    return s;
}

static enum stoker_status prove(const struct stk_cuda_device *d, const struct stk_device_kernels *k,
                                struct stoker_err *err)
{
    const struct stk_cuda *c = d->cuda;
    uint64_t memory = 0;
    void *stream = NULL;
    enum stoker_status s = stk_cuda_check(c, c->stream_open(&stream, 1u), "cuStreamCreate", err);
    if (s != STOKER_OK) {
        return s;
    }
    s = stk_cuda_check(c, c->memory_get(&memory, sizeof(struct proof)), "cuMemAlloc", err);
    if (s == STOKER_OK) {
        s = run_proof(d, k, memory, stream, err);
        (void)c->stream_wait(stream);
        (void)c->memory_free(memory);
    }
    (void)c->stream_close(stream);
    return s;
}

static struct { // guarded by lock
    pthread_mutex_t lock;
    bool is_there[STK_CUDA_DEVICES_MAX];
    struct stk_device_kernels of[STK_CUDA_DEVICES_MAX];
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum stoker_status load(const struct stk_cuda_device *d, struct stk_device_kernels *k,
                               struct stoker_err *err)
{
    static const char *const names[STK_KERNELS] = {
        [STK_KERNEL_FLOATS] = "stoker_bytes_to_floats",
        [STK_KERNEL_PLANES] = "stoker_bytes_to_planes",
    };
    const struct stk_cuda *c = d->cuda;
    char log[LOG_BYTES] = "";
    int options[] = {JIT_LOG, JIT_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    void *module = NULL;
    enum stoker_status s = stk_cuda_check(c, c->module_load(&module, ptx, 2, options, values),
                                          "loading the kernels (cuModuleLoadDataEx)", err);
    if (s != STOKER_OK) {
        if (log[0]) {
            stk_err_while(err, "compiling them: %s", log);
        }
        return s;
    }
    for (int i = 0; s == STOKER_OK && i < STK_KERNELS; i++) {
        s = stk_cuda_check(c, c->module_kernel(&k->function[i], module, names[i]), names[i], err);
    }
    if (s == STOKER_OK) {
        s = prove(d, k, err);
    }
    if (s != STOKER_OK) {
        (void)c->module_unload(module);
    }
    return s;
}

enum stoker_status stk_device_kernels_get(const struct stk_cuda_device *d,
                                          const struct stk_device_kernels **out,
                                          struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    pthread_mutex_lock(&loaded.lock);
    if (!loaded.is_there[d->ordinal]) {
        s = load(d, &loaded.of[d->ordinal], err);
        loaded.is_there[d->ordinal] = s == STOKER_OK;
    }
    pthread_mutex_unlock(&loaded.lock);
    *out = s == STOKER_OK ? &loaded.of[d->ordinal] : NULL;
    return s;
}
