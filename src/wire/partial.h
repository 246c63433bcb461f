// SPDX-License-Identifier: Apache-2.0
// How files of partial results begin (answers/partial/partial.h), for who must know one by its
// first bytes or its name.
#pragma once

#define STK_PARTIAL_MAGIC "stoker partial "
// What `stoker run` calls the partial of the profiles in its folder.
#define STK_PARTIAL_OF_RUN "run.part"
