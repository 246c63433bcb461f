// SPDX-License-Identifier: Apache-2.0
// Reference counting of functions and datasets, for code that holds them without looking inside
// (attributes).
#pragma once

struct stk_fn;
struct stk_dataset;

struct stk_fn *stk_fn_hold(struct stk_fn *fn);                // takes NULL
void stk_fn_drop(struct stk_fn *fn);                          // takes NULL
struct stk_dataset *stk_dataset_hold(struct stk_dataset *ds); // takes NULL
void stk_dataset_drop(struct stk_dataset *ds);                // takes NULL
