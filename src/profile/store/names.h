// SPDX-License-Identifier: Apache-2.0
// The classes of event names: the only place that recognizes names of runtimes, frameworks and
// libraries. Each distinct string is classified once (stk_names_classify), so analyses test a bit.
#pragma once

#include "profile/store/trace.h"

#define STK_NAME_COLLECTIVE (1u << 0)    // collective kernel or XLA collective (device side)
#define STK_NAME_HOST_COLL (1u << 1)     // collective issued or awaited by the host
#define STK_NAME_FETCH (1u << 2)         // the training step fetches its next batch
#define STK_NAME_PREP (1u << 3)          // host function that is named after preparing data
#define STK_NAME_ITERATOR (1u << 4)      // tf.data: stage, Produce or Consume, captured function
#define STK_NAME_LAUNCH (1u << 5)        // launches device work asynchronously
#define STK_NAME_SYNC (1u << 6)          // blocks the host until device work is done
#define STK_NAME_COPY_CALL (1u << 7)     // runtime call that starts a copy, blocking or not
#define STK_NAME_BLOCKING_COPY (1u << 8) // copy call that blocks by design (cudaMemcpy)
#define STK_NAME_ALLOC (1u << 9)         // allocates or frees device or pinned memory
#define STK_NAME_COMPILE (1u << 10)      // compilation, autotuning, module load, graph capture
#define STK_NAME_STEP (1u << 11)         // step marker (ProfilerStep#N)
#define STK_NAME_FW_STEP (1u << 12)      // framework's step call (multi_step_on_iterator, ...)
#define STK_NAME_OPTIMIZER (1u << 13)    // Optimizer.step#...
#define STK_NAME_EVAL (1u << 14)         // evaluation, validation, checkpoint
#define STK_NAME_WAITS (1u << 15)        // device operation that only waits for a transfer
#define STK_NAME_MODEL_OP (1u << 16) // operation of the model on the host: aten::, name:Type, XLA
#define STK_NAME_ITEM (1u << 17)     // reads a value back: aten::item, _local_scalar_dense, nonzero
#define STK_NAME_WAIT_HOST (1u << 18)    // framework waits for its own workers
#define STK_NAME_GRAPH_LAUNCH (1u << 19) // launches a device graph
#define STK_NAME_COMPILED (1u << 20)     // runs code of torch.compile, or is its kernel
#define STK_NAME_XLA_RUN (1u << 21)      // runs an XLA executable
#define STK_NAME_GRAPH_NODE (1u << 22)   // TensorFlow's graph executor, or a node that it runs
#define STK_NAME_INTERNAL                                                                          \
    (1u << 23) // TensorFlow's or XLA's own machinery, not an operation; means
               // nothing on PyTorch's rows
#define STK_NAME_BLOCKED                                                                           \
    (1u << 24) // the thread waits: a lock, a queue, sleep, poll, join, a future
#define STK_NAME_LETS_GO (1u << 25) // ends such a wait of another thread
// On host rows: prepares its data for a copy to the device. (WAITS alone is for devices.)
#define STK_NAME_STAGES (STK_NAME_WAITS | STK_NAME_INTERNAL)

// PyTorch's row for one parameter's gradient: its input has the gradient's shape.
#define STK_GRADIENT_OP "torch::autograd::AccumulateGrad"

// Class bits of a name. `kind` is the kind of its event, since words have different meanings on
// other rows (a Python frame that contains "compile" doesn't compile).
uint32_t stk_name_classify(struct stk_str name, enum stk_kind kind);
// Kind of a device operation whose row has only a name (copies and memsets by prefix).
enum stk_kind stk_name_device_kind(struct stk_str name);
// Parse "Memcpy HtoD (Pageable -> Device)", "MemcpyH2D", "[CUDA memcpy HtoD]", "CopyHostToDevice".
void stk_name_parse_copy(struct stk_str name, uint8_t *dir, uint8_t *src_mem, uint8_t *dst_mem);
// Class bits per string id, for all kinds that it occurs with. The caller frees; NULL: no memory.
uint32_t *stk_names_classify(const struct stk_trace *t);
