# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` gives to programs in C and C++: stoker/*.h, libstoker.so, stoker.pc and a package
# for find_package(stoker). The library shows the functions of include/stoker and nothing else.
#
# Not under sanitizers, coverage or libFuzzer: such a library does not load into other people's programs.
set(STOKER_ABI 0) # the number in the library's name: docs/release.md says when it grows

function(stoker_shared_library)
    if(STOKER_SANITIZE OR STOKER_FUZZ OR STOKER_COVERAGE OR NOT STOKER_DATA)
        return()
    endif()
    add_library(stoker_shared SHARED ${PROJECT_SOURCE_DIR}/cmake/stoker.map)
    set_target_properties(stoker_shared PROPERTIES OUTPUT_NAME stoker EXPORT_NAME stoker LINKER_LANGUAGE C
        VERSION ${STOKER_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH} SOVERSION ${STOKER_ABI}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/stoker.map)
    target_link_libraries(stoker_shared PRIVATE -Wl,--whole-archive stoker -Wl,--no-whole-archive)
    # nodelete: threads of the engine outlive the iterators, and run its code.
    target_link_options(stoker_shared PRIVATE -Wl,-z,defs -Wl,-z,nodelete
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/stoker.map)
    stoker_link_if_known(stoker_shared -Wl,-Bsymbolic-functions)
    target_include_directories(stoker_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

function(stoker_install_library)
    if(NOT TARGET stoker_shared)
        return()
    endif()
    include(CMakePackageConfigHelpers)
    set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stoker)
    # The way from stoker.pc to the prefix, so that the folder may be moved as a whole.
    file(RELATIVE_PATH STOKER_PC_TO_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
    string(REGEX REPLACE "/$" "" STOKER_PC_TO_PREFIX "${STOKER_PC_TO_PREFIX}")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/stoker.pc.in ${PROJECT_BINARY_DIR}/stoker.pc @ONLY)
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stokerConfig.cmake.in
        ${PROJECT_BINARY_DIR}/stokerConfig.cmake INSTALL_DESTINATION ${package}
        NO_SET_AND_CHECK_MACRO)
    # 0.2 may take away what 0.1 had.
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(TARGETS stoker_shared EXPORT stokerTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
    install(EXPORT stokerTargets NAMESPACE stoker:: DESTINATION ${package} COMPONENT development)
    install(FILES ${PROJECT_BINARY_DIR}/stokerConfig.cmake ${PROJECT_BINARY_DIR}/stokerConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
    install(FILES ${PROJECT_BINARY_DIR}/stoker.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/stoker DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h")
endfunction()
stoker_shared_library()
stoker_install_library()
