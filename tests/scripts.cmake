# SPDX-License-Identifier: Apache-2.0
# The command line from outside, and whole reports against stored ones.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET stoker_cli)
    add_test(NAME cli.run COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/run $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME golden.reports COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.truth COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/truth $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.stats COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/stats $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.export COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/export $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.stats_input COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/stats_input $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.query COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/query $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.peers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/peers $<TARGET_FILE:stoker_cli>
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.stats_values COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/stats_values $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.data COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/data $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cli.diff COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/diff $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli.run cli.diff cli.export cli.query cli.stats cli.stats_input cli.stats_values golden.reports PROPERTIES TIMEOUT 600)
endif()
