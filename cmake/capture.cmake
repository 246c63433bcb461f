# SPDX-License-Identifier: Apache-2.0
# libstoker_capture.so: what `stoker run --level 1` has CUDA's driver load into a job. It needs the C library
# alone, shows its entry points alone, and is never unloaded.
file(GLOB STOKER_CAPTURE_SOURCES CONFIGURE_DEPENDS src/job/capture/inject/*.c)
add_library(stoker_capture SHARED ${STOKER_CAPTURE_SOURCES} src/wire/wire_slab.c src/base/crc32c.c src/base/cpu.c
    src/base/assert.c src/base/remove.c)
target_link_libraries(stoker_capture PRIVATE stoker_flags Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(stoker_capture PROPERTIES C_VISIBILITY_PRESET hidden)
target_link_options(stoker_capture PRIVATE -Wl,-z,nodelete
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/capture.map)
stoker_link_if_known(stoker_capture -Wl,-Bsymbolic-functions)
if(NOT STOKER_SANITIZE)
    target_link_options(stoker_capture PRIVATE -Wl,-z,defs)
endif()
set_target_properties(stoker_capture PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/capture.map)
if(NOT STOKER_SANITIZE AND NOT STOKER_FUZZ AND NOT STOKER_COVERAGE)
    install(TARGETS stoker_capture LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# Where the program finds it, once both are installed.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/job/capture/parent/gpu_windows.c PROPERTIES
    COMPILE_DEFINITIONS STOKER_LIBDIR="../${CMAKE_INSTALL_LIBDIR}")
