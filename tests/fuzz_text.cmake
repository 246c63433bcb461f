# SPDX-License-Identifier: Apache-2.0
# The fuzz target of operations on strings, or a replay of its seeds in data/text.
if(STOKER_FUZZ)
    add_executable(fuzz_text fuzz/fuzz_text.c)
    target_compile_options(fuzz_text PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_text PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_text PRIVATE stoker)
else()
    add_executable(replay_text fuzz/fuzz_text.c)
    target_compile_definitions(replay_text PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_text PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/text/*
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/text/*)
    add_test(NAME unit.replay_text COMMAND replay_text ${inputs})
    set_tests_properties(unit.replay_text PROPERTIES TIMEOUT 300)
endif()
