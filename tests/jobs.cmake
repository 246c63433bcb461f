# SPDX-License-Identifier: Apache-2.0
# Recorded jobs against their own stop-watches (tests/jobs/README.md).
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli)
    add_test(NAME jobs.recorded COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/jobs/run
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(jobs.recorded PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
