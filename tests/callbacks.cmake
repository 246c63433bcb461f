# SPDX-License-Identifier: Apache-2.0
# stoker.callbacks and the notebook's magics; with the real frameworks where STOKER_FRAMEWORKS names interpreters that have them.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli)
    add_test(NAME callbacks.frameworks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/callbacks/run
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(callbacks.frameworks PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
