// SPDX-License-Identifier: Apache-2.0
// Tensor cores and precision from names as profilers record them.
#include "check.h"
#include "profile/model/device/kernel_names.h"

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
    // cuBLAS on Hopper and Blackwell, with and without the architecture.
    {"nvjet_tss_128x256_64x4_2x1_v_badd_coopA_NTN", "yes", "bf16"},
    {"nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT", "yes", "fp16"},
    {"nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", "yes", "bf16"},
    {"nvjet_sm121_tst_mma_128x128x64_3_64x32x64_tmaAB_splitK_TNNN", "yes", "bf16"},
    {"nvjet_qqtst_112x128_128x7_2x1_v_bz_coopA_algo2_TNN", "yes", "fp8"},
    {"nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT", "yes", "fp8"},
    {"nvjet_ootst_128x128_256x4_2x2_2cta_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT", "yes", "fp4"},
    {"nvjet_sss_tf32_128x256_TNT", "yes", "tf32"},
    {"nvjet_", "yes", NULL},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4>"
     "(cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4::Params)",
     "yes", "tf32"},
    {"void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<"
     "cutlass_cudnn_train::MatrixShape<4, 128>, float> >",
     "no", "fp32"},
    {"void cask_cudnn::computeOffsetsKernel<false, false>(cask_cudnn::ComputeOffsetsParams)", "no",
     NULL},
    // FlashAttention 2, 3 and 4, cuDNN, FlashInfer.
    {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
     "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> >, 128, cutlass::bfloat16_t, "
     "float, cutlass::arch::Sm90, false> > > >",
     "yes", "bf16"},
    {"void cutlass::device_kernel<flash::enable_sm80_to_sm89<flash::FlashAttnFwdCombine<"
     "cute::tuple<cute::C<8>, cute::C<128> >, 5, 256, 1, false, cutlass::bfloat16_t, float> > >",
     "no", "bf16"},
    {"flash::prepare_varlen_num_blocks_kernel(int, int, int, int const*, cutlass::FastDivmod)",
     "no", NULL},
    {"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, pytorch_flash::Flash_bwd_kernel_traits<"
     "64, 128, 128, 8, 4, 4, 4, false, false, cutlass::half_t> >",
     "no", "fp16"},
    {"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__"
     "tensor0000o11101213_0",
     "yes", NULL},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1", "yes",
     "fp16"},
    {"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_3_64x64x128_4x1x1_kernel0_0",
     "yes", "fp16"},
    {"void flashinfer::BatchPrefillWithRaggedKVCacheKernel<flashinfer::KernelTraits<__nv_bfloat16> "
     ">",
     "yes", "bf16"},
    // AMD: hipBLASLt's hand-written kernels, Composable Kernel, AITER, AOTriton, MIOpen.
    {"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x16x64_MI16x16x1_SN_LDSB0", "yes",
     "bf16"},
    {"Custom_Cijk_Ailk_Bljk_F8H_HHS_BH_MT128x16x128_MI16x16x1_Freesize_10_gfx942", "yes", "fp8"},
    {"void ck_tile::kentry<1, ck_tile::GroupedGemmKernel<ck_tile::GemmSpatiallyLocalTilePartitioner"
     "> >",
     "yes", NULL},
    {"void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::Rmsnorm2dFwdPipelineOnePass> >", "no",
     NULL},
    {"void ck_tile::kentry<256, 1, ck_tile::FmhaBwdDQDKDVKernel<ck_tile::BlockFmhaBwdPipeline> >",
     "yes", NULL},
    {"void ck_tile::kentry<64, 2, ck_tile::FmhaBwdOGradDotOKernel<ck_tile::BlockFmhaBwdOGradDotO> "
     ">",
     "no", NULL},
    {"_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE", "yes", "bf16"},
    {"_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_32x128E", "yes", "fp8"},
    {"_ZN5aiter50fmoe_bf16_pertokenMXfp4_g1u1_flat_novs_silu_16x128E", "yes", "fp4"},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_", "no",
     NULL},
    {"volta_dgemm_128x64_nn", "eligible", "fp64"},
    {"attn_fwd", "yes", NULL},
    {"SubTensorOpWithScalar1d", "no", NULL},
    // Triton.
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "yes", "bf16"},
    {"_finalize_matmul_scatter_bf16", "no", "bf16"},
    {"fused_moe_kernel", "yes", NULL},
    {"kernel_unified_attention_2d", "yes", NULL},
    {"triton_red_fused_native_layer_norm_1", "no", NULL},
    {"triton__0d1d2d3d", "unknown", NULL},
    {"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256>",
     "no", "bf16"},
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, __hip_bfloat16, 16, 128>", "yes",
     "bf16"},
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)", "no",
     "bf16"},
    // Conversions compute in neither type; what has one type all through does.
    {"void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
     "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16, Eigen::MakePointer>, "
     "Eigen::TensorConversionOp<Eigen::half, Eigen::TensorMap<Eigen::Tensor<float const, 1, 1, "
     "long>, 16, Eigen::MakePointer> const> const> const, Eigen::GpuDevice>, long>",
     "no", "cast"},
    {"void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
     "Eigen::TensorMap<Eigen::Tensor<bool, 1, 1, int>, 16, Eigen::MakePointer>, "
     "Eigen::TensorCwiseUnaryOp<Eigen::internal::scalar_right<bool, Eigen::half, "
     "Eigen::internal::greater_equal<Eigen::half>, false>",
     "no", "fp16"},
    {"Cast_GPU_DT_FLOAT_DT_HALF_kernel", "unknown", "cast"},
    {"void at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)", "no", "cast"},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
     "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)",
     "no", "bf16"},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
     "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>, 4, "
     "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >",
     "no", "cast"},
    // XLA.
    {"wrapped_convert", "unknown", "cast"},
    {"loop_add_fusion", "no", NULL},
    {"input_transpose_fusion.kd", "no", NULL},
    {"triton_poi_fused_add_cos_sin_0", "no", NULL},
    {"triton_tem_fused_mm_3", "unknown", NULL},
    {"gemm_fusion_dot_general_1", "unknown", NULL},
    {"input_reduce_fusion_1", "no", NULL},
    {"fusion.12", "unknown", NULL},
    {"my_kernel", "unknown", NULL},
    {"", "unknown", NULL},
};

static void known_names(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_kernel_traits t = stk_kernel_traits_of(stk_str_from(cases[i].name));
        CHECK_STR(stk_tensor_core_key(t.tensor_core), cases[i].tensor_core);
        CHECK_STR(t.precision ? t.precision : "not known",
                  cases[i].precision ? cases[i].precision : "not known");
        if (check_failures) {
            fprintf(stderr, "  so far up to %s\n", cases[i].name);
        }
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
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(known_names);
    return check_done("unit.kernel_names");
}
