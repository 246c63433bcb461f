# SPDX-License-Identifier: Apache-2.0
# The Python module stoker.data, for the interpreter that runs `python3` (or STOKER_PYTHON): an
# extension that links the engine alone, beside Python files and the program. Importable from <build>/python.
set(STOKER_PYTHON "" CACHE STRING "Python to build the module for (empty: python3 of the path)")
set(STOKER_PYTHON_DIR "" CACHE STRING "Where to install the module, below the prefix")

function(stoker_python_skip reason)
    message(STATUS "stoker.data for Python: skipped, ${reason}")
endfunction()

function(stoker_python_module)
    # Under sanitizers the tests preload the runtime (tests/python.cmake).
    if(CMAKE_CROSSCOMPILING OR STOKER_FUZZ)
        stoker_python_skip("not in this kind of build")
        return()
    endif()
    set(python ${STOKER_PYTHON})
    if(NOT python AND SKBUILD) # pip install: the Python that runs pip
        set(python ${Python_EXECUTABLE})
    endif()
    if(NOT python)
        set(python python3)
    endif()
    execute_process(COMMAND ${python} -c "
import os, sys, sysconfig
assert sys.version_info >= (3, 9), 'Python 3.9 or later is needed'
include = sysconfig.get_path('include')
assert os.path.exists(os.path.join(include, 'Python.h')), 'its headers are not installed'
try:
    import numpy
except ImportError:
    raise AssertionError('NumPy is not installed')
site = os.path.basename(sysconfig.get_path('platlib'))
print(';'.join([sys.executable, include, numpy.get_include(), sysconfig.get_config_var('EXT_SUFFIX'),
                'lib/python%d.%d/%s' % (*sys.version_info[:2], site)]), end='')"
        OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE failed)
    if(failed)
        string(REGEX MATCH "AssertionError: ([^\n]*)" ignored "${problem}")
        if(NOT CMAKE_MATCH_1)
            set(CMAKE_MATCH_1 "no ${python}")
        endif()
        stoker_python_skip("${CMAKE_MATCH_1}")
        return()
    endif()
    list(GET found 0 executable)
    list(GET found 1 include)
    list(GET found 2 numpy_include)
    list(GET found 3 suffix)
    list(GET found 4 site)
    if(STOKER_PYTHON_DIR)
        set(site ${STOKER_PYTHON_DIR})
    endif()
    message(STATUS "stoker.data for Python: ${executable}")
    set(STOKER_PYTHON_EXECUTABLE ${executable} PARENT_SCOPE)

    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/py/*.c)
    add_library(stoker_py MODULE ${sources})
    target_include_directories(stoker_py SYSTEM PRIVATE ${include} ${numpy_include})
    target_link_libraries(stoker_py PRIVATE stoker_data)
    target_link_options(stoker_py PRIVATE -Wl,--exclude-libs,ALL)
    set_target_properties(stoker_py PROPERTIES PREFIX "" OUTPUT_NAME _engine SUFFIX "${suffix}"
        C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/stoker/data)
    install(TARGETS stoker_py LIBRARY DESTINATION ${site}/stoker/data COMPONENT python)

    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/py
        ${PROJECT_SOURCE_DIR}/src/py/stoker/*.py ${PROJECT_SOURCE_DIR}/src/py/stoker/py.typed)
    set(copies)
    foreach(file ${files})
        set(copy ${PROJECT_BINARY_DIR}/python/${file})
        add_custom_command(OUTPUT ${copy} DEPENDS ${PROJECT_SOURCE_DIR}/src/py/${file} COMMENT ""
            COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/src/py/${file} ${copy})
        list(APPEND copies ${copy})
    endforeach()
    foreach(header data err plugin) # what plug-ins are built with
        set(copy ${PROJECT_BINARY_DIR}/python/stoker/data/include/stoker/${header}.h)
        add_custom_command(OUTPUT ${copy} DEPENDS ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h COMMENT ""
            COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h ${copy})
        list(APPEND copies ${copy})
        install(FILES ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h
            DESTINATION ${site}/stoker/data/include/stoker COMPONENT python)
    endforeach()
    # The program beside the module: in the build tree the one that is there.
    set(copy ${PROJECT_BINARY_DIR}/python/stoker/bin/stoker)
    add_custom_command(OUTPUT ${copy} COMMENT ""
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/python/stoker/bin
        COMMAND ${CMAKE_COMMAND} -E create_symlink ../../../stoker ${copy})
    list(APPEND copies ${copy})
    install(TARGETS stoker_cli stoker_capture RUNTIME DESTINATION ${site}/stoker/bin COMPONENT python
        LIBRARY DESTINATION ${site}/stoker/bin COMPONENT python)
    add_custom_target(stoker_py_files ALL DEPENDS ${copies})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/py/stoker DESTINATION ${site} COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

    # Type stubs are taken from the module as it is imported, which needs a runtime to preload under sanitizers.
    if(NOT STOKER_SANITIZE)
        set(stubs __init__ _groups_of_ops _op_types errors io lookup random train/__init__)
        list(TRANSFORM stubs PREPEND ${PROJECT_BINARY_DIR}/python/stoker/data/)
        list(TRANSFORM stubs APPEND .pyi)
        add_custom_command(OUTPUT ${stubs} DEPENDS stoker_py ${copies} ${PROJECT_SOURCE_DIR}/tools/py-stubs COMMENT ""
            COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python ${executable} -B
                ${PROJECT_SOURCE_DIR}/tools/py-stubs ${PROJECT_BINARY_DIR}/python/stoker/data)
        add_custom_target(stoker_py_stubs ALL DEPENDS ${stubs})
        foreach(stub ${stubs})
            file(RELATIVE_PATH folder ${PROJECT_BINARY_DIR}/python ${stub})
            get_filename_component(folder ${folder} DIRECTORY)
            install(FILES ${stub} DESTINATION ${site}/${folder} COMPONENT python)
        endforeach()
    endif()
endfunction()
stoker_python_module()
