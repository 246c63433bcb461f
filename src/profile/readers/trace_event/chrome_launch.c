// SPDX-License-Identifier: Apache-2.0
// How kernels were launched, and what the operators around them compute: read a second time from
// the event's arguments, only if an analysis asked for it.
//
// Kernels: "grid", "block", "registers per thread", "shared memory" and "est. achieved occupancy %"
// as Kineto writes them (libkineto/src/CuptiActivity.cpp); ROCm writes grid and block alone.
// Operators: floating-point operations and least memory traffic from "Input Dims", "Input type" and
// "Concrete Inputs", which record_shapes=True writes: matrix products, convolutions, attention
// without a mask, and elementwise operators (traffic alone). A multiplication and an addition count
// as two. Traffic is each input read once and the output written once, so it is a lower bound.
// Limits: shapes of tensor lists are not read; an operator without shapes or parameters gets no
// figures.
#include "profile/readers/trace_event/chrome_stage.h"

#define TENSORS 8
#define AXES 8
#define WORDS 12

struct shapes {
    int64_t size[TENSORS][AXES];
    int axes[TENSORS];               // -1: not a plain shape
    int64_t element_bytes[TENSORS];  // 0 not known
    struct stk_str parameter[WORDS]; // "Concrete Inputs"
    int tensors, types, parameters;
};

// ---- the values of an object, in their usual form ----

static inline size_t behind_string(struct stk_str s, size_t i) // from its opening quote; 0: odd
{
    for (i++; i < s.n && s.p[i] != '"'; i++) {
        if (s.p[i] == '\\') {
            return 0;
        }
    }
    return i < s.n ? i + 1 : 0;
}

// From its opening bracket; 0: odd.
static inline size_t behind_list(struct stk_str s, size_t i)
{
    unsigned depth = 0;
    while (i < s.n) {
        switch (s.p[i]) {
        case '"':
            i = behind_string(s, i);
            if (i == 0) {
                return 0;
            }
            continue;
        case '[':
        case '{':
            depth++;
            break;
        case ']':
        case '}':
            if (--depth == 0) {
                return i + 1;
            }
            break;
        default:
            break;
        }
        i++;
    }
    return 0;
}

static inline size_t skip_space(struct stk_str s, size_t i)
{
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t')) {
        i++;
    }
    return i;
}

// False: something unusual; some values may have been taken.
static bool quick_values(struct stk_str s, stk_chrome_take_fn *take, void *arg)
{
    size_t i = skip_space(s, 1);
    while (i < s.n && s.p[i] == '"') {
        size_t key = i + 1, end = behind_string(s, i);
        if (end == 0) {
            return false;
        }
        struct stk_str name = {s.p + key, end - 1 - key};
        i = skip_space(s, end);
        if (i >= s.n || s.p[i] != ':') {
            return false;
        }
        i = skip_space(s, i + 1);
        size_t from = i;
        if (i >= s.n) {
            return false;
        }
        if (s.p[i] == '"') {
            end = behind_string(s, i);
        } else if (s.p[i] == '[' || s.p[i] == '{') {
            end = behind_list(s, i);
        } else {
            for (end = i; end < s.n && s.p[end] != ',' && s.p[end] != '}' && s.p[end] > ' ';) {
                end++;
            }
        }
        if (end == 0) {
            return false;
        }
        bool quoted = s.p[from] == '"';
        take(arg, name, (struct stk_str){s.p + from + quoted, end - from - 2 * quoted}, quoted);
        i = skip_space(s, end);
        if (i < s.n && s.p[i] == ',') {
            i = skip_space(s, i + 1);
        }
    }
    return i < s.n && s.p[i] == '}';
}

// ---- kernels ----

// "[160, 1, 1]": false if it is not three sizes.
static bool read_sizes(struct stk_str text, uint32_t *out)
{
    int n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            continue;
        }
        uint64_t size = 0;
        for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
            size = size > UINT32_MAX ? size : size * 10 + (uint64_t)(text.p[i] - '0');
        }
        if (n == 3 || size > UINT32_MAX) {
            return false;
        }
        out[n++] = (uint32_t)size;
    }
    return n == 3;
}

static void take_size(struct stk_str value, int64_t most, int32_t *out)
{
    int64_t number;
    if (stk_chrome_integer(value.p, value.n, &number) && number >= 0 && number <= most) {
        *out = (int32_t)number;
    }
}

