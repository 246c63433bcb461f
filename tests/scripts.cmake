# SPDX-License-Identifier: Apache-2.0
# The command line from outside, and whole reports against stored ones.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli)
    foreach(script run ci mcp bundle truth stats stats_input stats_values export perfetto query hostile terminal peers data diff whatif docs commands contracts prove ledger tune runs shared steps top capture jobs loops windows view view_browser view_cache collectives fixes fix_step evidence screen tutorial partial cluster mpi)
        add_test(NAME cli.${script} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}
            $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(cli.${script} PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    endforeach()
    if(TARGET stoker_grow)
        add_test(NAME cli.second_look COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/second_look
            $<TARGET_FILE:stoker_cli> $<TARGET_FILE:stoker_grow> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(cli.second_look PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    endif()
    add_test(NAME attack.mutants COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/mutants.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.mutants PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME attack.http_requests COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/http_requests.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.http_requests PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME attack.records COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/records.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.records PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME attack.redact COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/redact.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.redact PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME attack.cuts COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/attack/cuts.py
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(attack.cuts PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME snippets.rules COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/snippets/run
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(snippets.rules PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS}
        ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
    add_test(NAME field.recorded COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/field/recorded
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(field.recorded PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS} SKIP_RETURN_CODE 77)
    add_test(NAME field.traces COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/field/traces
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(field.traces PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS} SKIP_RETURN_CODE 77)
    add_test(NAME golden.reports COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(golden.reports PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME golden.figures COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/figures
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(golden.figures PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME golden.sentences COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/sentences
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(golden.sentences PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
