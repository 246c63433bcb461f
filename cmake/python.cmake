# SPDX-License-Identifier: Apache-2.0
# The Python module stoker.data, for the interpreter that runs `python3` (or STOKER_PYTHON): an
# extension that links only the engine, plus Python files and the program. Importable from <build>/python.
#
# It is installed as two components, one for each distribution: `python-program` (the program and the package stoker)
# and `python-data` (stoker.data). `./dev release` takes only the extensions, one for each of STOKER_PYTHONS, which may
# be for another processor or C library than this machine's, in <build>/pythons/cpXY.
set(STOKER_PYTHON "" CACHE STRING "Python to build the module for (empty: python3 of the path)")
set(STOKER_PYTHON_DIR "" CACHE STRING "Where to install the module, below the prefix")
set(STOKER_PYTHONS "" CACHE STRING "Further Pythons to build the extension for, for STOKER_PYTHON_PLATFORM")
set(STOKER_PYTHON_PLATFORM "" CACHE STRING "Platform in the names of their extensions: x86_64-linux-gnu")

function(stoker_python_skip reason)
    message(STATUS "stoker.data for Python: skipped, ${reason}")
endfunction()

# What building for a Python needs: executable, headers of Python and NumPy, suffix of extensions, folder, "cpXY".
# `out` is empty where something is missing, and `out`_PROBLEM says what.
function(stoker_python_ask python out)
    execute_process(COMMAND ${python} -c "
import os, sys, sysconfig
assert sys.version_info >= (3, 10), 'Python 3.10 or later is needed'
include = sysconfig.get_path('include')
assert os.path.exists(os.path.join(include, 'Python.h')), 'its headers are not installed'
try:
    import numpy
except ImportError:
    raise AssertionError('NumPy is not installed')
site = os.path.basename(sysconfig.get_path('platlib'))
print(';'.join([sys.executable, include, numpy.get_include(), sysconfig.get_config_var('EXT_SUFFIX'),
                'lib/python%d.%d/%s' % (*sys.version_info[:2], site), 'cp%d%d' % sys.version_info[:2]]), end='')"
        OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE failed)
    if(failed)
        set(found)
        string(REGEX MATCH "AssertionError: ([^\n]*)" ignored "${problem}")
        if(NOT CMAKE_MATCH_1)
            set(CMAKE_MATCH_1 "no ${python}")
        endif()
    endif()
    set(${out} "${found}" PARENT_SCOPE)
    set(${out}_PROBLEM "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# The extension for a Python whose headers are in `includes`: `folder`/_engine`suffix`.
function(stoker_python_extension target suffix folder includes)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/py/*.c)
    add_library(${target} MODULE ${sources})
    target_include_directories(${target} SYSTEM PRIVATE ${includes})
    target_link_libraries(${target} PRIVATE stoker_data)
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/python.map)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/python.map)
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME _engine SUFFIX "${suffix}"
        C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()

function(stoker_python_further_extensions)
    foreach(python ${STOKER_PYTHONS})
        stoker_python_ask(${python} found)
        if(NOT found)
            message(FATAL_ERROR "STOKER_PYTHONS: ${python}: ${found_PROBLEM}")
        endif()
        list(GET found 1 2 includes)
        list(GET found 5 tag)
        string(REPLACE "cp" "" digits ${tag})
        stoker_python_extension(stoker_py_${tag} ".cpython-${digits}-${STOKER_PYTHON_PLATFORM}.so"
            ${PROJECT_BINARY_DIR}/pythons/${tag} "${includes}")
    endforeach()
endfunction()

# The package stoker without its engine: Python files, and the program next to them. `copies` gets the files in the tree.
function(stoker_python_package site out)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/py
        ${PROJECT_SOURCE_DIR}/src/py/stoker/*.py ${PROJECT_SOURCE_DIR}/src/py/stoker/py.typed)
    set(copies)
    foreach(file ${files})
        set(copy ${PROJECT_BINARY_DIR}/python/${file})
        add_custom_command(OUTPUT ${copy} DEPENDS ${PROJECT_SOURCE_DIR}/src/py/${file} COMMENT ""
            COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/src/py/${file} ${copy})
        list(APPEND copies ${copy})
    endforeach()
    # The program beside the module: in the build tree a link to it.
    set(copy ${PROJECT_BINARY_DIR}/python/stoker/bin/stoker)
    add_custom_command(OUTPUT ${copy} COMMENT ""
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/python/stoker/bin
        COMMAND ${CMAKE_COMMAND} -E create_symlink ../../../stoker ${copy})
    list(APPEND copies ${copy})
    # Each distribution has its own version, from the header.
    foreach(folder stoker stoker/data)
        configure_file(${PROJECT_SOURCE_DIR}/cmake/_version.py.in ${PROJECT_BINARY_DIR}/python/${folder}/_version.py @ONLY)
    endforeach()
    install(TARGETS stoker_cli stoker_capture RUNTIME DESTINATION ${site}/stoker/bin COMPONENT python-program
        LIBRARY DESTINATION ${site}/stoker/bin COMPONENT python-program)
    install(FILES ${PROJECT_BINARY_DIR}/python/stoker/_version.py DESTINATION ${site}/stoker COMPONENT python-program)
    install(FILES ${PROJECT_BINARY_DIR}/python/stoker/data/_version.py DESTINATION ${site}/stoker/data COMPONENT python-data)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/py/stoker DESTINATION ${site} COMPONENT python-program
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE PATTERN "stoker/data" EXCLUDE)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/py/stoker/data DESTINATION ${site}/stoker COMPONENT python-data
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
    set(${out} ${copies} PARENT_SCOPE)
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
    stoker_python_ask(${python} found)
    if(found)
        list(GET found 4 site)
    endif()
    if(STOKER_PYTHON_DIR)
        set(site ${STOKER_PYTHON_DIR})
    endif()
    if(site)
        stoker_python_package(${site} copies)
    endif()
    if(NOT found)
        stoker_python_skip("${found_PROBLEM}")
        return()
    endif()
    list(GET found 0 executable)
    list(GET found 1 2 includes)
    list(GET found 3 suffix)
    message(STATUS "stoker.data for Python: ${executable}")
    set(STOKER_PYTHON_EXECUTABLE ${executable} PARENT_SCOPE)

    stoker_python_extension(stoker_py "${suffix}" ${PROJECT_BINARY_DIR}/python/stoker/data "${includes}")
    install(TARGETS stoker_py LIBRARY DESTINATION ${site}/stoker/data COMPONENT python-data)
    foreach(header data err plugin) # what plug-ins are built with
        set(copy ${PROJECT_BINARY_DIR}/python/stoker/data/include/stoker/${header}.h)
        add_custom_command(OUTPUT ${copy} DEPENDS ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h COMMENT ""
            COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h ${copy})
        list(APPEND copies ${copy})
        install(FILES ${PROJECT_SOURCE_DIR}/include/stoker/${header}.h
            DESTINATION ${site}/stoker/data/include/stoker COMPONENT python-data)
    endforeach()
    add_custom_target(stoker_py_files ALL DEPENDS ${copies})

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
            install(FILES ${stub} DESTINATION ${site}/${folder} COMPONENT python-data)
        endforeach()
    endif()
endfunction()
stoker_python_further_extensions()
stoker_python_module()
