# SPDX-License-Identifier: Apache-2.0
# The fuzz target of packed files of elements, or a replay of its seeds in data/packed.
if(STOKER_FUZZ)
    add_executable(fuzz_packed fuzz/fuzz_packed.c)
    target_compile_options(fuzz_packed PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_packed PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_packed PRIVATE stoker)
else()
    add_executable(replay_packed fuzz/fuzz_packed.c)
    target_compile_definitions(replay_packed PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_packed PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/packed/*
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/packed/*)
    list(FILTER inputs EXCLUDE REGEX "make\\.py$")
    add_test(NAME unit.replay_packed COMMAND replay_packed ${inputs})
    set_tests_properties(unit.replay_packed PROPERTIES TIMEOUT 300)
endif()
