// SPDX-License-Identifier: Apache-2.0
// Classifies names. The rules are tables (names.def, names_prep.def, each row with its reason).
// This file makes names comparable: it handles API prefixes and version suffixes of calls,
// decoration of ranges, the instruction's name in an HLO line, and the function's name in a Python
// frame. Each distinct string of a trace is examined once (stk_names_classify).
#include "base/assert.h"
#include "profile/store/names.h"

#include "base/alloc.h"
#include "profile/store/names_block.h"
#include "profile/store/names_match.h"
#include "profile/store/names_said.h"
#include "profile/store/tf_name.h"

#define MEDIA 1u
#define DATA 2u
enum place { ANY, LAST };
static const struct verb {
    struct stk_str word;
    uint32_t nouns;
    enum place place;
} verbs[] = {
#define VERB(word, nouns, place) {{word, sizeof(word) - 1}, nouns, place},
#define NOUN(word, set)
#define NOT_AFTER(word)
#include "profile/store/names_prep.def"
#undef VERB
#undef NOUN
};
static const struct noun {
    struct stk_str word;
    uint32_t set;
} nouns_known[] = {
#define VERB(word, nouns, place)
#define NOUN(word, set) {{word, sizeof(word) - 1}, set},
#include "profile/store/names_prep.def"
#undef NOUN
#undef NOT_AFTER
};
static const struct stk_str never_after[] = {
#define NOUN(word, set)
#define NOT_AFTER(word) {word, sizeof(word) - 1},
#include "profile/store/names_prep.def"
#undef VERB
#undef NOUN
#undef NOT_AFTER
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static struct stk_str cut_front(struct stk_str s, size_t n)
{
    return (struct stk_str){s.p + n, s.n - n};
}

// Length of the API prefix of a call ("cuda", "hip", "cu"), 0 if it has none.
static size_t api_prefix(struct stk_str s)
{
    static const struct stk_str apis[] = {{"cuda", 4}, {"hip", 3}, {"cu", 2}};
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        if (stk_str_starts(s, apis[i]) && s.n > apis[i].n && is_upper(s.p[apis[i].n])) {
            return apis[i].n;
        }
    }
    return 0;
}

// Without "_v7000", "_v2", "_ptsz", "_ptds", "_spt" at the end.
static struct stk_str cut_version(struct stk_str s)
{
    static const struct stk_str variants[] = {{"_ptsz", 5}, {"_ptds", 5}, {"_spt", 4}};
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            if (stk_str_ends(s, variants[i])) {
                s.n -= variants[i].n;
                again = true;
            }
        }
        size_t n = s.n;
        while (n && is_digit(s.p[n - 1])) {
            n--;
        }
        if (n < s.n && n >= 2 && s.p[n - 1] == 'v' && s.p[n - 2] == '_') {
            s.n = n - 2;
            again = true;
        }
    }
    return s;
}

static uint32_t classify_call(struct stk_str name)
{
    return stk_names_ask(STK_SCOPE_CALL, cut_version(cut_front(name, api_prefix(name))));
}

// The kernel's name, or the instruction's name in an HLO line "%all-reduce.1 = f32[8]
// all-reduce(...)": the rest has names of other instructions.
static uint32_t classify_work(struct stk_str name)
{
    if (name.n && name.p[0] == '%') {
        name = cut_front(name, 1);
        const char *end = memchr(name.p, ' ', name.n);
        if (end) {
            name.n = (size_t)(end - name.p);
        }
    }
    return stk_names_ask(STK_SCOPE_WORK, name);
}

struct words {
    char text[192]; // "_read_video_pyav_"
    size_t n;
};

// Lower case, words between underscores; split at anything else and at aB.
static void split_words(struct words *w, struct stk_str s)
{
    w->n = 0;
    w->text[w->n++] = '_';
    for (size_t i = 0; i < s.n && w->n + 3 < sizeof w->text; i++) {
        char c = s.p[i];
        bool letter = is_lower(c) || is_upper(c) || is_digit(c);
        if (w->text[w->n - 1] != '_' && (!letter || (is_upper(c) && i && is_lower(s.p[i - 1])))) {
            w->text[w->n++] = '_';
        }
        if (letter) {
            w->text[w->n++] = is_upper(c) ? (char)(c - 'A' + 'a') : c;
        }
    }
    if (w->text[w->n - 1] != '_') {
        w->text[w->n++] = '_';
    }
}

