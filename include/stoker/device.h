// SPDX-License-Identifier: Apache-2.0
// stoker.data: batches on a CUDA device. A stager is an iterator that has its elements copied ahead
// of the consumer: large buffers of the pipeline are pinned memory that the device reads where they
// lie; smaller values of an element go through a pinned slot together. All copies are asynchronous,
// on one stream of the stager's own; the consumer's stream waits for them, never the host.
//
//   stoker_stager_open(ds, NULL, 0, 2, &s, &e);
//   while (stoker_stager_next(s, t, n, &batch, &is_end, &e) == STOKER_OK && !is_end) {
//       stoker_device_batch_await(batch, stream, &e);     // work put on `stream` from here on
//       launch(stream, t[0].data);                        // comes after the copy
//       stoker_device_batch_free(batch);                  // reused after what is on `stream` now
//   }
//
// The driver is found at run time; without one these functions give STOKER_EMISSING.
#ifndef STOKER_DEVICE_H
#define STOKER_DEVICE_H

#include "stoker/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STOKER_STAGER_DEPTH_MAX 64

struct stoker_stager;       // one thread at a time, except where said
struct stoker_device_batch; // the device memory of an element; from any thread

// Devices that the driver has, and the bytes of one of them.
enum stoker_status stoker_device_count(int *n, struct stoker_err *err);
enum stoker_status stoker_device_memory(int device, uint64_t *unused_bytes, uint64_t *total_bytes,
                                        struct stoker_err *err);
// Pinned memory for stoker_run_options.memory: elements on the host, which the device reads by
// itself. Lives as long as the process.
enum stoker_status stoker_device_pinned(int device, const struct stoker_memory_source **out,
                                        struct stoker_err *err);

// depth: elements staged ahead, 1 to STOKER_STAGER_DEPTH_MAX.
enum stoker_status stoker_stager_open(struct stoker_dataset *ds,
                                      const struct stoker_run_options *options, int device,
                                      int depth, struct stoker_stager **out,
                                      struct stoker_err *err);

// Bytes that become float32 on the device, so that a byte of each value crosses the bus instead of
// four. A value x of channel c, its place in the last dimension, becomes values[256 * c + x]: made
// on the host, so that it has the bits that the same arithmetic gives there.
#define STOKER_TABLE_CHANNELS_MAX 65536
struct stoker_byte_table {
    int component;       // of dtype uint8
    int channels;        // the length of its last dimension; 1: the same for all of them
    int is_planar;       // (..., height, width, channels) comes as (..., channels, height, width)
    const float *values; // 256 for each channel; borrowed by the call
};
// The table of x * scale + offset in float32, each of the two rounded; scale is
// 1 / (max_value * std[c]) and offset -mean[c] / std[c], computed in double and rounded: with
// max_value 255, mean and std are of values from 0 to 1; with 1, of the bytes. std and max_value
// are not 0.
void stoker_byte_table_normalise(float *values, int channels, const float *mean, const float *std,
                                 double max_value);
// stoker_stager_open with tables for n components (each at most once). An element with other
// channels than its table is an error, or left out where options say so.
enum stoker_status stoker_stager_open_tables(struct stoker_dataset *ds,
                                             const struct stoker_run_options *options, int device,
                                             int depth, const struct stoker_byte_table *tables,
                                             int n, struct stoker_stager **out,
                                             struct stoker_err *err);
// The plan as a stager runs it, as stoker_dataset_explain has it. Arithmetic with constants on
// bytes that ends the last map is left to the device, in tables like those above, with the same
// bits; options->is_as_written keeps it in the pipeline. Needs no driver.
enum stoker_status stoker_stager_explain(struct stoker_dataset *ds,
                                         const struct stoker_run_options *options,
                                         struct stoker_bytes *out, struct stoker_err *err);
// Waits at most that long for next() not to have to wait. Whether it has not.
int stoker_stager_wait(struct stoker_stager *s, int64_t ns);
// The next element. Numbers: data is an address of the device, good while *batch is held. Strings:
// on the host, the caller's to release. *batch: the caller's; NULL with an error or at the end. An
// error of the pipeline stands for one element. STOKER_ELIMIT, no device memory left: nothing is
// lost, the next call tries again. Other errors of the device end the stager.
enum stoker_status stoker_stager_next(struct stoker_stager *s, struct stoker_tensor *out, int n,
                                      struct stoker_device_batch **batch, int *is_end,
                                      struct stoker_err *err);
// Whether the last next() failed for an element, which something else may then stand for; 0 where
// the device is the reason.
int stoker_stager_lost_element(const struct stoker_stager *s);
void stoker_stager_cancel(struct stoker_stager *s); // from any thread: waits end soon
void stoker_stager_free(struct stoker_stager *s);   // batches given out stay valid; takes NULL

struct stoker_stager_stats {
    uint64_t elements, copies, copied_bytes;
    uint64_t direct_bytes; // of those: read by the device where the pipeline had put them
    uint64_t starve_ns;    // the consumer waited in next()
    uint64_t slot_ns;      // the stager waited for a copy, to use its slot again
    uint64_t device_bytes; // of all batches, in use or waiting for it
    uint64_t unpinned;     // slots that had to do without pinned memory
    uint64_t launches;     // of kernels, for tables
    uint64_t skipped;      // elements that did not suit a table and were left out
};
// Since it was opened; from any thread.
void stoker_stager_stats(struct stoker_stager *s, struct stoker_stager_stats *out);

// b, with one more holder; from any thread.
struct stoker_device_batch *stoker_device_batch_hold(struct stoker_device_batch *b);
// At the last holder's, the memory is used again after the work that is on the awaited streams
// then.
void stoker_device_batch_free(struct stoker_device_batch *b); // takes NULL
// Work put on `stream` from now on comes after the copy. stream: a CUstream; (void *)1 and
// (void *)2 are the legacy and the per-thread default stream.
enum stoker_status stoker_device_batch_await(struct stoker_device_batch *b, void *stream,
                                             struct stoker_err *err);
// Waits on the host for the copy. For consumers whose stream is not known: before the memory is
// used again, the stager waits for everything on the device.
enum stoker_status stoker_device_batch_wait(struct stoker_device_batch *b, struct stoker_err *err);
// Copies back to the host, and waits for it.
enum stoker_status stoker_device_batch_read(struct stoker_device_batch *b, const void *from,
                                            void *to, size_t size, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
