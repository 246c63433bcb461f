// SPDX-License-Identifier: Apache-2.0
// A name is public if it is one of a few whole names, or has a certain form: a prefix that names a
// vendor, followed only by words of public_words.def, numbers and the punctuation of that form. A
// prefix alone proves nothing: users' names can start with "hip", "cuda" and "aten::", too.
//
// Words of a name: letters up to a character of another kind, or to a capital after a small letter
// ("MemcpyAsync" has two, as has "HTTPServer").
// Limits: a user's name made only of such words, in such a form, is shown.
#include "api/public_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/model/summary.h"

enum { WORD_MAX = 16, DIGITS_MAX = 9, SHORT = 2 };

static const char *const words[] = {
#define W(word) #word,
#include "api/public_words.def"
#undef W
};

// Words of product names; a word of up to two letters is always known.
static const char *const product_words[] = {
    "AMD",      "Ada",     "Blackwell",  "Capture", "Center",     "DGXS",        "Data",  "Device",
    "Edition",  "GPU",     "GRID",       "GeForce", "Generation", "Graphics",    "HBM",   "Hopper",
    "Instinct", "Intel",   "JAX",        "Jetson",  "Kineto",     "Laptop",      "Lite",  "MIG",
    "Max",      "NVIDIA",  "NVL",        "Nsight",  "Orin",       "PCIE",        "PCIe",  "PyTorch",
    "Pro",      "Quadro",  "RTX",        "Radeon",  "SXM",        "Server",      "Super", "Systems",
    "TITAN",    "TPU",     "TensorFlow", "Tesla",   "Thor",       "Workstation", "XLA",   "capture",
    "data",     "machine", "merged",     "or",      "profiler",   "ranks",       "run",   "stoker",
    "trace",    "viewer",
};

static const char *const keys[] = {
#define K(key) key,
#include "api/public_keys.def"
#undef K
};

// Which characters may separate the words.
enum form { IDENTIFIER, OPERATION, SCOPES, SIGNATURE };
static const char *const punctuation[] = {
    [IDENTIFIER] = "_.",
    [OPERATION] = "_.-", // "mul.out-dtype_Float"
    [SCOPES] = "_.:[]<>&",
    [SIGNATURE] = "_.:[]<>&(),*+-# {}~'",
};

static const struct beginning {
    const char *text;
    enum form form;
} beginnings[] = {
    {"aten::", OPERATION},
    {"c10d::", IDENTIFIER},
    {"nccl:", IDENTIFIER},
    {"gloo:", IDENTIFIER},
    {"autograd::engine::evaluate_function", SIGNATURE},
    {"torch::", SIGNATURE},
    {"Iterator::", SCOPES},
    {"IteratorGetNext", SCOPES},
    {"TfrtCpuExecutable", SCOPES},
    {"copy-done", IDENTIFIER},
    {"copy-start", IDENTIFIER},
    {"Memcpy", SIGNATURE},
    {"Memset", SIGNATURE},
    {"[CUDA ", SIGNATURE},
    {"void at::", SIGNATURE},
    {"void cub::", SIGNATURE},
    {"void cutlass::", SIGNATURE},
    {"nccl", SIGNATURE},
    {"rccl", SIGNATURE},
    {"cudnn", SIGNATURE},
    {"cublas", SIGNATURE},
    {"cutlass", SIGNATURE},
    {"volta_", SIGNATURE},
    {"turing_", SIGNATURE},
    {"ampere_", SIGNATURE},
    {"sm75_", SIGNATURE},
    {"sm80_", SIGNATURE},
    {"sm86_", SIGNATURE},
    {"sm89_", SIGNATURE},
    {"sm90_", SIGNATURE},
    {"sm100_", SIGNATURE},
    {"Cijk_", SIGNATURE},
};

// Functions of CUDA, its driver and HIP: a capital follows.
static const char *const apis[] = {"cuda", "hip", "cu"};

static const char *const whole[] = {
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "torch::autograd::AccumulateGrad",
    "XlaModule",
    // stoker's own words among names
    "(before the profile)",
    "(held by the program)",
    "launched and not yet begun",
    "derived from launches",
    STK_WHAT_SHUFFLE,
    "workers that start",
    "tracing and compilation",
    // units of counters
    "%",
    "B",
    "kB",
    "MB",
    "GB",
    "bytes",
    "B/s",
    "MB/s",
    "GB/s",
    "ns",
    "us",
    "ms",
    "s",
    "W",
    "mW",
    "C",
    "MHz",
    "GHz",
};

// Classes of torch.optim, whose methods are annotations.
static const char *const optimizers[] = {
    "SGD",  "Adam",  "AdamW",      "Adagrad", "Adadelta", "Adamax",    "NAdam", "RAdam",
    "ASGD", "LBFGS", "SparseAdam", "RMSprop", "Rprop",    "Adafactor", "Muon",
};