// The word that begins at `at`; empty at the end.
static struct stk_str word_at(const struct words *w, size_t at)
{
    size_t end = at;
    while (end < w->n && w->text[end] != '_') {
        end++;
    }
    return (struct stk_str){w->text + at, end - at};
}

static const struct verb *find_verb(struct stk_str word)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (word.n && verbs[i].word.p[0] == word.p[0] && stk_str_eq(verbs[i].word, word)) {
            return &verbs[i];
        }
    }
    return NULL;
}

static bool noun_fits(const struct words *w, size_t at, const struct verb *verb)
{
    struct stk_str noun = word_at(w, at), after = {"", 0};
    if (noun.n && at + noun.n + 1 < w->n) {
        after = word_at(w, at + noun.n + 1);
    }
    if (verb->place == LAST && after.n) {
        return false;
    }
    for (size_t i = 0; i < sizeof never_after / sizeof *never_after; i++) {
        if (stk_str_eq(after, never_after[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof nouns_known / sizeof *nouns_known; i++) {
        if (nouns_known[i].set & verb->nouns && stk_str_eq(nouns_known[i].word, noun)) {
            return true;
        }
    }
    return false;
}

static bool prepares_data(const struct words *w)
{
    for (size_t at = 1; at < w->n;) {
        struct stk_str word = word_at(w, at);
        const struct verb *verb = find_verb(word);
        at += word.n + 1;
        if (verb && at < w->n && noun_fits(w, at, verb)) {
            return true;
        }
    }
    return false;
}

static uint32_t classify_words(struct stk_str s)
{
    struct words w;
    split_words(&w, s);
    uint32_t bits = stk_names_ask(STK_SCOPE_WORDS, (struct stk_str){w.text, w.n});
    return prepares_data(&w) ? bits | STK_NAME_PREP : bits;
}

// Cut where a decoration begins.
static struct stk_str cut_at(struct stk_str s, const char *mark)
{
    const char *at = memmem(s.p, s.n, mark, strlen(mark));
    if (at) {
        s.n = (size_t)(at - s.p);
    }
    return s;
}

// Range name without PyTorch's emit_nvtx tail, XPlane's "NVTX:domain:" and "## ... ##".
static struct stk_str plain_range(struct stk_str s)
{
    if (s.n && memchr(s.p, ',', s.n)) {
        s = cut_at(cut_at(cut_at(s, ", op_id = "), ", seq = "), ", sizes = ");
    }
    if (stk_str_starts(s, STK_STR("NVTX:"))) {
        const char *colon = memchr(s.p + 5, ':', s.n - 5);
        if (colon) {
            s = cut_front(s, (size_t)(colon + 1 - s.p));
        }
    }
    if (s.n > 6 && stk_str_starts(s, STK_STR("## ")) && stk_str_ends(s, STK_STR(" ##"))) {
        s = (struct stk_str){s.p + 3, s.n - 6};
    }
    return s;
}

// The Type of TensorFlow's "name:Type" (tsl/profiler/utils/tf_op_utils.cc), else empty.
static struct stk_str tensorflow_type(struct stk_str s)
{
    struct stk_tf_name name = stk_tf_name_parse(s);
    struct stk_str none = {"", 0}, type = name.type;
    for (size_t i = 0; i < name.path.n; i++) {
        char c = name.path.p[i];
        if (!is_lower(c) && !is_upper(c) && !is_digit(c) && !strchr("._/>-", c)) {
            return none;
        }
    }
    size_t initial = type.n && type.p[0] == '_'; // _Arg, _MklNativeConv2D; not nccl:_all_gather
    if (type.n <= initial || !is_upper(type.p[initial])) {
        return none;
    }
    for (size_t i = 0; i < type.n; i++) {
        if (!is_lower(type.p[i]) && !is_upper(type.p[i]) && !is_digit(type.p[i]) &&
            type.p[i] != '_') {
            return none;
        }
    }
    return type;
}

static uint32_t classify_type(struct stk_str type)
{
    // Bookkeeping of the executor, not work.
    static const struct stk_str idle[] = {{"_Arg", 4},      {"_Retval", 7},    {"_Send", 5},
                                          {"_Recv", 5},     {"_HostSend", 9},  {"_HostRecv", 9},
                                          {"Identity", 8},  {"NoOp", 4},       {"Const", 5},
                                          {"IdentityN", 9}, {"_DeviceArg", 10}};
    uint32_t bits = stk_names_ask(STK_SCOPE_TYPE, type);
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        if (stk_str_eq(type, idle[i])) {
            return bits;
        }
    }
    return bits ? bits : STK_NAME_MODEL_OP;
}

// "AddmmBackward0", "CompiledFunctionBackward".
static bool is_backward_node(struct stk_str s)
{
    while (s.n && is_digit(s.p[s.n - 1])) {
        s.n--;
    }
    return s.n > 8 && is_upper(s.p[0]) && stk_str_ends(s, STK_STR("Backward"));
}

// "customflash::custom_flash_aligned": an operator registered with PyTorch. C++ scopes have types
// (capitals) or more levels.
static bool is_custom_op(struct stk_str s)
{
    const char *scope = s.n > 4 ? memmem(s.p, s.n, "::", 2) : NULL;
    if (!scope || scope == s.p || scope + 2 == s.p + s.n) {
        return false;
    }
    for (const char *p = s.p; p < s.p + s.n; p++) {
        if (p != scope && p != scope + 1 && *p != '_' && !is_lower(*p) && !is_digit(*p)) {
            return false;
        }
    }
    return true;
}

// "EagerLocalExecute: Conv2D": the operation that TensorFlow runs right away, on the calling
// thread. Functions ("__inference_step_12") contain operations and don't count.
static struct stk_str eager_type(struct stk_str s)
{
    struct stk_str prefix = STK_STR("EagerLocalExecute: ");
    struct stk_str type =
        stk_str_starts(s, prefix) ? cut_front(s, prefix.n) : (struct stk_str){"", 0};
    return type.n && is_upper(type.p[0]) ? type : (struct stk_str){"", 0};
}

// "PjRtStreamExecutorBuffer::Release", "Scheduled Executable::Execute". A tf.data stage isn't one.
static bool is_method(struct stk_str s)
{
    if (stk_str_starts(s, STK_STR("Iterator::"))) {
        return false;
    }
    for (size_t i = 0; i + 2 < s.n; i++) {
        if (s.p[i] == ':' && s.p[i + 1] == ':' && is_upper(s.p[i + 2])) {
            return true;
        }
    }
    return false;
}

// Internals of the runtime, among names that aren't an operation "name:Type".
static uint32_t internal_bit(struct stk_str s, uint32_t bits)
{
    const uint32_t machinery = STK_NAME_XLA_RUN | STK_NAME_COMPILE | STK_NAME_FW_STEP;
    if (bits & machinery) {
        return STK_NAME_INTERNAL;
    }
    return !(bits & STK_NAME_MODEL_OP) && is_method(s) ? STK_NAME_INTERNAL : 0;
}

static uint32_t classify_host(struct stk_str name)
{
    struct stk_str s = plain_range(name), type = tensorflow_type(s), eager = eager_type(s);
    uint32_t bits = stk_names_ask(STK_SCOPE_HOST, s);
    if (eager.n) { // the prefix's rule is about functions
        return classify_type(eager);
    }
    if (type.n) { // a graph node has its own name, an eager operation its type's
        bits |= type.p - s.p - 1 == (ptrdiff_t)type.n && memcmp(s.p, type.p, type.n) == 0
                    ? 0
                    : STK_NAME_GRAPH_NODE;
    }
    if (type.n) {
        return bits | classify_type(type);
    }
    if (api_prefix(s)) {
        bits |= classify_call(s);
    }
    if (is_backward_node(s) || (!bits && is_custom_op(s))) {
        bits |= STK_NAME_MODEL_OP;
    }
    if (!memmem(s.p, s.n, "::", 2)) {
        bits |= classify_words(s);
    }
    return bits | internal_bit(s, bits);
}

// "torch/_compile.py(24): inner", "$file.py:12 function", "<built-in method item of Tensor object
// at 0x7f>", "nn.Module: Linear_0". Empty if the function can't be separated from its path.
static struct stk_str python_function(struct stk_str s)
{
    static const struct stk_str built_ins[] = {{"<built-in function ", 19},
                                               {"<built-in method ", 17}};
    if (s.n && s.p[0] == '$') {
        const char *space = memchr(s.p, ' ', s.n);
        return space ? cut_front(s, (size_t)(space + 1 - s.p)) : (struct stk_str){"", 0};
    }
    for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++) {
        if (stk_str_starts(s, built_ins[i])) {
            s = cut_front(s, built_ins[i].n);
            s.n = strcspn(s.p, " >") < s.n ? strcspn(s.p, " >") : s.n;
            return s;
        }
    }
    for (size_t i = s.n; i >= 3; i--) {
        if (memcmp(s.p + i - 3, "): ", 3) == 0) {
            return cut_front(s, i);
        }
    }
    if (stk_str_starts(s, STK_STR("nn.Module: ")) || memchr(s.p, '/', s.n)) {
        return (struct stk_str){"", 0};
    }
    return s;
}

static uint32_t classify_python(struct stk_str name)
{
    struct stk_str s = python_function(name);
    uint32_t bits = 0;
    if (!s.n) {
        return 0;
    }
    bits = stk_names_ask(STK_SCOPE_PYTHON, s) | classify_words(s);
    if ((stk_str_eq(s, STK_STR("item")) || stk_str_eq(s, STK_STR("tolist"))) &&
        stk_str_contains(name, STK_STR(" of Tensor object"))) {
        bits |= STK_NAME_ITEM;
    }
    bits |= stk_name_blocks(name) ? STK_NAME_BLOCKED : 0;
    bits |= stk_name_lets_go(name) ? STK_NAME_LETS_GO : 0;
    return bits;
}

uint32_t stk_name_classify(struct stk_str name, enum stk_kind kind)
{
    uint32_t said;
    STK_ASSERT((unsigned)kind < STK_KIND_COUNT);
    if (!name.n) {
        return 0;
    }
    if (stk_name_may_say(name) && stk_name_says(name, &said)) {
        return said;
    }
    switch (kind) {
    case STK_KIND_RUNTIME:
        return classify_call(name);
    case STK_KIND_KERNEL:
    case STK_KIND_COLLECTIVE:
    case STK_KIND_MEMCPY:
    case STK_KIND_MEMSET:
        return classify_work(name);
    case STK_KIND_PYTHON:
        return classify_python(name);
    case STK_KIND_HOST_OP:
    case STK_KIND_ANNOTATION:
    case STK_KIND_INPUT:
    case STK_KIND_OTHER:
        return classify_host(name);
    default:
        return 0;
    }
}

uint32_t *stk_names_classify(const struct stk_trace *t)
{
    uint32_t n = t->strings.count;
    uint32_t *bits = stk_alloc_zero(n ? n : 1, sizeof *bits);
    uint16_t *kinds = stk_alloc_zero(n ? n : 1, sizeof *kinds);
    if (!bits || !kinds) {
        stk_free(bits);
        stk_free(kinds);
        return NULL;
    }
    _Static_assert(STK_KIND_COUNT <= 16, "kinds fit in 16 bits");
    for (uint32_t i = 0; i < t->count; i++) {
        kinds[t->name[i]] |= (uint16_t)(1u << t->kind[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned k = 0; kinds[i] >> k; k++) {
            if (kinds[i] >> k & 1) {
                bits[i] |= stk_name_classify(stk_strpool_get(&t->strings, i), (enum stk_kind)k);
            }
        }
    }
    stk_free(kinds);
    return bits;
}
