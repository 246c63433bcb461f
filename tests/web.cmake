# SPDX-License-Identifier: Apache-2.0
# The viewer's pages: their sources, and in a real browser where there is one.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND STOKER_IS_PLAIN)
    add_test(NAME web.check COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/web/check
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(TARGET stoker_cli)
        add_test(NAME web.pages COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/web/pages
            $<TARGET_FILE:stoker_cli> ${PROJECT_BINARY_DIR} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(web.pages PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
        add_test(NAME web.images COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/web/images
            $<TARGET_FILE:stoker_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(web.images PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
    endif()
endif()
