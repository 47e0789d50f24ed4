// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels.h"

void PL_K(pl_advance)(pl_pass* pass);
void PL_K(pl_gather)(pl_pass* pass);
void PL_K(pl_match)(const pl_match_batch* batch);
void PL_K(pl_match_limit)(const pl_match_batch* batch);
void PL_K(pl_limit)(pl_pass* pass);
void PL_K(pl_limit_balance)(const pl_match_batch* batch, float* const* limit_sums);
void PL_K(pl_limit_apply)(pl_pass* pass);

const pl_kernels PL_K(pl_kernels) = {
    .advance = PL_K(pl_advance),
    .gather = PL_K(pl_gather),
    .match = PL_K(pl_match),
    .match_limit = PL_K(pl_match_limit),
    .limit = PL_K(pl_limit),
    .limit_balance = PL_K(pl_limit_balance),
    .limit_apply = PL_K(pl_limit_apply),
};
