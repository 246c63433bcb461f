# SPDX-License-Identifier: Apache-2.0
# The fuzz target of indexed files, lines and fixed-length records; without the preset `fuzz`, a
# replay of the files in data/indexed, as they are, cut and with single bits flipped.
if(STOKER_FUZZ)
    add_executable(fuzz_indexed fuzz/fuzz_indexed.c)
    target_compile_options(fuzz_indexed PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_indexed PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_indexed PRIVATE stoker_fuzzed)
    add_dependencies(fuzzers fuzz_indexed)
else()
    add_executable(replay_indexed fuzz/fuzz_indexed.c)
    target_compile_definitions(replay_indexed PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_indexed PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/indexed/*.stkidx
        ${CMAKE_CURRENT_SOURCE_DIR}/data/indexed/*.txt
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/indexed/*)
    add_test(NAME unit.replay_indexed COMMAND replay_indexed ${inputs})
    set_tests_properties(unit.replay_indexed PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
