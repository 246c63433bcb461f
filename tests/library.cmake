# SPDX-License-Identifier: Apache-2.0
# The C library as it is installed; a plain build has one.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_shared AND STOKER_IS_PLAIN)
    add_test(NAME library.installed COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/library/run
        ${PROJECT_BINARY_DIR} $<TARGET_FILE:stoker_cli> ${CMAKE_C_COMPILER} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(library.installed PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
