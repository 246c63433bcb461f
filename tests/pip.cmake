# SPDX-License-Identifier: Apache-2.0
# The Python package as `pip install .` makes it. It builds the tree again, so it is left to ./dev test --all.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND STOKER_IS_PLAIN)
    add_test(NAME pip.install COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pip/run
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(pip.install PROPERTIES RUN_SERIAL TRUE TIMEOUT ${STOKER_TEST_SECONDS})
    # What ./dev release wrote, where it has run.
    add_test(NAME packages.artifacts COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/packages/run
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(packages.artifacts PROPERTIES RUN_SERIAL TRUE TIMEOUT ${STOKER_TEST_SECONDS} SKIP_RETURN_CODE 77)
endif()
# The commands that read profiles, as they are tried on other systems too.
if(TARGET stoker_cli)
    add_test(NAME packages.reads COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packages/reads $<TARGET_FILE:stoker_cli>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(packages.reads PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
