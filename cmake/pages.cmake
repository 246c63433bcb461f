# SPDX-License-Identifier: Apache-2.0
# Man pages and completion, which the program prints of itself: written into <build>/share and installed from there.
# Not in builds that nobody installs (sanitizers, fuzzers), nor where the program cannot run on the machine that builds it.
function(stoker_pages)
    if(STOKER_SANITIZE OR STOKER_FUZZ OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
        return()
    endif()
    set(share ${PROJECT_BINARY_DIR}/share)
    add_custom_command(OUTPUT ${share}/written DEPENDS stoker_cli ${PROJECT_SOURCE_DIR}/tools/pages COMMENT ""
        COMMAND ${PROJECT_SOURCE_DIR}/tools/pages ${share} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:stoker_cli>
        COMMAND ${CMAKE_COMMAND} -E touch ${share}/written)
    add_custom_target(stoker_pages ALL DEPENDS ${share}/written)
    install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${share}/completion/stoker.bash RENAME stoker
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${share}/completion/stoker.zsh RENAME _stoker DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${share}/completion/stoker.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
stoker_pages()
