// SPDX-License-Identifier: Apache-2.0
// Tensor cores and precision from a kernel's name, by the words of kernel_names.def: names of
// cuBLAS and cuDNN since Volta (instruction shape in the name), CUTLASS 2 and 3, XMMA, nvjet (whose
// letters are the types of the operands: nvjet_tst, nvjet_sm100_qqtst), attention kernels, Triton
// as Inductor names it, XLA fusions, Tensile (Cijk_...) and Composable Kernel. Tensile names carry
// the data type after the index letters and the matrix instruction as _MIn. Limits: a name is a
// label, not the machine code; if it doesn't say, the answer is unknown, as for Triton templates
// and XLA's gemm_fusion. A conversion has the precision "cast": XProf lists the type of the
// operator's input, but the kernel computes in neither that type nor that of its output. Only the
// first 1000 bytes of a name are read.
#include "profile/model/device/kernel_names.h"

#include <pthread.h>
#include <string.h>

#include "base/assert.h"

#define MAX_NAME 1000

struct unit_row {
    const char *word, *other;
    enum stk_tensor_core answer;
};
static const struct unit_row unit_rows[] = {
#define U(word, other, answer, meaning) {word, other, STK_TENSOR_##answer},
#include "profile/model/device/kernel_names.def"
#undef U
};
static const struct {
    const char *word, *other;
} cast_rows[] = {
#define C(word, other, meaning) {word, other},
#include "profile/model/device/kernel_names.def"
#undef C
};
static const struct {
    const char *word, *precision;
} precision_rows[] = {
#define P(word, precision) {word, precision},
#include "profile/model/device/kernel_names.def"
#undef P
};
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static void to_lower(struct stk_str name, char *out)
{
    size_t n = name.n < MAX_NAME ? name.n : MAX_NAME;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[i];
        out[i] = c == 0 ? ' ' : c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    out[n] = 0;
}

// The set of a text's characters, as bits. Letters and digits each have their own bit.
static uint64_t characters_of(const char *text)
{
    uint64_t bits = 0;
    for (; *text; text++) {
        bits |= UINT64_C(1) << ((unsigned char)*text & 63);
    }
    return bits;
}

// The characters of each row's words. They rule out most rows without a search.
static struct {
    uint64_t unit[COUNT_OF(unit_rows)], cast[COUNT_OF(cast_rows)],
        precision[COUNT_OF(precision_rows)];
} characters_in;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void note_characters(void)
{
    for (size_t i = 0; i < COUNT_OF(unit_rows); i++) {
        characters_in.unit[i] =
            characters_of(unit_rows[i].word) | characters_of(unit_rows[i].other);
    }
    for (size_t i = 0; i < COUNT_OF(cast_rows); i++) {
        characters_in.cast[i] =
            characters_of(cast_rows[i].word) | characters_of(cast_rows[i].other);
    }
    for (size_t i = 0; i < COUNT_OF(precision_rows); i++) {
        characters_in.precision[i] = characters_of(precision_rows[i].word);
    }
}

// "Cijk_Ailk_Bljk_BBS_BH_MT256x128x32_MI16x16x16x1_...": the token after the operands' indices.
static struct stk_kernel_traits tensile(const char *name)
{
    struct stk_kernel_traits out = {STK_TENSOR_ELIGIBLE, NULL};
    const char *type = name;
    for (int i = 0; i < 3 && type; i++) {
        type = strchr(type, '_');
        type = type ? type + 1 : NULL;
    }
    const char *instruction = strstr(name, "_mi");
    if (instruction && instruction[3] >= '1' && instruction[3] <= '9') {
        out.tensor_core = STK_TENSOR_YES;
    }
    if (!type) {
        return out;
    }
    if (type[0] == 'f' && type[1] == '8') {
        out.precision = "fp8";
    } else if (type[0] == 'i' && type[1] == '8') {
        out.precision = "int8";
    } else {
        out.precision = type[0] == 'h'   ? "fp16"
                        : type[0] == 'b' ? "bf16"
                        : type[0] == 's' ? "fp32"
                        : type[0] == 'd' ? "fp64"
                                         : NULL;
    }
    return out;
}

// The first operand's letter: "nvjet_tst_...", "nvjet_sm90_hsh_...". NULL: not known.
static const char *nvjet_precision(const char *text)
{
    const char *type = strstr(text, "nvjet_");
    if (!type) {
        return NULL;
    }
    type += 6;
    if (type[0] == 's' && type[1] == 'm' && type[2] >= '0' && type[2] <= '9') {
        type = strchr(type, '_');
        if (!type++) {
            return NULL;
        }
    }
    switch (*type) {
    case 't':
        return "bf16";
    case 'h':
        return "fp16";
    case 'q':
        return "fp8";
    case 'o':
        return "fp4";
    case 's':
        return "tf32"; // nvjet has no kernels for plain cores
    case 'd':
        return "fp64";
    default:
        return NULL;
    }
}

struct stk_kernel_traits stk_kernel_traits_of(struct stk_str name)
{
    char text[MAX_NAME + 1];
    struct stk_kernel_traits out = {STK_TENSOR_UNKNOWN, NULL};
    to_lower(name, text);
    if (strncmp(text, "cijk_", 5) == 0) {
        return tensile(text);
    }
    if (strncmp(text, "custom_cijk_", 12) == 0) {
        return tensile(text + 7);
    }
    pthread_once(&once, note_characters);
    uint64_t lacks = ~characters_of(text);
    for (size_t i = 0; i < COUNT_OF(unit_rows); i++) {
        if (!(characters_in.unit[i] & lacks) && strstr(text, unit_rows[i].word) &&
            strstr(text, unit_rows[i].other)) {
            out.tensor_core = unit_rows[i].answer;
            break;
        }
    }
    for (size_t i = 0; i < COUNT_OF(cast_rows); i++) {
        if (!(characters_in.cast[i] & lacks) && strstr(text, cast_rows[i].word) &&
            strstr(text, cast_rows[i].other)) {
            out.precision = "cast";
            return out;
        }
    }
    out.precision = nvjet_precision(text);
    for (size_t i = 0; i < COUNT_OF(precision_rows) && !out.precision; i++) {
        if (!(characters_in.precision[i] & lacks) && strstr(text, precision_rows[i].word)) {
            out.precision = precision_rows[i].precision;
        }
    }
    return out;
}

const char *stk_tensor_core_key(enum stk_tensor_core value)
{
    STK_ASSERT((unsigned)value <= STK_TENSOR_YES);
    static const char *const keys[] = {"unknown", "no", "eligible", "yes"};
    return keys[value];
}

bool stk_kernel_is_elementwise(struct stk_str name)
{
    static const char *const words[] = {"elementwise", "Eigen", "cwise", "BiasAdd", NULL};
    return stk_str_contains_any_nocase(name, words);
}

bool stk_kernel_changes_layout(struct stk_str name)
{
    static const char *const words[] = {"nchwToNhwc", "nhwcToNchw",           "nchw2nhwc",
                                        "nhwc2nchw",  "convertTensor_kernel", NULL};
    return stk_str_contains_any_nocase(name, words);
}
