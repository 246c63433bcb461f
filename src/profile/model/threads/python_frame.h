// SPDX-License-Identifier: Apache-2.0
// What a Python tracer's row contains: file, line and function, and whose code it is.
//   Kineto            "torch/nn/modules/module.py(1501): _call_impl", "nn.Module: Linear_0",
//                     "<built-in method item of Tensor object at 0x7f>"
//   TensorFlow, JAX   "$module.py:1501 function" (no folder), "$numpy frombuffer", "$builtins next"
#pragma once

#include "base/str.h"

enum stk_python_owner {
    STK_PYTHON_USER,      // files of the job itself
    STK_PYTHON_FRAMEWORK, // PyTorch, TensorFlow, Keras, JAX, and packages built on them
    STK_PYTHON_LIBRARY,   // other packages, and Python's own modules
    STK_PYTHON_BUILTIN,   // functions written in C
    STK_PYTHON_UNKNOWN,   // the row has only a file name without a folder, of an uncertain owner
    STK_PYTHON_OWNERS
};
const char *stk_python_owner_key(enum stk_python_owner owner); // "user", ...

struct stk_python_frame {
    struct stk_str file; // or module; empty: none
    struct stk_str function;
    int64_t line;                           // in a file of Python, 0: none
    bool is_builtin, has_folder, is_source; // source: `file` is a file
};
struct stk_python_frame stk_python_frame_parse(struct stk_str name);
// The function's name, also of one written in C: "item" in the example above.
struct stk_str stk_python_frame_called(struct stk_str name);
enum stk_python_owner stk_python_frame_owner(struct stk_str name);
// Is it a row of a library of arrays, tables, pictures, texts or stores (NumPy, PIL, h5py),
// including its functions written in C?
bool stk_python_frame_is_data(struct stk_str name);
// Class bits that a function's name may suggest but its file rules out: Python's own library
// doesn't prepare the user's data or compile a model, and in a framework only files about data
// prepare data.
uint32_t stk_python_frame_denies(struct stk_str name);
// A function in the job's own file, or in one without a known owner.
bool stk_python_frame_is_users(struct stk_str name);
// asyncio's loop, or asyncio.run around it: its work and its waits belong to the coroutines inside.
// Is it of the hooks that `stoker run` puts into a job?
bool stk_python_frame_is_hooks(struct stk_str name);
bool stk_python_frame_is_event_loop(struct stk_str name);
// The name without the parts that differ from run to run: "<built-in method item of Tensor>".
// NUL-terminated, at most size - 1 bytes; returns the length.
size_t stk_python_frame_text(struct stk_str name, char *out, size_t size);
