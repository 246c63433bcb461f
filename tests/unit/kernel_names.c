// SPDX-License-Identifier: Apache-2.0
// Tensor cores and precision from names as profilers record them.
#include "check.h"
#include "model/kernel_names.h"

static const struct {
    const char *name, *tensor_core, *precision; // precision NULL: not known
} cases[] = {
    {"volta_sgemm_128x64_nn", "eligible", "fp32"},
    {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "yes", "fp16"},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "yes", "fp16"},
    {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "yes", "bf16"},
    {"ampere_sgemm_32x32_sliced1x4_tn", "eligible", "fp32"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     "eligible", "fp32"},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
     "stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
     "yes", "tf32"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_"
     "k_off_kernel__5x_cublas",
     "yes", "tf32"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64_warpgroupsize1x1x1_execute_"
     "segment_"
     "k_off_kernel__5x_cublas",
     "yes", "bf16"},
    {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT", "yes", "bf16"},
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT", "yes", "fp16"},
    {"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>(int)", "yes",
     "bf16"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(int)", "eligible", "fp32"},
    {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64", "yes", "bf16"},
    {"cutlass3x_sm100_tensorop_s256x192x16gemm_e4m3_e4m3_f32_f32_f32", "yes", "fp8"},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
     "false, false, cutlass::bfloat16_t, ...",
     "yes", "bf16"},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, ...",
     "yes", "fp32"},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<float, ...",
     "eligible", "fp32"},
    {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0", "yes", "bf16"},
    {"Cijk_Ailk_Bljk_HHS_BH_MT64x64x16_MI32x32x8x1_SE_K1", "yes", "fp16"},
    {"Cijk_Alik_Bljk_SB_MT64x64x8_SE_APM1_AF0EM1", "eligible", "fp32"},
    {"Cijk_Ailk_Bljk_F8BS_BH_MT64x16x32_MI16x16x1_SN", "yes", "fp8"},
    {"Cijk_", "eligible", NULL},
    {"miopenSp3AsmConv_v30_3_1_gfx9_fp16_dot2_edc_f2x3_stride1", "eligible", "fp16"},
    {"igemm_fwd_gtcx35_nhwc_fp16_bx0_ex0_bt256x256x32", "yes", "fp16"},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)", "eligible",
     "fp32"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half> >",
     "no", "fp16"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "no", "bf16"},
    {"void splitKreduce_kernel<32, 16, int, float, float>(cublasSplitKParams<float>)", "no",
     "fp32"},
    {"triton_poi_fused_add_cos_sin_0", "no", NULL},
    {"triton_tem_fused_mm_3", "unknown", NULL},
    {"gemm_fusion_dot_general_1", "unknown", NULL},
    {"input_reduce_fusion_1", "no", NULL},
    {"fusion.12", "unknown", NULL},
    {"my_kernel", "unknown", NULL},
    {"", "unknown", NULL},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_kernel_traits t = stk_kernel_traits_of(stk_str_from(cases[i].name));
        CHECK_STR(stk_tensor_core_key(t.tensor_core), cases[i].tensor_core);
        CHECK_STR(t.precision ? t.precision : "not known",
                  cases[i].precision ? cases[i].precision : "not known");
        if (check_failures)
            fprintf(stderr, "  so far up to %s\n", cases[i].name);
    }
    // A name longer than what is read, and one that is not terminated.
    static char name[5000];
    memset(name, 'x', sizeof name);
    memcpy(name + 100, "_sgemm_", 7);
    CHECK_EQ(stk_kernel_traits_of((struct stk_str){name, sizeof name}).tensor_core,
             STK_TENSOR_ELIGIBLE);
    memcpy(name + 100, "xxxxxxx", 7);
    memcpy(name + 4000, "_sgemm_", 7);
    CHECK_EQ(stk_kernel_traits_of((struct stk_str){name, sizeof name}).tensor_core,
             STK_TENSOR_UNKNOWN);
    return check_done("unit.kernel_names");
}
