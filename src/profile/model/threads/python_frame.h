// SPDX-License-Identifier: Apache-2.0
// What the row of a Python tracer says: file, line and function, and whose code it is.
//   Kineto            "torch/nn/modules/module.py(1501): _call_impl", "nn.Module: Linear_0",
//                     "<built-in method item of Tensor object at 0x7f>"
//   TensorFlow, JAX   "$module.py:1501 function" (no folder), "$numpy frombuffer", "$builtins next"
#pragma once

#include "base/str.h"

enum stk_python_owner {
    STK_PYTHON_USER,      // files of the job itself
    STK_PYTHON_FRAMEWORK, // PyTorch, TensorFlow, Keras, JAX and what is built on them
    STK_PYTHON_LIBRARY,   // other packages, and Python's own modules
    STK_PYTHON_BUILTIN,   // functions written in C
    STK_PYTHON_UNKNOWN,   // the row has a file name without a folder that may be anybody's
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
// What the function is called, of those written in C too: "item" of the example above.
struct stk_str stk_python_frame_called(struct stk_str name);
enum stk_python_owner stk_python_frame_owner(struct stk_str name);
// A row of a library of arrays, tables, pictures, texts or stores (NumPy, PIL, h5py), its functions
// written in C too.
bool stk_python_frame_is_data(struct stk_str name);
// Class bits that a function's name may suggest and its file refutes: nothing in Python's own
// library prepares the user's data or compiles a model, and of a framework only files about data do
// the former.
uint32_t stk_python_frame_denies(struct stk_str name);
// A function in a file of the job itself, or in one that may be anybody's.
bool stk_python_frame_is_users(struct stk_str name);
// asyncio's loop, or asyncio.run around it: what it runs, and what it waits for, is the work of the
// coroutines inside.
// Is it of the hooks that `stoker run` puts into a job?
bool stk_python_frame_is_hooks(struct stk_str name);
bool stk_python_frame_is_event_loop(struct stk_str name);
// The name without what differs from run to run: "<built-in method item of Tensor>".
// NUL-terminated, at most size - 1 bytes; returns the length.
size_t stk_python_frame_text(struct stk_str name, char *out, size_t size);
