# SPDX-License-Identifier: Apache-2.0
# Adding a thing is one new file and one line: each kind of thing in a copy of the tree, built and run.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli AND STOKER_IS_PLAIN)
    add_test(NAME recipes.all COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/recipes/run
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(recipes.all PROPERTIES RUN_SERIAL TRUE TIMEOUT ${STOKER_TEST_SECONDS})
endif()
