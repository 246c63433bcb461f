# SPDX-License-Identifier: Apache-2.0
# Fuzz targets of formats and operations that take bytes, one line each; without the preset `fuzz`, a
# replay of the files in data/NAME (make.py makes some of them) and fuzz/regressions/NAME.
foreach(name image jpeg packed text)
    if(STOKER_FUZZ)
        add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
        target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        target_link_libraries(fuzz_${name} PRIVATE stoker_fuzzed)
        add_dependencies(fuzzers fuzz_${name})
    else()
        add_executable(replay_${name} fuzz/fuzz_${name}.c)
        target_compile_definitions(replay_${name} PRIVATE FUZZ_REPLAY)
        target_link_libraries(replay_${name} PRIVATE stoker)
        file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/${name}/*
            ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/${name}/*)
        list(FILTER inputs EXCLUDE REGEX "make\\.py$")
        add_test(NAME unit.replay_${name} COMMAND replay_${name} ${inputs})
        set_tests_properties(unit.replay_${name} PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    endif()
endforeach()
