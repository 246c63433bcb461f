# SPDX-License-Identifier: Apache-2.0
# What the benchmarks say is tested with peers that are made up; what they measure is not.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
    add_test(NAME bench.search COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bench/search)
endif()
