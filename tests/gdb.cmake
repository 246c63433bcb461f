# SPDX-License-Identifier: Apache-2.0
# The commands of tools/gdb/stoker.py on a program with debugging information of its own.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND NOT STOKER_SANITIZE AND NOT STOKER_FUZZ AND NOT CMAKE_CROSSCOMPILING)
    add_executable(gdb_target gdb/target.c)
    target_compile_options(gdb_target PRIVATE -g -O0)
    target_link_libraries(gdb_target PRIVATE stoker)
    add_test(NAME tools.gdb COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gdb/run $<TARGET_FILE:gdb_target>
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(tools.gdb PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
