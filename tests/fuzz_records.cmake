# SPDX-License-Identifier: Apache-2.0
# The record layer's fuzz target; without the preset `fuzz`, a replay of the files in data/records.
if(STOKER_FUZZ)
    add_executable(fuzz_records fuzz/fuzz_records.c)
    target_compile_options(fuzz_records PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_records PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_records PRIVATE stoker_fuzzed)
    add_dependencies(fuzzers fuzz_records)
else()
    add_executable(replay_records fuzz/fuzz_records.c)
    target_compile_definitions(replay_records PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_records PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/records/*.tfrecord
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/records/*)
    add_test(NAME unit.replay_records COMMAND replay_records ${inputs})
    set_tests_properties(unit.replay_records PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
