// SPDX-License-Identifier: Apache-2.0
// The user's own line behind a finding: a Python frame among the names of its causes. Kineto writes
// "train.py(35): main", TensorFlow and JAX "$train.py:35 main"; a name may go on " in another
// name". Frames of installed packages and of Python itself are passed over: nobody changes them.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "rules/finding.h"

#define MAX_LINE 10000000

// Packages, as folders of a path that Kineto cuts at the entries of sys.path.
static const char *const packages[] = {
    "torch",       "torchvision", "torchaudio",   "tensorflow", "keras",
    "jax",         "jaxlib",      "flax",         "optax",      "orbax",
    "grain",       "numpy",       "scipy",        "pandas",     "PIL",
    "cv2",         "sklearn",     "transformers", "accelerate", "diffusers",
    "datasets",    "peft",        "trl",          "lightning",  "pytorch_lightning",
    "timm",        "deepspeed",   "vllm",         "sglang",     "triton",
    "xformers",    "flash_attn",  "apex",         "absl",       "multiprocessing",
    "concurrent",  "asyncio",     "logging",      "json",       "importlib",
    "collections", "unittest"};
// Modules of Python itself.
static const char *const modules[] = {
    "contextlib.py",  "threading.py",   "queue.py",     "selectors.py", "socket.py",
    "ssl.py",         "copy.py",        "pickle.py",    "random.py",    "tempfile.py",
    "enum.py",        "abc.py",         "inspect.py",   "warnings.py",  "weakref.py",
    "runpy.py",       "subprocess.py",  "functools.py", "typing.py",    "types.py",
    "dataclasses.py", "_weakrefset.py", "os.py",        "signal.py"};

static bool is_installed(struct stk_str file)
{
    static const char *const folders[] = {"site-packages/", "dist-packages/", "lib/python", "<"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (stk_str_contains(file, stk_str_from(folders[i]))) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        size_t n = strlen(packages[i]);
        if (file.n > n && memcmp(file.p, packages[i], n) == 0 && file.p[n] == '/') {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        if (stk_str_eq(file, stk_str_from(modules[i]))) {
            return true;
        }
    }
    return false;
}

// One frame: the file up to its ".py", then "(35):" or ":35".
static bool parse_frame(struct stk_str frame, struct stk_str *file, int64_t *line)
{
    for (size_t i = 1; i + 4 < frame.n; i++) {
        char after = frame.p[i + 3];
        if (memcmp(frame.p + i, ".py", 3) != 0 || (after != '(' && after != ':')) {
            continue;
        }
        size_t n = 0;
        const char *digits = frame.p + i + 4;
        while (i + 4 + n < frame.n && digits[n] >= '0' && digits[n] <= '9') {
            n++;
        }
        if (!stk_str_to_i64((struct stk_str){digits, n}, line) || *line < 1 || *line > MAX_LINE) {
            continue;
        }
        size_t skip = frame.p[0] == '$';
        *file = (struct stk_str){frame.p + skip, i + 3 - skip};
        return file->n > 3 && !is_installed(*file);
    }
    return false;
}

bool stk_rule_parse_source(const char *name, struct stk_str *file, int64_t *line)
{
    while (name && *name) {
        const char *in = strstr(name, " in ");
        struct stk_str frame = {name, in ? (size_t)(in - name) : strlen(name)};
        if (parse_frame(frame, file, line)) {
            return true;
        }
        name = in ? in + 4 : NULL;
    }
    return false;
}

static bool take(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *name)
{
    struct stk_str file;
    int64_t line;
    if (!stk_rule_parse_source(name, &file, &line)) {
        return false;
    }
    f->source.file = stk_arena_strndup(ctx->pass.arena, file.p, file.n);
    f->source.line = line;
    f->has_source = f->source.file != NULL;
    return f->has_source;
}

void stk_finding_source(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts)
{
    int64_t best_ns = -1;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_cause *c = &ctx->pass.run->causes[p];
        for (int i = 0; i < c->name_count && (parts & (1u << p)); i++) {
            if (c->names[i].ns > best_ns && take(ctx, f, c->names[i].name)) {
                best_ns = c->names[i].ns;
            }
        }
    }
}
