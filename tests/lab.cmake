# SPDX-License-Identifier: Apache-2.0
# The simulator of lab/sim: what must hold of its runs, and its profiles as stoker reads them.
add_executable(test_simulator lab/simulator.c)
target_include_directories(test_simulator PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(test_simulator PRIVATE stoker_simulator)
add_test(NAME lab.simulator COMMAND test_simulator WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(lab.simulator PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
if(Python3_Interpreter_FOUND AND TARGET stoker_cli)
    add_test(NAME lab.dialects COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/dialects
        $<TARGET_FILE:stoker_cli> $<TARGET_FILE:stoker_sim> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME lab.rules COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/rules
        $<TARGET_FILE:stoker_cli> $<TARGET_FILE:stoker_sim> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME lab.culprits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/culprits
        $<TARGET_FILE:stoker_cli> $<TARGET_FILE:stoker_sim> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME lab.corpus COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/corpus
        $<TARGET_FILE:stoker_sim> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME lab.gpu COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/gpu
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(lab.dialects lab.rules lab.culprits lab.corpus lab.gpu PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME lab.gloo COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lab/gloo
        $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(lab.gloo PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS} SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endif()
