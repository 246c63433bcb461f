// SPDX-License-Identifier: Apache-2.0
// Names of kernels as PyTorch, CUB, Eigen, cuDNN and cuBLAS write them, in columns of 28 and 40.
#include "check.h"
#include "results/print/cpp_name.h"
#include "base/utf8.h"

static const struct {
    const char *name;
    int width;
    const char *want;
} cases[] = {
    {"aten::mm", 28, "aten::mm"},
    {"", 28, ""},
    {"void k<float>(float*, int)", 28, "k<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, "
     "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, "
     "std::array<char*, 3ul> >(int, int)",
     28, "vectorized_el...<MulFunctor>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>,"
     " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
     40, "vectorized_elementwi...<CUDAFunctor_add>"},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const>(int)>",
     40, "elementwise_...<direct_copy_kernel_cuda>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<short, at::native::func_wrapper_t"
     "<short, at::native::sum_functor<short, short, short>::operator()(at::TensorIterator&)::"
     "{lambda(short, short)#1}>, unsigned int, short, 4> >(int)",
     28, "reduce_kernel<sum_functor>"},
    {"void at_cuda_detail::cub::DeviceReduceKernel<at_cuda_detail::cub::DeviceReducePolicy<int, "
     "int, at_cuda_detail::cub::Sum>::Policy600, int>(int)",
     40, "DeviceReduceKernel<DeviceReducePolicy>"},
    {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct)", 28,
     "bn_fw_tr_1C11_kernel_NCHW..."},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 28,
     "sm90_xmma_gemm_bf16bf16_b..."},
    {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
     "\xc3\xa9\xc3\xa9",
     12,
     "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
     "\xc3\xa9..."},
};

static int characters(const char *text)
{
    int n = 0;
    size_t length;
    for (; *text; text += length, n++) {
        stk_utf8_next(text, &length);
    }
    return n;
}

// For any name and width: it ends and fits.
static void any_name(void)
{
    char name[1200], out[STK_CPP_NAME_MAX];
    uint32_t state = 1;
    for (int round = 0; round < 20000; round++) {
        static const char alphabet[] = "ab<>(),:: _1\xc3\xa9\xff{}#&*";
        state = state * 1664525u + 1013904223u;
        size_t n = (state >> 8) % (round % 8 ? 90 : sizeof name - 1);
        for (size_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            name[i] = alphabet[(state >> 16) % (sizeof alphabet - 1)];
        }
        name[n] = 0;
        int width = (int)(state >> 24) + (round % 16 == 0 ? 300 : 0);
        stk_cpp_name_fit(name, width, out);
        CHECK_SAY(strlen(out) < sizeof out && characters(out) <= (width < 12 ? 12 : width),
                  "width %d: %s", width, out);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    char out[STK_CPP_NAME_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STR(stk_cpp_name_fit(cases[i].name, cases[i].width, out), cases[i].want);
        CHECK(characters(out) <= cases[i].width);
    }
    CHECK_RUN(any_name);
    return check_done("unit.cpp_name");
}
