# SPDX-License-Identifier: Apache-2.0
# What the benchmarks say is tested with peers that are made up, and how a user of each peer would
# write it with those there are; what they measure is not.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
    add_test(NAME bench.search COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bench/search)
endif()
# A report of 1,024 ranks with 10,000 collectives each, within 512 MB; its time is printed.
if(Python3_Interpreter_FOUND AND STOKER_DATA AND TARGET stoker_sim AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT STOKER_SANITIZE AND NOT STOKER_COVERAGE)
    add_test(NAME bench.merge COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/merge/run --check --build ${PROJECT_BINARY_DIR})
    set_tests_properties(bench.merge PROPERTIES LABELS all TIMEOUT 600 RUN_SERIAL ON)
endif()
# Instructions and memory against the tree that was last accepted: builds that tree, too.
if(Python3_Interpreter_FOUND AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT STOKER_SANITIZE AND NOT STOKER_COVERAGE)
    add_test(NAME bench.guard COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/guard/run)
    set_tests_properties(bench.guard PROPERTIES LABELS all TIMEOUT 1800 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()
if(TARGET stoker_py AND NOT STOKER_SANITIZE)
    add_test(NAME bench.spellings COMMAND ${STOKER_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bench/spellings)
    set_tests_properties(bench.spellings PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS}
        ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
endif()
