// SPDX-License-Identifier: Apache-2.0
// Rows of Python tracers: see python_frame.h. Kineto strips the longest matching folder of Python's
// search path from a file's path, so packages begin with their own name. Limits: a package that is
// neither in python_owners.def nor in site-packages counts as the user's. TensorFlow and JAX record
// no folder, so the owner of a file is uncertain there.
#include "profile/model/threads/python_frame.h"

#include "base/assert.h"
#include "profile/store/names.h"

// Owners that only the table has: Python's own library, and data libraries. To others, both are
// libraries.
#define STK_PYTHON_STANDARD STK_PYTHON_OWNERS
#define STK_PYTHON_DATA (STK_PYTHON_OWNERS + 1)

static const char *const owner_keys[STK_PYTHON_OWNERS] = {"user", "framework", "library", "builtin",
                                                          "unknown"};

const char *stk_python_owner_key(enum stk_python_owner owner)
{
    STK_ASSERT((unsigned)owner < STK_PYTHON_OWNERS);
    return (unsigned)owner < STK_PYTHON_OWNERS ? owner_keys[owner] : "unknown";
}

static struct stk_str from(struct stk_str s, size_t at)
{
    STK_ASSERT(at <= s.n);
    return at ? (struct stk_str){s.p + at, s.n - at} : s; // an empty one may have a NULL text
}

static bool is_source(struct stk_str file)
{
    return stk_str_ends(file, STK_STR(".py")) || stk_str_ends(file, STK_STR(".pyx")) ||
           stk_str_starts(file, STK_STR("<"));
}

// The line number that follows the file in the name of a frame.
static int64_t line_of(struct stk_str file, struct stk_str digits)
{
    int64_t line;
    return is_source(file) && stk_str_to_i64(digits, &line) && line > 0 ? line : 0;
}

// "$module.py:12 function", "$numpy frombuffer".
static struct stk_python_frame parse_dollar(struct stk_str s)
{
    struct stk_python_frame f = {.file = from(s, 1)};
    const char *space = memchr(s.p, ' ', s.n);
    if (!space) {
        return (struct stk_python_frame){.function = from(s, 1)};
    }
    f.function = from(s, (size_t)(space + 1 - s.p));
    f.file.n = (size_t)(space - f.file.p);
    for (size_t i = f.file.n; i-- > 0;) {
        if (f.file.p[i] == ':') {
            struct stk_str digits = {f.file.p + i + 1, f.file.n - i - 1};
            f.file.n = i;
            f.line = line_of(f.file, digits);
            f.is_source = true;
            break;
        }
    }
    f.is_builtin = !f.is_source;
    return f;
}

// "path/module.py(12): function".
static struct stk_python_frame parse_kineto(struct stk_str s)
{
    struct stk_python_frame f = {.function = s};
    for (size_t i = s.n; i >= 3; i--) {
        if (memcmp(s.p + i - 3, "): ", 3) != 0) {
            continue;
        }
        size_t open = i - 3;
        while (open > 0 && s.p[open] != '(') {
            open--;
        }
        f.function = from(s, i);
        f.file = (struct stk_str){s.p, open};
        f.line = line_of(f.file, (struct stk_str){s.p + open + 1, i - 3 - open - 1});
        f.is_source = true;
        break;
    }
    return f;
}

struct stk_python_frame stk_python_frame_parse(struct stk_str name)
{
    struct stk_python_frame f;
    if (name.n && name.p[0] == '$') {
        f = parse_dollar(name);
    } else if (stk_str_starts(name, STK_STR("<built-in"))) {
        f = (struct stk_python_frame){.function = name, .is_builtin = true};
    } else {
        f = parse_kineto(name);
    }
    f.has_folder =
        f.file.n && (memchr(f.file.p, '/', f.file.n) || memchr(f.file.p, '\\', f.file.n));
    return f;
}

struct stk_str stk_python_frame_called(struct stk_str name)
{
    static const struct stk_str kinds[] = {{"<built-in method ", 17}, {"<built-in function ", 19}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (stk_str_starts(name, kinds[i])) {
            struct stk_str called = from(name, kinds[i].n);
            size_t n = 0;
            while (n < called.n && called.p[n] != ' ' && called.p[n] != '>') {
                n++;
            }
            return (struct stk_str){called.p, n};
        }
    }
    return stk_python_frame_parse(name).function;
}