static void take_launch(struct stk_launch_config *c, enum stk_chrome_arg arg, struct stk_str value)
{
    uint32_t sizes[3];
    switch (arg) {
    case STK_CHROME_ARG_GRID:
    case STK_CHROME_ARG_BLOCK:
        if (read_sizes(value, sizes)) {
            memcpy(arg == STK_CHROME_ARG_GRID ? c->grid : c->block, sizes, sizeof sizes);
        }
        break;
    case STK_CHROME_ARG_REGISTERS:
        take_size(value, 65536, &c->registers);
        break;
    case STK_CHROME_ARG_SHARED:
        take_size(value, INT32_MAX, &c->shared_bytes);
        break;
    case STK_CHROME_ARG_OCCUPANCY:
        take_size(value, 100, &c->occupancy_pct);
        break;
    default:
        break;
    }
}

static void take_kernel(void *arg, struct stk_str key, struct stk_str value, bool quoted)
{
    (void)quoted;
    take_launch(arg, stk_chrome_arg_find(key.p, key.n), value);
}

// ---- operators ----

static void read_dims(struct shapes *s, struct stk_str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        int at = s->tensors - 1;
        if (c == '[' && ++depth == 2) {
            if (s->tensors == TENSORS) {
                return;
            }
            s->axes[s->tensors++] = 0;
        } else if (c == '[' && depth > 2) {
            s->axes[at] = -1;
        } else if (c == ']') {
            depth--;
        } else if (c >= '0' && c <= '9' && depth == 2) {
            int64_t size = 0;
            for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
                if (__builtin_mul_overflow(size, 10, &size) ||
                    __builtin_add_overflow(size, text.p[i] - '0', &size)) {
                    size = INT64_MAX;
                }
            }
            i--;
            if (s->axes[at] == AXES || s->axes[at] < 0) {
                s->axes[at] = -1;
            } else {
                s->size[at][s->axes[at]++] = size;
            }
        }
    }
}

// The next quoted text of a list, from *at on; nested values are skipped.
static bool next_word(struct stk_str list, size_t *at, struct stk_str *word)
{
    const char *from = memchr(list.p + *at, '"', list.n - *at);
    const char *to = from ? memchr(from + 1, '"', (size_t)(list.p + list.n - from - 1)) : NULL;
    if (!to) {
        return false;
    }
    *word = (struct stk_str){from + 1, (size_t)(to - from - 1)};
    *at = (size_t)(to + 1 - list.p);
    return true;
}

static void take_operator(void *arg, struct stk_str key, struct stk_str value, bool quoted)
{
    (void)quoted;
    struct shapes *s = arg;
    struct stk_str word;
    if (stk_str_eq_nocase(key, STK_STR("Input Dims")) && s->tensors == 0) {
        read_dims(s, value);
    } else if (stk_str_eq(key, STK_STR("Input type"))) {
        for (size_t at = 0; s->types < TENSORS && next_word(value, &at, &word);) {
            s->element_bytes[s->types++] = stk_chrome_element_bytes(word);
        }
    } else if (stk_str_eq(key, STK_STR("Concrete Inputs"))) {
        for (size_t at = 0; s->parameters < WORDS && next_word(value, &at, &word);) {
            s->parameter[s->parameters++] = word;
        }
    }
}

// Product of the factors; -1 if one isn't known or the product is too large.
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

static int64_t elements(const struct shapes *s, int tensor)
{
    int64_t n = 1;
    if (tensor >= s->tensors || s->axes[tensor] < 0) {
        return -1;
    }
    for (int i = 0; i < s->axes[tensor]; i++) {
        n = times(n, s->size[tensor][i]);
    }
    return n;
}

static int64_t width(const struct shapes *s, int tensor)
{
    return tensor < s->types && s->element_bytes[tensor] > 0 ? s->element_bytes[tensor] : -1;
}

static int64_t tensor_bytes(const struct shapes *s, int tensor)
{
    return times(elements(s, tensor), width(s, tensor));
}

// [batch,] m x k times [batch,] k x n.
static void matrix_product(const struct shapes *s, int first, struct stk_launch_config *c)
{
    int second = first + 1;
    if (second >= s->tensors || s->axes[first] < 2 || s->axes[first] > 3 ||
        s->axes[second] != s->axes[first]) {
        return;
    }
    int last = s->axes[first] - 1;
    if (s->size[first][last] != s->size[second][last - 1]) {
        return;
    }
    int64_t n = s->size[second][last], product = times(elements(s, first), n);
    int64_t k = s->size[first][last];
    c->flops = times(2, product);
    int64_t read = plus(tensor_bytes(s, first), tensor_bytes(s, second));
    c->bytes = plus(read, k > 0 && product >= 0 ? times(product / k, width(s, first)) : -1);
}

