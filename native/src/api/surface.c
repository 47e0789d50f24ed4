// SPDX-License-Identifier: GPL-3.0-or-later
/* Reading distances from a body's contact surface. */
#include "api/api.h"
#include "body/rest_query.h"
#include "body/rest_sdf.h"

#include <string.h>

/* A body without contacts so far has no rest SDF. It is then built in a temporary copy, because
 * reading must not change the simulated state. */
pliant_status pliant_body_surface_distance(pliant_body handle, uint32_t count, const double* origin,
                                           const float* points, float* distances)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (count && (!points || !distances))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The %s are NULL with %u points",
                       points ? "distances" : "points", count);
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    PL_TRY(pl_check_floats(points, (uint64_t)count * 3, "points"));
    pl_rest_sdf made = {.distance = NULL};
    bool has = body->rest_sdf.distance != NULL;
    if (!has)
    {
        pl_body aside = *body;
        memset(&aside.rest_sdf, 0, sizeof aside.rest_sdf);
        pl_status status = pl_rest_sdf_build(&aside, &aside.rest_sdf);
        made = aside.rest_sdf;
        if (status != PLIANT_OK)
        {
            pl_rest_sdf_free(&made);
            return status;
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        double at[3];
        for (int k = 0; k < 3; ++k)
            at[k] = points[3 * (size_t)i + k] + (origin ? origin[k] : 0) - body->rest_origin[k];
        distances[i] =
            (float)pl_rest_sdf_distance(has ? &body->rest_sdf : &made, v3_fromd(at), NULL);
    }
    pl_rest_sdf_free(&made);
    return PLIANT_OK;
}
