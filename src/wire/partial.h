// SPDX-License-Identifier: Apache-2.0
// How files of partial results start (answers/partial/partial.h), to recognize one by its first
// bytes or name.
#pragma once

#define STK_PARTIAL_MAGIC "stoker partial "
// The name `stoker run` gives the partial of the profiles in its folder.
#define STK_PARTIAL_OF_RUN "run.part"
