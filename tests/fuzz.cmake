# SPDX-License-Identifier: Apache-2.0
# With the preset `fuzz` a libFuzzer target for each reader row and each line below: tests/fuzz/run.
# Else a program for each that replays its files in every test run: seeds (fuzz/seeds/NAME), small
# files of the format (data/NAME; make.py makes some of them), and what was found once
# (fuzz/regressions/NAME).
function(stoker_fuzz name source library) # and definitions
    if(STOKER_FUZZ)
        set(target fuzz_${name})
        add_executable(${target} fuzz/${source}.c)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        target_link_libraries(${target} PRIVATE ${library})
        add_dependencies(fuzzers ${target})
    else()
        set(target replay_${name})
        add_executable(${target} fuzz/${source}.c)
        target_compile_definitions(${target} PRIVATE FUZZ_REPLAY)
        string(REPLACE stoker_fuzzed stoker library ${library})
        target_link_libraries(${target} PRIVATE ${library})
        file(GLOB inputs CONFIGURE_DEPENDS fuzz/seeds/${name}/* fuzz/regressions/${name}/* data/${name}/*)
        list(FILTER inputs EXCLUDE REGEX "\\.py$")
        add_test(NAME unit.${target} COMMAND ${target} ${inputs})
        set_tests_properties(unit.${target} PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    endif()
    target_compile_definitions(${target} PRIVATE ${ARGN})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()
file(STRINGS ${PROJECT_SOURCE_DIR}/src/readers/readers.def reader_rows REGEX "^X\\(")
foreach(row ${reader_rows})
    string(REGEX REPLACE "^X\\(([a-z_0-9]+)\\).*" "\\1" reader ${row})
    stoker_fuzz(${reader} fuzz_reader stoker_fuzzed FUZZ_READER=${reader})
endforeach()
# Formats and operations of the engine.
foreach(name files graph image indexed inspect jpeg packed records stream text)
    stoker_fuzz(${name} fuzz_${name} stoker_fuzzed)
endforeach()
# What stands on reports, queries and exports.
foreach(name export render sql)
    stoker_fuzz(${name} fuzz_${name} stoker)
endforeach()
# What a running job answers.
if(NGHTTP2_FOUND)
    stoker_fuzz(answer fuzz_answer stoker_remote)
endif()
if(STOKER_IS_PLAIN)
    add_test(NAME fuzz.short COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/short WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(fuzz.short PROPERTIES TIMEOUT 3600 RUN_SERIAL TRUE)
endif()
