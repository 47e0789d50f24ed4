// SPDX-License-Identifier: GPL-3.0-or-later
#include "dynamics/kernels.h"

void PL_K(pl_advance)(pl_pass* pass);
void PL_K(pl_gather)(pl_pass* pass);
void PL_K(pl_update_moments)(pl_pass* pass, const pl_moved_blocks* moved);
void PL_K(pl_match)(const pl_match_batch* batch);
void PL_K(pl_match_limit)(const pl_match_batch* batch);
void PL_K(pl_levels_sum)(const pl_links* links, pl_clusters* clusters, uint32_t begin,
                         uint32_t end);
void PL_K(pl_levels_spread)(const pl_links* links, pl_clusters* clusters, uint32_t begin,
                            uint32_t end);
void PL_K(pl_level_batch_spread)(const pl_chunk* run, float* rows, pl_clusters* clusters,
                                 uint32_t begin, uint32_t end);
void PL_K(pl_embed)(pl_embedding* job);
void PL_K(pl_rest_mass_moments)(const pl_rest_mass_moments* job);
void PL_K(pl_rest_second_moments)(const pl_rest_job* job);
uint32_t PL_K(pl_outliers)(const pl_chunk* chunk, const pl_particles* p,
                           const pl_outlier_bound* rows, pl_suspect* found);
void PL_K(pl_limit)(pl_pass* pass);
void PL_K(pl_limit_balance)(const pl_match_batch* batch, float* const* limit_sums);
void PL_K(pl_limit_apply)(pl_pass* pass);

const pl_kernels PL_K(pl_kernels) = {
    .advance = PL_K(pl_advance),
    .gather = PL_K(pl_gather),
    .update_moments = PL_K(pl_update_moments),
    .match = PL_K(pl_match),
    .match_limit = PL_K(pl_match_limit),
    .levels_sum = PL_K(pl_levels_sum),
    .levels_spread = PL_K(pl_levels_spread),
    .run_spread = PL_K(pl_level_batch_spread),
    .embed = PL_K(pl_embed),
    .rest_mass_moments = PL_K(pl_rest_mass_moments),
    .rest_second_moments = PL_K(pl_rest_second_moments),
    .outliers = PL_K(pl_outliers),
    .limit = PL_K(pl_limit),
    .limit_balance = PL_K(pl_limit_balance),
    .limit_apply = PL_K(pl_limit_apply),
};