// "[2, 2]" or "2": the value of one axis; the last value applies to all further axes. -1: none.
static int64_t parameter_at(struct stk_str text, int axis)
{
    int64_t value = -1;
    for (size_t i = 0; i < text.n && axis >= 0; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            continue;
        }
        for (value = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
            value = value > INT32_MAX ? value : value * 10 + (text.p[i] - '0');
        }
        axis--;
    }
    return value;
}

// aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, ...).
static void convolution(const struct shapes *s, struct stk_launch_config *c)
{
    int axes = s->tensors >= 2 ? s->axes[0] : -1;
    if (axes < 3 || s->axes[1] != axes || s->parameters < 7 || s->size[1][0] < 1) {
        return;
    }
    int64_t per_channel = elements(s, 1);
    if (per_channel < 0) {
        return;
    }
    per_channel /= s->size[1][0];
    if (stk_str_eq(s->parameter[6], STK_STR("True"))) { // each input element meets each weight
        c->flops = times(2, times(elements(s, 0), per_channel));
        return;
    }
    int64_t out = times(s->size[0][0], s->size[1][0]);
    for (int i = 2; i < axes; i++) {
        int64_t stride = parameter_at(s->parameter[3], i - 2);
        int64_t padding = parameter_at(s->parameter[4], i - 2);
        int64_t dilation = parameter_at(s->parameter[5], i - 2);
        int64_t span = plus(times(dilation, s->size[1][i] - 1), 1);
        int64_t capacity = plus(s->size[0][i], times(2, padding));
        if (stride < 1 || span < 1 || capacity < span) {
            return;
        }
        out = times(out, (capacity - span) / stride + 1);
    }
    c->flops = times(2, times(out, per_channel));
    c->bytes = plus(plus(tensor_bytes(s, 0), tensor_bytes(s, 1)), times(out, width(s, 0)));
}

// aten::convolution_backward(gradient of the output, input, weight, ..., output_mask): gradients of
// the input and of the weight as the mask says; each costs as much as the convolution itself.
static void convolution_backward(const struct shapes *s, struct stk_launch_config *c)
{
    if (s->tensors < 3 || s->axes[2] < 3 || s->size[2][0] < 1) {
        return;
    }
    struct stk_str mask = STK_STR("");
    for (int i = 0; i < s->parameters; i++) {
        if (stk_str_starts(s->parameter[i], STK_STR("[True")) ||
            stk_str_starts(s->parameter[i], STK_STR("[False"))) {
            mask = s->parameter[i];
        }
    }
    bool not_input = stk_str_starts(mask, STK_STR("[False"));
    bool not_weight = stk_str_starts(mask, STK_STR("[True, False")) ||
                      stk_str_starts(mask, STK_STR("[False, False"));
    if (mask.n == 0) {
        return;
    }
    int64_t gradients = !not_input + !not_weight, weight = elements(s, 2);
    int64_t per_channel = weight >= 0 ? weight / s->size[2][0] : -1;
    int64_t all = plus(plus(tensor_bytes(s, 0), tensor_bytes(s, 1)), tensor_bytes(s, 2));
    c->flops = times(2 * gradients, times(elements(s, 0), per_channel));
    c->bytes = times(gradients, all); // each reads two of them and writes the third
}

// aten::_flash_attention_forward(q, k, v, cum_q, cum_k, max_q, max_k, dropout, is_causal, ...),
// each [batch, length, heads, size]. With a mask or separate lengths, less is computed.
static void attention(const struct shapes *s, struct stk_launch_config *c)
{
    if (s->tensors < 3 || s->axes[0] != 4 || s->axes[1] != 4 || s->parameters < 9 ||
        (s->tensors > 3 && s->axes[3] != 0) || !stk_str_eq(s->parameter[8], STK_STR("False"))) {
        return;
    }
    c->flops = times(4, times(elements(s, 0), s->size[1][1]));
    c->bytes = plus(times(2, tensor_bytes(s, 0)), plus(tensor_bytes(s, 1), tensor_bytes(s, 2)));
}

// Both inputs read, one output of the larger one's shape written; a third tensor is that output.
static void elementwise(const struct shapes *s, struct stk_launch_config *c)
{
    int64_t total = 0, largest = 0;
    for (int i = 0; i < s->tensors && i < 2; i++) {
        int64_t n = elements(s, i);
        if (s->axes[i] == 0 && width(s, i) < 0) {
            continue; // a number
        }
        int64_t bytes = tensor_bytes(s, i);
        if (n < 0 || bytes < 0) {
            return;
        }
        total = plus(total, bytes);
        largest = bytes > largest ? bytes : largest;
    }
    c->bytes = largest > 0 ? plus(total, largest) : -1;
}

