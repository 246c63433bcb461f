// SPDX-License-Identifier: Apache-2.0
// Which names --redact shows: vendors' as a whole, and no word of a user's in them.
#include "api/public_name.h"
#include "check.h"

static const char *const vendors[] = {
    "ProfilerStep#12",
    "Optimizer.step#AdamW.step",
    "Optimizer.zero_grad#SGD.zero_grad",
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "aten::add_",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::cudnn_convolution",
    "c10d::allreduce_",
    "nccl:all_reduce",
    "gloo:broadcast",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "torch::autograd::AccumulateGrad",
    "cudaMemcpyAsync",
    "cudaLaunchKernelExC",
    "cudaStreamGetCaptureInfo_v2",
    "cuGraphLaunch (CudaGraph:45)",
    "hipGetDevicePropertiesR0600",
    "Memcpy HtoD (Pageable -> Device)",
    "[CUDA memcpy DtoH]",
    "Memset (Device)",
    "MemcpyD2H",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_32x6_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)",
    "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN",
    "Iterator::Root::Prefetch::ParallelMapV2::Zip[0]::FlatMap[2]::TensorSlice",
    "IteratorGetNextOp::DoCompute",
    "copy-done.12",
    "launched and not yet begun",
};

static void test_whole(void)
{
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        if (!stk_public_name(vendors[i])) {
            fprintf(stderr, "not public: %s\n", vendors[i]);
        }
        CHECK(stk_public_name(vendors[i]));
    }
}

// A user's word anywhere in a vendor's name makes it private.
static void test_marked(void)
{
    char text[512];
    static const char *const marks[] = {"Secret", "secret",   "SECRET",
                                        "_mine",  "/home/me", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
            size_t n = strlen(vendors[i]);
            for (size_t at = 0; at <= n; at++) {
                snprintf(text, sizeof text, "%.*s%s%s", (int)at, vendors[i], marks[m],
                         vendors[i] + at);
                CHECK(!stk_public_name(text));
            }
        }
    }
}

static void test_private(void)
{
    static const char *const users[] = {
        "",
        "train",
        "hippo",
        "hip_warmup",
        "cuda stuff",
        "cudaaa",
        "cudaMemcpyAsync of the batch",
        "cudaMemcpyAsync > Secret",
        "aten::secret",
        "aten::add mul",
        "ProfilerStep#",
        "ProfilerStep#1x",
        "ProfilerStep#12345678901234567890",
        "ProfilerStep#10 > SECRETannot",
        "Optimizer.step#MyAdam.step",
        "Optimizer.step#AdamW.stepx",
        "enumerate(DataLoader)#Mine.__next__",
        "PjitFunction(train_step)",
        "XlaModule:#hlo_module=jit_f,program_id=1#",
        "void at::native::foo(float)",
        "void mine::kernel<float>(int)",
        "cuGraphLaunch (CudaGraph:x)",
        "cuGraphLaunch (CudaGraph:4) mine",
        "aten::add1234567890123",
        "aten::add\n",
    };
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        CHECK(!stk_public_name(users[i]));
    }
}

static void test_frames(void)
{
    const struct stk_public_frame *f = stk_public_frame_of("PjitFunction(train_step)");
    CHECK(f && strcmp(f->before, "PjitFunction(") == 0 && strcmp(f->after, ")") == 0);
    f = stk_public_frame_of("Optimizer.step#Mine.step");
    CHECK(f && strcmp(f->before, "Optimizer.step#") == 0 && strcmp(f->after, ".step") == 0);
    CHECK(!stk_public_frame_of("PjitFunction()") && !stk_public_frame_of("PjitFunction(f"));
    CHECK(!stk_public_frame_of("Optimizer.step#.step") && !stk_public_frame_of("x"));
}

static void test_products(void)
{
    static const char *const known[] = {"NVIDIA A100-SXM4-80GB",
                                        "NVIDIA GeForce RTX 3090 Ti",
                                        "NVIDIA H100 80GB HBM3",
                                        "Tesla V100-DGXS-32GB",
                                        "AMD Instinct MI300X VF",
                                        "TPU v6 Lite",
                                        "JAX 0.11.2",
                                        "Nsight Systems 2024.5.1.113",
                                        "PyTorch Kineto, ranks merged",
                                        "stoker.data 0.1.0",
                                        "TensorFlow"};
    static const char *const private[] = {"NVIDIA H200 of Alice", "secret", "JAX 0.1+secret",
                                          "NVIDIA H100\t", "Nvidia-secret"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(stk_public_product(known[i]));
    }
    for (size_t i = 0; i < sizeof private / sizeof *private; i++) {
        CHECK(!stk_public_product(private[i]));
    }
}

// They are looked up by halves.
static void test_order(void)
{
    size_t n = 0;
    for (; stk_public_word(n + 1); n++) {
        CHECK(strcmp(stk_public_word(n), stk_public_word(n + 1)) < 0);
    }
    CHECK(n > 1000);
    for (n = 0; stk_public_key_row(n); n++) {
        const char *key = stk_public_key_row(n);
        CHECK(n == 0 || strcmp(stk_public_key_row(n - 1), key) < 0);
        CHECK(stk_public_key(key, strlen(key)));
    }
    CHECK(n > 200 && !stk_public_key("secret", 6) && !stk_public_key("byte", 4) &&
          !stk_public_key("bytess", 6) && !stk_public_key("", 0));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_whole);
    CHECK_RUN(test_marked);
    CHECK_RUN(test_private);
    CHECK_RUN(test_frames);
    CHECK_RUN(test_products);
    CHECK_RUN(test_order);
    return check_done("unit.public_name");
}
