# SPDX-License-Identifier: Apache-2.0
# The unit and property tests again under sanitizers, with the viewer's server under attack, and on
# another processor. Each builds its own tree once; it is skipped (return code 77) with the reason
# where the tools are absent. They run one at a time: a build takes all cores.
if(STOKER_IS_PLAIN)
    foreach(preset asan tsan aarch64)
        add_test(NAME presets.${preset} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/presets/run ${preset}
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(presets.${preset} PROPERTIES TIMEOUT 3600 RUN_SERIAL TRUE)
    endforeach()
endif()
