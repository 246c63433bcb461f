# SPDX-License-Identifier: Apache-2.0
# The shape of the tree: layers, tables, lengths; every header compiles alone; clang takes what is not fuzzed.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
    add_test(NAME structure.layers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check-layers)
    add_test(NAME structure.breaches COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/structure/breaches)
endif()
add_test(NAME structure.headers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/structure/headers ${CMAKE_C_COMPILER}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
if(STOKER_IS_PLAIN)
    add_test(NAME structure.clang COMMAND ${PROJECT_SOURCE_DIR}/tools/warnings clang)
endif()
if(Python3_Interpreter_FOUND AND NOT STOKER_FUZZ)
    add_test(NAME structure.calls COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check-calls ${PROJECT_BINARY_DIR})
    set_tests_properties(structure.calls PROPERTIES SKIP_RETURN_CODE 77)
endif()