struct owner_row {
    struct stk_str name;
    enum stk_python_owner owner;
};

static enum stk_python_owner look_up(const struct owner_row *rows, size_t count,
                                     struct stk_str name, enum stk_python_owner otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (stk_str_eq(rows[i].name, name)) {
            return rows[i].owner;
        }
    }
    return otherwise;
}

static enum stk_python_owner package_owner(struct stk_str package, enum stk_python_owner otherwise)
{
    static const struct owner_row rows[] = {
#define P(name, owner) {{name, sizeof name - 1}, STK_PYTHON_##owner},
#include "profile/model/threads/python_owners.def"
    };
    return look_up(rows, sizeof rows / sizeof *rows, package, otherwise);
}

static enum stk_python_owner file_owner(struct stk_str file, enum stk_python_owner otherwise)
{
    static const struct owner_row rows[] = {
#define F(name, owner) {{name, sizeof name - 1}, STK_PYTHON_##owner},
#include "profile/model/threads/python_owners.def"
    };
    return look_up(rows, sizeof rows / sizeof *rows, file, otherwise);
}

static struct stk_str first_folder(struct stk_str path)
{
    size_t n = 0;
    while (n < path.n && path.p[n] != '/' && path.p[n] != '\\' && path.p[n] != '.') {
        n++;
    }
    return (struct stk_str){path.p, n};
}

// The path after "site-packages/" or "dist-packages/"; empty without them.
static struct stk_str installed_package(struct stk_str path)
{
    static const struct stk_str folders[] = {{"site-packages/", 14}, {"dist-packages/", 14}};
    for (size_t i = 0; i < path.n; i++) {
        for (size_t k = 0; k < 2; k++) {
            if (stk_str_starts(from(path, i), folders[k])) {
                return first_folder(from(path, i + folders[k].n));
            }
        }
    }
    return (struct stk_str){"", 0};
}

// ".../lib/python3.11/queue.py": Python's own library.
static bool is_python_folder(struct stk_str path)
{
    return stk_str_contains(path, STK_STR("/lib/python3")) ||
           stk_str_contains(path, STK_STR("\\lib\\")) || stk_str_starts(path, STK_STR("<frozen"));
}

// Generated code: Inductor's and Triton's caches, TorchDynamo's and FX's functions.
static bool is_generated(struct stk_str file)
{
    return stk_str_contains(file, STK_STR("torchinductor_")) ||
           stk_str_contains(file, STK_STR("/.triton/")) ||
           stk_str_starts(file, STK_STR("<eval_with_key>"));
}

// "_clipping.py" is a library's: by convention, only the library imports such files, and jobs are
// files that are started. "__init__.py" may be anyone's.
static bool is_inner_module(struct stk_str file)
{
    return stk_str_starts(file, STK_STR("_")) && !stk_str_starts(file, STK_STR("__"));
}

bool stk_python_frame_is_hooks(struct stk_str name)
{
    struct stk_str file = stk_python_frame_parse(name).file;
    size_t at = file.n;
    while (at > 0 && file.p[at - 1] != '/' && file.p[at - 1] != '\\') {
        at--;
    }
    return stk_str_starts(from(file, at), STK_STR("_stoker_"));
}

static enum stk_python_owner owner_of(struct stk_str name)
{
    struct stk_python_frame f = stk_python_frame_parse(name);
    if (stk_str_starts(name, STK_STR("nn.Module: "))) {
        return STK_PYTHON_FRAMEWORK;
    }
    if (f.is_builtin) {
        return STK_PYTHON_BUILTIN;
    }
    if (!f.file.n) {
        return STK_PYTHON_UNKNOWN;
    }
    if (is_generated(f.file)) {
        return STK_PYTHON_FRAMEWORK;
    }
    if (stk_python_frame_is_hooks(name)) {
        return STK_PYTHON_LIBRARY;
    }
    struct stk_str package = installed_package(f.file);
    if (package.n) {
        return package_owner(package, STK_PYTHON_LIBRARY);
    }
    if (is_python_folder(f.file)) {
        return STK_PYTHON_STANDARD;
    }
    if (f.has_folder) {
        return package_owner(first_folder(f.file), STK_PYTHON_USER);
    }
    if (name.p[0] != '$') {
        return is_source(f.file) ? file_owner(f.file, STK_PYTHON_USER) : STK_PYTHON_USER;
    }
    enum stk_python_owner otherwise =
        is_inner_module(f.file) ? STK_PYTHON_LIBRARY : STK_PYTHON_UNKNOWN;
    return is_source(f.file) ? file_owner(f.file, otherwise) : otherwise;
}

