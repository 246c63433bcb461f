// SPDX-License-Identifier: Apache-2.0
// Shortens a C++ name for a narrow column. The least informative parts go first: return type,
// arguments, the namespaces that every kernel has. A template that is still too long becomes its
// own name and the one argument that distinguishes it: PyTorch's seven
// vectorized_elementwise_kernel<4, ...> kernels differ in what they compute, so
//   vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, MulFunctor<float> >, ...>
// is "vectorized_e...<MulFunctor>". The distinguishing argument is the first name that isn't a
// type, namespace or adapter (table below). Limits: two that only differ in types look the same.
// Names other than templates keep their beginning.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "results/print/cpp_name.h"
#include "base/utf8.h"

#define MIN_WIDTH 12

// Types, and adapters around what a kernel computes: of C++, CUDA, PyTorch, CUB, Thrust, Eigen,
// CUTLASS and Composable Kernel.
static const char *const says_little[] = {
    "const",
    "unsigned",
    "signed",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "void",
    "true",
    "false",
    "half",
    "Half",
    "BFloat16",
    "__half",
    "__nv_bfloat16",
    "bfloat16_t",
    "half_t",
    "tfloat32_t",
    "float2",
    "float4",
    "size_t",
    "int64_t",
    "int32_t",
    "uint8_t",
    "std",
    "array",
    "Array",
    "tuple",
    "pair",
    "integral_constant",
    "enable_if",
    "lambda",
    "operator",
    "OpaqueType",
    "TensorIteratorBase",
    "TensorIterator",
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "gpu_index_kernel",
    "BinaryFunctor",
    "BUnaryFunctor",
    "AUnaryFunctor",
    "UnaryFunctor",
    "ReduceOp",
    "func_wrapper_t",
    "OffsetCalculator",
    "TrivialOffsetCalculator",
    "Policy600",
    "agent_launcher_t",
    "TensorEvaluator",
    "TensorAssignOp",
    "TensorMap",
    "Tensor",
    "GpuDevice",
    "DefaultDevice",
    "MakePointer",
    "TensorCwiseBinaryOp",
    "TensorCwiseUnaryOp",
    "TensorCwiseNullaryOp",
    "TensorConversionOp",
    "Kernel2",
    "Sequence",
    "sequence",
    "PassThrough",
};

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Without return type, common namespaces and arguments.
static void cpp_strip(const char *name, char out[STK_CPP_NAME_MAX])
{
    static const char *const noise[] = {"void ", "(anonymous namespace)::", "at::native::"};
    size_t n = 0;
    int depth = 0;
    while (*name && n + 1 < STK_CPP_NAME_MAX) {
        size_t skipped = 0;
        for (size_t i = 0; i < sizeof noise / sizeof noise[0] && !skipped; i++) {
            if (strncmp(name, noise[i], strlen(noise[i])) == 0) {
                skipped = strlen(noise[i]);
            }
        }
        name += skipped;
        if (skipped) {
            continue;
        }
        depth += (*name == '<') - (*name == '>');
        if (*name == '(' && depth == 0 && n > 0) {
            break;
        }
        out[n++] = *name++;
    }
    out[n] = 0;
}

static int width_of(const char *text, size_t bytes)
{
    int width = 0;
    size_t length;
    for (const char *p = text; p < text + bytes; p += length, width++) {
        stk_utf8_next(p, &length);
    }
    return width;
}

struct word {
    const char *at;
    size_t length;
};

static bool tells(struct word w)
{
    if (w.at[0] >= '0' && w.at[0] <= '9') {
        return false;
    }
    for (size_t i = 0; i < sizeof says_little / sizeof says_little[0]; i++) {
        if (strlen(says_little[i]) == w.length && memcmp(says_little[i], w.at, w.length) == 0) {
            return false;
        }
    }
    return true;
}

// The first name in the template's arguments that shows what it computes; length 0: none.
static struct word telling(const char *p)
{
    while (*p) {
        if (!name_char(*p)) {
            p++;
            continue;
        }
        struct word w = {.at = p};
        while (name_char(*p)) {
            p++;
        }
        w.length = (size_t)(p - w.at);
        bool qualifies = p[0] == ':' && p[1] == ':' && name_char(p[2]); // a namespace or class
        if (!qualifies && tells(w)) {
            return w;
        }
    }
    return (struct word){0};
}

// The name of the template itself, without qualifiers.
static struct word outer(const char *name, const char *open)
{
    const char *at = open;
    while (at > name && name_char(at[-1])) {
        at--;
    }
    return (struct word){.at = at, .length = (size_t)(open - at)};
}

// The beginning, with "..." if it was cut.
static void cpp_cut(const char *text, int width, char out[STK_CPP_NAME_MAX])
{
    size_t bytes = 0, length;
    if (width_of(text, strlen(text)) <= width) {
        width = STK_CPP_NAME_MAX;
    }
    for (int i = 0; i < width - 3 && text[bytes] && bytes < STK_CPP_NAME_MAX - 8;
         i++, bytes += length) {
        stk_utf8_next(text + bytes, &length);
    }
    memcpy(out, text, bytes);
    memcpy(out + bytes, text[bytes] ? "..." : "", text[bytes] ? 4 : 1);
}

// A part in at most `capacity` bytes, with "..." at its end if it is longer. Names are ASCII here.
static int cpp_put(char *out, struct word w, int capacity)
{
    if ((int)w.length <= capacity) {
        memcpy(out, w.at, w.length);
        return (int)w.length;
    }
    memcpy(out, w.at, (size_t)capacity - 3);
    memcpy(out + capacity - 3, "...", 3);
    return capacity;
}

const char *stk_cpp_name_fit(const char *name, int width, char out[STK_CPP_NAME_MAX])
{
    char whole[STK_CPP_NAME_MAX];
    if (width < MIN_WIDTH) {
        width = MIN_WIDTH;
    }
    if (width > STK_CPP_NAME_MAX - 8) {
        width = STK_CPP_NAME_MAX - 8;
    }
    cpp_strip(name, whole);
    if (width_of(whole, strlen(whole)) <= width) {
        return memcpy(out, whole, strlen(whole) + 1);
    }
    const char *open = strchr(whole, '<');
    struct word in = open ? telling(open + 1) : (struct word){0};
    struct word head = open ? outer(whole, open) : (struct word){0};
    if (in.length == 0 || head.length == 0) {
        bool crowded = open && open - whole > width - 3; // qualifiers would take its room
        cpp_cut(crowded && head.length ? head.at : whole, width, out);
        return out;
    }
    int capacity = width - 2, least = capacity / 3; // the minimum for the template's own name
    int inner_capacity = capacity - ((int)head.length < least ? (int)head.length : least);
    int inner = (int)in.length < inner_capacity ? (int)in.length : inner_capacity;
    int n = cpp_put(out, head, capacity - inner);
    out[n++] = '<';
    n += cpp_put(out + n, in, inner);
    out[n++] = '>';
    out[n] = 0;
    return out;
}
