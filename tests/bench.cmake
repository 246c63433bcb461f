# SPDX-License-Identifier: Apache-2.0
# What the benchmarks say is tested with peers that are made up, and how a user of each peer would
# write it with those there are; what they measure is not.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
    add_test(NAME bench.search COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bench/search)
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
