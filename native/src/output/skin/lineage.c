// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/skin/lineage.h"

pl_status pl_lineage_mean(uint32_t particles, uint32_t first, const uint32_t* parent,
                          const float* share, uint32_t width, float* values)
{
    uint32_t* root = PL_NEW(uint32_t, particles);
    double* sum = PL_NEW(double, (size_t)first*(width + 1));
    uint8_t* divided = PL_NEW(uint8_t, first);
    bool fine = root && sum && divided;
    for (uint32_t i = 0; fine && i < particles; ++i)
    {
        root[i] = i < first ? i : root[parent[i]];
        double* to = sum + (size_t)root[i] * (width + 1);
        for (uint32_t k = 0; k < width; ++k)
            to[k] += (double)share[i] * values[(size_t)i * width + k];
        to[width] += share[i];
        divided[root[i]] |= i >= first;
    }
    for (uint32_t i = 0; fine && i < first; ++i)
        for (uint32_t k = 0; k < width && divided[i]; ++k)
        {
            const double* from = sum + (size_t)i * (width + 1);
            values[(size_t)i * width + k] = (float)(from[k] / from[width]);
        }
    pl_free(root);
    pl_free(sum);
    pl_free(divided);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)particles * (width + 2) * 8);
}
