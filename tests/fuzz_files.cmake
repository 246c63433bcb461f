# SPDX-License-Identifier: Apache-2.0
# The fuzz target of CSV and tar files and of operations that read strings; without the preset
# `fuzz`, a replay of the files in data/files.
if(STOKER_FUZZ)
    add_executable(fuzz_files fuzz/fuzz_files.c)
    target_compile_options(fuzz_files PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_files PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_files PRIVATE stoker_fuzzed)
    add_dependencies(fuzzers fuzz_files)
else()
    add_executable(replay_files fuzz/fuzz_files.c)
    target_compile_definitions(replay_files PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_files PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/files/* ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/files/*)
    add_test(NAME unit.replay_files COMMAND replay_files ${inputs})
    set_tests_properties(unit.replay_files PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
