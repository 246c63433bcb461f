// SPDX-License-Identifier: Apache-2.0
// stoker.data: batches on a CUDA device. A stager is an iterator whose elements are copied to the
// device ahead of the consumer. Large buffers of the pipeline are pinned memory that the device
// reads directly; an element's smaller values go through a pinned slot together. All copies are
// asynchronous, on the stager's own stream; the consumer's stream waits for them, the CPU never
// does.
//
//   stoker_stager_open(ds, NULL, 0, 2, &s, &e);
//   while (stoker_stager_next(s, t, n, &batch, &is_end, &e) == STOKER_OK && !is_end) {
//       stoker_device_batch_await(batch, stream, &e); // later work on `stream`
//       launch(stream, t[0].data);                    // runs after the copy
//       stoker_device_batch_free(batch);              // reused after the work now on `stream`
//   }
//
// The driver is loaded at run time; without one these functions return STOKER_EMISSING.
#ifndef STOKER_DEVICE_H
#define STOKER_DEVICE_H

#include "stoker/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STOKER_STAGER_DEPTH_MAX 64

struct stoker_stager;       // one thread at a time, unless noted
struct stoker_device_batch; // device memory of an element; on any thread

// The driver's devices, and one device's memory in bytes.
enum stoker_status stoker_device_count(int *n, struct stoker_err *err);
enum stoker_status stoker_device_memory(int device, uint64_t *unused_bytes, uint64_t *total_bytes,
                                        struct stoker_err *err);
// Pinned memory for stoker_run_options.memory: elements in CPU memory that the device reads
// directly. Lives as long as the process.
enum stoker_status stoker_device_pinned(int device, const struct stoker_memory_source **out,
                                        struct stoker_err *err);

// depth: elements staged ahead, 1 to STOKER_STAGER_DEPTH_MAX.
enum stoker_status stoker_stager_open(struct stoker_dataset *ds,
                                      const struct stoker_run_options *options, int device,
                                      int depth, struct stoker_stager **out,
                                      struct stoker_err *err);

// Bytes that become float32 on the device, so that each value takes one byte on the bus instead of
// four. A value x of channel c, its index in the last dimension, becomes values[256 * c + x]. The
// table is computed on the CPU, so results have the same bits as the same arithmetic there.
#define STOKER_TABLE_CHANNELS_MAX 65536
struct stoker_byte_table {
    int component;       // of dtype uint8
    int channels;        // the length of its last dimension; 1: the same for all of them
    int is_planar;       // returns (..., height, width, channels) as (..., channels, height, width)
    const float *values; // 256 for each channel; borrowed during the call
};
// Makes the table of x * scale + offset in float32, rounding after each operation. scale is 1 /
// (max_value * std[c]) and offset -mean[c] / std[c], computed in double and rounded. With max_value
// 255, mean and std are for values from 0 to 1; with 1, for bytes. std and max_value must not be 0.
void stoker_byte_table_normalise(float *values, int channels, const float *mean, const float *std,
                                 double max_value);
// stoker_stager_open with tables for n components (each at most once). An element whose channels
// don't match its table is an error, or skipped if the options say so.
enum stoker_status stoker_stager_open_tables(struct stoker_dataset *ds,
                                             const struct stoker_run_options *options, int device,
                                             int depth, const struct stoker_byte_table *tables,
                                             int n, struct stoker_stager **out,
                                             struct stoker_err *err);
// The plan as a stager runs it, in the form of stoker_dataset_explain. Arithmetic with constants on
// bytes at the end of the last map is deferred to the device, by tables like those above, with the
// same bits; options->is_as_written keeps it in the pipeline. Needs no driver.
enum stoker_status stoker_stager_explain(struct stoker_dataset *ds,
                                         const struct stoker_run_options *options,
                                         struct stoker_bytes *out, struct stoker_err *err);
// Waits at most that long until next() wouldn't have to wait. Returns whether it wouldn't.
int stoker_stager_wait(struct stoker_stager *s, int64_t ns);
// The next element. Numbers: data is a device address, valid while *batch is referenced. Strings:
// in CPU memory, owned by the caller. *batch: owned by the caller; NULL on an error or at the end.
// An error of the pipeline stands for one element. STOKER_ELIMIT, no device memory left: nothing is
// lost, and the next call tries again. Other errors of the device end the stager.
enum stoker_status stoker_stager_next(struct stoker_stager *s, struct stoker_tensor *out, int n,
                                      struct stoker_device_batch **batch, int *is_end,
                                      struct stoker_err *err);
// Did the last next() fail because of an element, which may then be replaced? 0 if the device is
// the reason.
int stoker_stager_lost_element(const struct stoker_stager *s);
void stoker_stager_cancel(struct stoker_stager *s); // on any thread: waits end soon
void stoker_stager_free(struct stoker_stager *s);   // returned batches stay valid; takes NULL

struct stoker_stager_stats {
    uint64_t elements, copies, copied_bytes;
    uint64_t direct_bytes; // part of those: read by the device directly from the pipeline's buffers
    uint64_t starve_ns;    // the consumer waited in next()
    uint64_t slot_ns;      // the stager waited for a copy, to reuse its slot
    uint64_t device_bytes; // of all batches, in use or unused
    uint64_t unpinned;     // slots without pinned memory
    uint64_t launches;     // kernel launches, for tables
    uint64_t skipped;      // elements skipped because they didn't fit a table
};
// Since it was opened; on any thread.
void stoker_stager_stats(struct stoker_stager *s, struct stoker_stager_stats *out);

// Adds a reference and returns b; on any thread.
struct stoker_device_batch *stoker_device_batch_hold(struct stoker_device_batch *b);
// Drops a reference. After the last one, the memory is reused after the work then on the awaited
// streams.
void stoker_device_batch_free(struct stoker_device_batch *b); // takes NULL
// Later work on `stream` runs after the copy. stream: a CUstream; (void *)1 and (void *)2 are the
// legacy and the per-thread default stream.
enum stoker_status stoker_device_batch_await(struct stoker_device_batch *b, void *stream,
                                             struct stoker_err *err);
// Waits on the CPU for the copy. For consumers with an unknown stream: before reusing the memory,
// the stager waits for everything on the device.
enum stoker_status stoker_device_batch_wait(struct stoker_device_batch *b, struct stoker_err *err);
// Copies back to CPU memory, and waits for that.
enum stoker_status stoker_device_batch_read(struct stoker_device_batch *b, const void *from,
                                            void *to, size_t size, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
