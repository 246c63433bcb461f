// SPDX-License-Identifier: Apache-2.0
// Names of events: for CPU rows from sim_roles.def, for device rows by class and precision, as
// CUDA's libraries name theirs, so that readers that recognize tensor cores or collectives by name
// find them.
#include "sim_names.h"

#include <stdio.h>

#include "sim_rates.h"

#define R(role, kind, kineto, xplane, nsys) {kineto, xplane, nsys},
static const char *const names[SIM_ROLES][SIM_DIALECTS] = {
#include "sim_roles.def"
};
#undef R

static const char *const matrix_units[] = {
    [SIM_FP32] = "ampere_sgemm_128x64_nn",
    [SIM_TF32] = "ampere_tf32_s1688gemm_tf32_256x128_ldg8_f2f_stages_32x3_nn",
    [SIM_FP16] = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn",
    [SIM_BF16] = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
    [SIM_FP8] = "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_stage4_tensor16x8x32",
};
static const char *const convolutions[] = {
    [SIM_FP32] = "implicit_convolve_sgemm",
    [SIM_TF32] =
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16",
    [SIM_FP16] = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
    [SIM_BF16] =
        "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
    [SIM_FP8] =
        "sm89_xmma_fprop_implicit_gemm_e4m3e4m3_e4m3f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
};
static const char *const gpu_names[] = {"NVIDIA A100-SXM4-40GB", "Tesla V100-SXM2-32GB",
                                        "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3",
                                        "NVIDIA B200"};

const char *sim_name_of_gpu(const struct sim_job *job)
{
    return gpu_names[job->gpu];
}

static const char *kernel_name(const struct sim_job *job, int role)
{
    int precision = sim_rates_is_matrix_unit(job) ? job->precision : SIM_FP32;
    switch (role) {
    case SIM_ROLE_K_MATRIX:
        return matrix_units[precision];
    case SIM_ROLE_K_CONV:
        return convolutions[precision];
    case SIM_ROLE_K_FUSED:
        return "triton_poi_fused_add_mul_relu_0";
    case SIM_ROLE_K_CAST:
        return "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>";
    case SIM_ROLE_K_SCALE:
        return "void at::native::multi_tensor_apply_kernel<_amp_non_finite_check_and_unscale>";
    case SIM_ROLE_K_OPTIMIZER:
        return "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>";
    case SIM_ROLE_K_HOST_OP:
        return "void cub::DeviceRadixSortOnesweepKernel<unsigned int>";
    case SIM_ROLE_K_PREPARE:
        return "void batched_warp_affine_normalize<unsigned char, float>";
    case SIM_ROLE_K_ALLREDUCE:
        return "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    default:
        return "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>";
    }
}

static const char *copy_name(const struct sim_row *row, enum sim_dialect dialect,
                             char to[SIM_NAME_SIZE])
{
    bool back = row->dir == SIM_TO_HOST;
    const char *host = row->pinned ? "Pinned" : "Pageable";
    if (dialect != SIM_KINETO) {
        return back ? "MemcpyD2H" : "MemcpyH2D";
    }
    snprintf(to, SIM_NAME_SIZE, "Memcpy %s (%s -> %s)", back ? "DtoH" : "HtoD",
             back ? "Device" : host, back ? host : "Device");
    return to;
}

const char *sim_name(const struct sim_job *job, const struct sim_row *row, enum sim_dialect dialect,
                     char to[SIM_NAME_SIZE])
{
    const char *name = names[row->role][dialect];
    if (row->role == SIM_ROLE_STEP && dialect != SIM_XPLANE) {
        snprintf(to, SIM_NAME_SIZE, "%s%u", name, row->ordinal);
        return to;
    }
    if (row->kind == SIM_COPY) {
        return copy_name(row, dialect, to);
    }
    return row->kind >= SIM_KERNEL && row->kind != SIM_MEMSET ? kernel_name(job, row->role) : name;
}
