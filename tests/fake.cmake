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
# A driver whose work has times and nothing else, CUPTI over it in two kinds (CUDA 12.5 brought calls to
# record single functions), and a program that uses both: for the capture library (cli.level1).
set(fake_gpu_folder ${CMAKE_CURRENT_BINARY_DIR}/fake/gpu)
add_library(fake_gpu SHARED fake/fake_gpu.c)
set_target_properties(fake_gpu PROPERTIES OUTPUT_NAME cuda SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${fake_gpu_folder})
add_library(fake_cupti_12 SHARED fake/fake_cupti.c)
set_target_properties(fake_cupti_12 PROPERTIES OUTPUT_NAME cupti SUFFIX .so.12 NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${fake_gpu_folder})
add_library(fake_cupti_13 SHARED fake/fake_cupti.c)
target_compile_definitions(fake_cupti_13 PRIVATE FAKE_SINGLE_CALLS)
set_target_properties(fake_cupti_13 PROPERTIES OUTPUT_NAME cupti SUFFIX .so.13 NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${fake_gpu_folder})
add_executable(fake_job fake/fake_job.c)
set_target_properties(fake_job PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${fake_gpu_folder})
foreach(target fake_gpu fake_cupti_12 fake_cupti_13 fake_job)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE stoker_flags Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
foreach(target fake_cupti_12 fake_cupti_13 fake_job)
    target_link_libraries(${target} PRIVATE fake_gpu)
endforeach()
if(TARGET stoker_cli AND STOKER_IS_PLAIN)
    find_package(Python3 COMPONENTS Interpreter)
    add_test(NAME cli.level1 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/level1 $<TARGET_FILE:stoker_cli>
        ${fake_gpu_folder} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli.level1 PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