// If several fit, the longest must come first.
static const struct stk_public_frame frames[] = {
    {"enumerate(DataLoader)#", ""},
    {"enumerate(DataPipe)#", ""},
    {"Optimizer.step#", ".step"},
    {"Optimizer.zero_grad#", ".zero_grad"},
    {"autograd::engine::evaluate_function: ", ""},
    {"PjitFunction(", ")"},
    {"XlaModule:", ""},
    {"Iterator::", ""},
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

// Letters of the word at p: four for "HTTPServer", three for "hipFree".
static size_t word_length(const char *p)
{
    size_t n = 0;
    while (is_upper(p[n])) {
        n++;
    }
    if (n > 1) {
        return is_lower(p[n]) ? n - 1 : n;
    }
    while (is_lower(p[n])) {
        n++;
    }
    return n;
}

static int compare_words(const void *word, const void *row)
{
    return strcmp(word, *(const char *const *)row);
}

static bool is_public_word(const char *p, size_t n)
{
    char low[WORD_MAX + 1];
    if (n > WORD_MAX) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        low[i] = is_upper(p[i]) ? (char)(p[i] - 'A' + 'a') : p[i];
    }
    low[n] = 0;
    return bsearch(low, words, sizeof words / sizeof *words, sizeof *words, compare_words) != NULL;
}

static size_t digits(const char *p)
{
    size_t n = 0;
    while (is_digit(p[n])) {
        n++;
    }
    return n;
}

static bool are_public_words(const char *p, enum form form)
{
    while (*p) {
        size_t n = word_length(p);
        if (n > 0) {
            if (!is_public_word(p, n)) {
                return false;
            }
            p += n;
        } else if (is_digit(*p)) {
            n = digits(p);
            if (n > DIGITS_MAX) {
                return false;
            }
            p += n;
        } else if (strchr(punctuation[form], *p)) {
            p++;
        } else {
            return false;
        }
    }
    return true;
}

// "cudaMemcpyAsync_v3020", and in a graph "cuGraphLaunch (CudaGraph:45)".
static bool is_api_call(const char *name)
{
    static const char graph[] = " (CudaGraph:";
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        size_t n = strlen(apis[i]);
        if (!starts(name, apis[i]) || !is_upper(name[n])) {
            continue;
        }
        const char *end = strchr(name, ' ');
        char call[96];
        size_t length = end ? (size_t)(end - name) : strlen(name);
        if (length >= sizeof call) {
            return false;
        }
        memcpy(call, name, length);
        call[length] = 0;
        if (end) {
            size_t number = starts(end, graph) ? digits(end + sizeof graph - 1) : 0;
            if (number == 0 || number > DIGITS_MAX ||
                strcmp(end + sizeof graph - 1 + number, ")") != 0) {
                return false;
            }
        }
        return are_public_words(call + n, IDENTIFIER);
    }
    return false;
}

// "ProfilerStep#12".
static bool is_step(const char *name)
{
    static const char step[] = "ProfilerStep#";
    if (!starts(name, step)) {
        return false;
    }
    size_t n = digits(name + sizeof step - 1);
    return n > 0 && n <= DIGITS_MAX && name[sizeof step - 1 + n] == 0;
}

static bool is_inside(const struct stk_public_frame *f, const char *name)
{
    size_t n = strlen(name), before = strlen(f->before), after = strlen(f->after);
    return n > before + after && starts(name, f->before) && strcmp(name + n - after, f->after) == 0;
}

const struct stk_public_frame *stk_public_frame_of(const char *name)
{
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        if (is_inside(&frames[i], name)) {
            return &frames[i];
        }
    }
    return NULL;
}

// "Optimizer.step#AdamW.step".
static bool is_optimizer(const char *name)
{
    const struct stk_public_frame *f =
        starts(name, "Optimizer.") ? stk_public_frame_of(name) : NULL;
    for (size_t i = 0; f && i < sizeof optimizers / sizeof *optimizers; i++) {
        size_t n = strlen(optimizers[i]), before = strlen(f->before);
        if (starts(name + before, optimizers[i]) && strcmp(name + before + n, f->after) == 0) {
            return true;
        }
    }
    return false;
}

bool stk_public_name(const char *name)
{
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (strcmp(name, whole[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (starts(name, beginnings[i].text)) {
            return are_public_words(name + strlen(beginnings[i].text), beginnings[i].form);
        }
    }
    return is_step(name) || is_optimizer(name) || is_api_call(name);
}

// A word of a product's name: letters in any case.
static bool is_product_word(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof product_words / sizeof *product_words; i++) {
        if (strlen(product_words[i]) == n && memcmp(product_words[i], p, n) == 0) {
            return true;
        }
    }
    return n <= SHORT;
}

bool stk_public_product(const char *name)
{
    for (const char *p = name; *p;) {
        size_t n = 0;
        while (is_upper(p[n]) || is_lower(p[n])) {
            n++;
        }
        if (n ? !is_product_word(p, n) : !is_digit(*p) && !strchr(" .-,()/", *p)) {
            return false;
        }
        p += n ? n : 1;
    }
    return true;
}

static int compare_key(const void *key, const void *row)
{
    const struct stk_str *k = key;
    const char *text = *(const char *const *)row;
    size_t n = strlen(text);
    int order = memcmp(k->p, text, k->n < n ? k->n : n);
    return order ? order : (k->n > n) - (k->n < n);
}

bool stk_public_key(const char *key, size_t n)
{
    const struct stk_str wanted = {key, n};
    return bsearch(&wanted, keys, sizeof keys / sizeof *keys, sizeof *keys, compare_key) != NULL;
}

const char *stk_public_word(size_t i)
{
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const char *stk_public_key_row(size_t i)
{
    return i < sizeof keys / sizeof *keys ? keys[i] : NULL;
}
