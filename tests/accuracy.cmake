# SPDX-License-Identifier: Apache-2.0
# Prices of fixes against jobs whose truth is known (bench/accuracy), on a part of the corpus.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli AND TARGET stoker_sim)
    add_test(NAME accuracy.sample COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/accuracy
        --stoker $<TARGET_FILE:stoker_cli> --sim $<TARGET_FILE:stoker_sim> --every 6 --check)
    set_tests_properties(accuracy.sample PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    add_test(NAME accuracy.scores COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/accuracy_scores)
endif()
