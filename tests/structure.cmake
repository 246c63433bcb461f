# SPDX-License-Identifier: Apache-2.0
# The shape of the tree: layers, tables, lengths; every header compiles alone.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
    add_test(NAME structure.layers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check-layers)
endif()
add_test(NAME structure.headers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/structure/headers ${CMAKE_C_COMPILER}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
