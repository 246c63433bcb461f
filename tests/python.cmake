# SPDX-License-Identifier: Apache-2.0
# The Python module: tests/py/test_*.py, each a program that prints how many checks it made.
if(TARGET stoker_py)
    file(GLOB STOKER_PY_TESTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/py/test_*.py)
    set(preload)
    if(STOKER_SANITIZE) # those of the module itself; CPython keeps what it allocates until the end
        if(STOKER_SANITIZE MATCHES thread)
            set(runtime_name libtsan.so)
            list(FILTER STOKER_PY_TESTS INCLUDE REGEX "test_(stats|trace|ragged|soak|device|pieces|plugin|interrupt)")
        else()
            set(runtime_name libasan.so)
            list(FILTER STOKER_PY_TESTS INCLUDE REGEX "test_(datasets|elements|extremes|interrupt|processes|elastic|trace)")
        endif()
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime_name}
            OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(NOT IS_ABSOLUTE "${runtime}")
            set(STOKER_PY_TESTS)
            stoker_test_skipped(py.module "no ${runtime_name} to preload")
        endif()
        string(CONCAT preload ";LD_PRELOAD=${runtime};PYTHONMALLOC=malloc"
            ";ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_sigbus=0"
            ";TSAN_OPTIONS=die_after_fork=0:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/presets/tsan.supp")
    endif()
    foreach(source ${STOKER_PY_TESTS})
        get_filename_component(name ${source} NAME_WE)
        string(REPLACE test_ py. name ${name})
        set(more)
        if(STOKER_SANITIZE MATCHES thread AND name STREQUAL py.soak)
            set(more --seconds 10)
        endif()
        add_test(NAME ${name} COMMAND ${STOKER_PYTHON_EXECUTABLE} ${source} ${more} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS}
            ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;STOKER_FAKE_CUDA=$<TARGET_FILE:fake_cuda>${preload}")
    endforeach()
    foreach(timed recorder stats) # what limits a pipeline is a question of time
        if(TEST py.${timed})
            set_tests_properties(py.${timed} PROPERTIES RUN_SERIAL TRUE)
        endif()
    endforeach()
else()
    stoker_test_skipped(py.module "stoker.data was not built: Python's headers and NumPy are needed")
endif()
if(TARGET stoker_py AND NOT STOKER_SANITIZE)
    foreach(peer tf_random_pipelines tf_scripts)
        add_test(NAME peers.${peer}
            COMMAND ${STOKER_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/peers/${peer}
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(peers.${peer} PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS}
            ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
    endforeach()
endif()
if(TARGET stoker_py)
    add_test(NAME gpu.assemble COMMAND ${STOKER_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/assemble.py
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(gpu.assemble PROPERTIES ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
    add_test(NAME gpu.staging COMMAND ${STOKER_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/staging.py
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(gpu.staging PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS}
        ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
endif()
