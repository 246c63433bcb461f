# SPDX-License-Identifier: Apache-2.0
# What a profile may cost, by how it was made: a few seconds here, every kind with --long. The limits
# are those of a plain build.
if(Python3_Interpreter_FOUND AND TARGET stoker_cli AND STOKER_IS_PLAIN)
    add_test(NAME attack.formula COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/formula.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.formula PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