// ---- which operators ----

enum { PRODUCT_0, PRODUCT_1, CONVOLUTION, BACKWARD, ATTENTION, ELEMENTWISE };

static const struct {
    const char *name;
    int how;
} operators[] = {
    {"mm", PRODUCT_0},
    {"bmm", PRODUCT_0},
    {"_int_mm", PRODUCT_0},
    {"_scaled_mm", PRODUCT_0},
    {"addmm", PRODUCT_1},
    {"addmm_", PRODUCT_1},
    {"baddbmm", PRODUCT_1},
    {"baddbmm_", PRODUCT_1},
    {"_addmm_activation", PRODUCT_1},
    {"_convolution", CONVOLUTION},
    {"convolution_backward", BACKWARD},
    {"_flash_attention_forward", ATTENTION},
    {"add", ELEMENTWISE},
    {"add_", ELEMENTWISE},
    {"sub", ELEMENTWISE},
    {"sub_", ELEMENTWISE},
    {"mul", ELEMENTWISE},
    {"mul_", ELEMENTWISE},
    {"div", ELEMENTWISE},
    {"div_", ELEMENTWISE},
    {"relu", ELEMENTWISE},
    {"clamp_min", ELEMENTWISE},
    {"clamp_min_", ELEMENTWISE},
    {"gelu", ELEMENTWISE},
    {"gelu_backward", ELEMENTWISE},
    {"silu", ELEMENTWISE},
    {"silu_backward", ELEMENTWISE},
    {"sigmoid", ELEMENTWISE},
    {"tanh", ELEMENTWISE},
    {"exp", ELEMENTWISE},
    {"rsqrt", ELEMENTWISE},
    {"threshold_backward", ELEMENTWISE},
};

bool stk_chrome_has_cost(struct stk_str name)
{
    if (!stk_str_starts(name, STK_STR("aten::"))) {
        return false;
    }
    struct stk_str op = {name.p + 6, name.n - 6};
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (stk_str_eq(op, stk_str_from(operators[i].name))) {
            return true;
        }
    }
    return false;
}

static void cost_of(const struct shapes *s, struct stk_str op, struct stk_launch_config *c)
{
    int how = -1;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0] && how < 0; i++) {
        if (stk_str_eq(op, stk_str_from(operators[i].name))) {
            how = operators[i].how;
        }
    }
    switch (how) {
    case PRODUCT_0:
    case PRODUCT_1:
        matrix_product(s, how == PRODUCT_1, c);
        break;
    case CONVOLUTION:
        convolution(s, c);
        break;
    case BACKWARD:
        convolution_backward(s, c);
        break;
    case ATTENTION:
        attention(s, c);
        break;
    default:
        elementwise(s, c);
    }
}

static void push(struct stk_chrome_stager *s, const struct stk_launch_config *config)
{
    struct stk_chrome_config *kept = stk_vec_push(&s->configs);
    s->failed |= !kept;
    if (kept) {
        *kept = (struct stk_chrome_config){(uint32_t)s->rows.count - 1, *config};
    }
}

void stk_chrome_config_kernel(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    c.occupancy_of_grid = true;
    if (r->flags & STK_CHROME_HAS_LAUNCH) {
        for (unsigned i = 0; i < STK_CHROME_LAUNCH_COUNT; i++) {
            if (r->launch_seen & 1u << i) {
                take_launch(&c, (enum stk_chrome_arg)(STK_CHROME_ARG_GRID + i), r->launch[i]);
            }
        }
    } else if (r->args.n && !quick_values(r->args, take_kernel, &c)) {
        stk_chrome_each_value(r->args, take_kernel, &c);
    }
    if (c.grid[0] || c.block[0] || c.registers >= 0) {
        push(s, &c);
    }
}

void stk_chrome_config_operator(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    struct shapes shapes = {.tensors = 0};
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    if (r->args.n && !quick_values(r->args, take_operator, &shapes)) {
        shapes = (struct shapes){.tensors = 0};
        stk_chrome_each_value(r->args, take_operator, &shapes);
    }
    cost_of(&shapes, (struct stk_str){r->name.p + 6, r->name.n - 6}, &c);
    if (c.flops >= 0 || c.bytes >= 0) {
        push(s, &c);
    }
}
