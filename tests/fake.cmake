# SPDX-License-Identifier: Apache-2.0
# tests/fake: drivers without a device. The fake has the driver's SONAME: once a test has loaded it,
# the library finds it under the driver's own name.
add_library(fake_cuda SHARED fake/fake_cuda.c)
target_include_directories(fake_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fake_cuda PRIVATE stoker_flags Threads::Threads)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake)
foreach(name stager stager_tables)
    add_dependencies(test_${name} fake_cuda)
    target_compile_definitions(test_${name} PRIVATE FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
endforeach()
# The management library of NVIDIA's driver: tests name its file to the sampler.
add_library(fake_nvml SHARED fake/fake_nvml.c)
target_include_directories(fake_nvml PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fake_nvml PRIVATE stoker_flags)
set_target_properties(fake_nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake)
add_dependencies(test_capture_sampler fake_nvml)
target_compile_definitions(test_capture_sampler PRIVATE FAKE_NVML="$<TARGET_FILE:fake_nvml>")