enum stk_python_owner stk_python_frame_owner(struct stk_str name)
{
    enum stk_python_owner owner = owner_of(name);
    return owner >= STK_PYTHON_STANDARD ? STK_PYTHON_LIBRARY : owner;
}

// The package of a function written in C: "$numpy asarray", "<built-in method sort of numpy.ndarray
// object at 0x7f>".
static struct stk_str package_of_builtin(struct stk_str name, struct stk_python_frame f)
{
    for (size_t i = 0; f.file.n == 0 && i < name.n; i++) {
        if (stk_str_starts(from(name, i), STK_STR(" of "))) {
            f.file = from(name, i + 4);
        }
    }
    return first_folder(f.file);
}

bool stk_python_frame_is_data(struct stk_str name)
{
    struct stk_python_frame f = stk_python_frame_parse(name);
    enum stk_python_owner owner =
        f.is_builtin ? package_owner(package_of_builtin(name, f), STK_PYTHON_BUILTIN)
                     : owner_of(name);
    return owner == STK_PYTHON_DATA;
}

uint32_t stk_python_frame_denies(struct stk_str name)
{
    static const struct stk_str data[] = {
        {"/data", 5},        {"datasets", 8},      {"torchvision/", 12},
        {"torchaudio/", 11}, {"torchdata/", 10},   {"pipelines/", 10},
        {"processing", 10},  {"tokenization", 12}, {"feature_extraction", 18}};
    enum stk_python_owner owner = owner_of(name);
    struct stk_str file = stk_python_frame_parse(name).file;
    if (owner == STK_PYTHON_STANDARD || owner == STK_PYTHON_BUILTIN) {
        return STK_NAME_PREP | STK_NAME_COMPILE;
    }
    bool denies = owner == STK_PYTHON_FRAMEWORK;
    for (size_t i = 0; i < sizeof data / sizeof *data && denies; i++) {
        denies = !stk_str_contains(file, data[i]);
    }
    return denies ? STK_NAME_PREP : 0;
}

bool stk_python_frame_is_users(struct stk_str name)
{
    enum stk_python_owner owner = stk_python_frame_owner(name);
    return (owner == STK_PYTHON_USER || owner == STK_PYTHON_UNKNOWN) &&
           stk_str_ends(stk_python_frame_parse(name).file, STK_STR(".py"));
}

bool stk_python_frame_is_event_loop(struct stk_str name)
{
    struct stk_python_frame f = stk_python_frame_parse(name);
    return (stk_str_eq(f.function, STK_STR("run")) &&
            stk_str_ends(f.file, STK_STR("runners.py"))) ||
           (stk_str_eq(f.function, STK_STR("run_until_complete")) &&
            stk_str_ends(f.file, STK_STR("base_events.py")));
}

size_t stk_python_frame_text(struct stk_str name, char *out, size_t size)
{
    STK_ASSERT(size > 0);
    static const struct stk_str marks[] = {{" object at 0x", 13}, {" at 0x", 6}};
    size_t n = name.n < size - 1 ? name.n : size - 1;
    memcpy(out, name.p, n);
    if (stk_str_starts(name, STK_STR("<built-in"))) {
        for (size_t i = 0; i < 2 * n; i++) {
            if (stk_str_starts(from((struct stk_str){out, n}, i % n), marks[i / n])) {
                n = i % n;
                out[n++] = '>';
                break;
            }
        }
    }
    out[n] = '\0';
    return n;
}
