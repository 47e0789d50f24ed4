// SPDX-License-Identifier: GPL-3.0-or-later
/* API of fracture: settings, and channels of pieces and splits. */
#include "fracture/fracture.h"

#include "api/api.h"
#include "body/memberships.h"
#include "sleep/sleep.h"

#include <string.h>

pliant_status pliant_body_set_fracture(pliant_body handle, const pliant_fracture_desc* desc)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    PL_TRY(pl_check_fracture(desc));
    if (body->level_count > 1 && body->level_kind != PLIANT_LEVELS_NESTED)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body has %u independent levels: only bodies with nested ones can break",
                       body->level_count);
    if (body->material.goal == PLIANT_GOAL_QUADRATIC)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body has quadratic goals: choose rigid or linear ones for it to break");
    if (body->material.resample ||
        (!body->fracture && pl_first_particles(&body->particles) < body->particles.id_count))
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body has its particles resampled: switch that off for it to break");
    if (body->pressure)
        return pl_fail(
            PLIANT_ERROR_STATE,
            "The body has been under pressure and would leak: make it with pressure 0 for "
            "it to break");
    if (!body->fracture || memcmp(&body->fracture->desc, desc, sizeof *desc) != 0)
        pl_wake(body); /* identical settings, as after a restore, do not wake it */
    return pl_fracture_set(body, desc);
}

pliant_status pliant_body_set_cells(pliant_body handle, uint32_t count, const double* origin,
                                    const float* points)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (!body->fracture)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body cannot break: give it fracture before the cells of a pattern");
    if (count == 1 || count > PL_CELLS_MOST)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "A pattern of %u cells: it must have 2 to %u", count,
                       PL_CELLS_MOST);
    if (count && !points)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The points are NULL with %u cells", count);
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    PL_TRY(pl_check_floats(points, (uint64_t)count * 3, "points"));
    float* own = count ? PL_NEW(float, 3 * (size_t)count) : NULL;
    if (count && !own)
        return pl_fail_memory(3 * sizeof *own * count);
    for (size_t i = 0; i < 3 * (size_t)count; ++i)
        own[i] = (float)(points[i] + (origin ? origin[i % 3] : 0) - body->rest_origin[i % 3]);
    const pl_fracture* f = body->fracture;
    bool same =
        count == f->given_count && (!count || memcmp(own, f->given, 3 * sizeof *own * count) == 0);
    if (same)
    {
        pl_free(own);
        return PLIANT_OK;
    }
    pl_wake(body);
    return pl_voronoi_cells_give(body, count, own);
}

/* ------------------------------------------------------------------ reading */

typedef struct pieces_by_id
{
    const pl_body* body;
    uint32_t* out;
} pieces_by_id;

static void note_piece(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    const pieces_by_id* by_id = context;
    (void)weight;
    by_id->out[by_id->body->particles.id[slot]] = by_id->body->clusters.piece[cluster];
}

void pl_body_pieces(const pl_body* body, uint32_t* out)
{
    pieces_by_id by_id = {body, out};
    memset(out, 0, sizeof *out * body->particles.id_count);
    if (body->fracture)
        pl_each_member(body, 0, body->level_begin[1], note_piece, &by_id);
}

static uint64_t items_of(const pl_body* body, uint32_t channel)
{
    const pl_fracture* f = body->fracture;
    if (channel == PLIANT_CELL)
        return f ? f->cell_count : 0;
    if (channel == PLIANT_CELL_POINT)
        return f && f->cell_count ? f->cells_made : 0;
    if (channel <= PLIANT_PIECE)
        return body->particles.id_count;
    if (!f)
        return 0;
    if (channel <= PLIANT_PIECE_BIRTH)
        return f->piece_count;
    return channel == PLIANT_DIVIDED ? f->divided_count : f->split_count;
}

uint32_t pl_fracture_width(uint32_t channel)
{
    static const uint32_t widths[] = {4, 8, 4, 4, 8, 28, 8, 8, 16};
    return channel == PLIANT_CELL         ? 4
           : channel == PLIANT_CELL_POINT ? 12
                                          : widths[channel - PLIANT_PARENT];
}

static void read_planes(const pl_body* body, const double* origin, float* out)
{
    for (size_t i = 0; i < body->fracture->split_count; ++i)
    {
        const pl_split* split = &body->fracture->splits[i];
        for (int k = 0; k < 3; ++k)
        {
            double from = body->rest_origin[k] - (origin ? origin[k] : 0);
            out[7 * i + (size_t)k] = (float)(split->point[k] + from);
            out[7 * i + 3 + (size_t)k] = split->normal[k];
        }
        out[7 * i + 6] = split->reach;
    }
}

static void read_cell_points(const pl_body* body, const double* origin, float* out)
{
    const pl_fracture* f = body->fracture;
    for (size_t i = 0; i < 3 * (size_t)f->cells_made; ++i)
        out[i] =
            (float)(f->cell_point[i] + body->rest_origin[i % 3] - (origin ? origin[i % 3] : 0));
}

static void read_divided(const pl_fracture* f, uint32_t* out)
{
    size_t split = 0;
    for (size_t i = 0; i < f->divided_count; ++i)
    {
        while (f->splits[split].divided_end <= i)
            ++split;
        out[4 * i] = (uint32_t)split;
        memcpy(out + 4 * i + 1, &f->divided[i], sizeof f->divided[i]);
    }
}

static void read_numbers(const pl_body* body, uint32_t channel, void* out)
{
    const pl_fracture* f = body->fracture;
    const pl_particles* p = &body->particles;
    double* times = out;
    uint32_t* numbers = out;
    uint64_t count = items_of(body, channel);
    for (uint64_t i = 0; i < count; ++i)
        switch (channel)
        {
            case PLIANT_PARENT:
                numbers[i] = p->parent[i];
                break;
            case PLIANT_BIRTH:
                times[i] = p->parent[i] == i ? -INFINITY : pl_fracture_birth(body, (uint32_t)i);
                break;
            case PLIANT_PIECE_PARENT:
                numbers[i] = f->pieces[i].parent;
                break;
            case PLIANT_PIECE_BIRTH:
                times[i] = f->pieces[i].parent == i ? -INFINITY : f->pieces[i].moment;
                break;
            case PLIANT_SPLIT_TIME:
                times[i] = f->splits[i].moment;
                break;
            default:
                numbers[2 * i] = f->splits[i].cluster;
                numbers[2 * i + 1] = f->splits[i].fresh;
        }
}

pl_status pl_body_read_fracture(const pl_body* body, uint32_t channel, const double* origin,
                                void* buffer, uint64_t* bytes)
{
    if (!bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the size is NULL");
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    uint64_t items = items_of(body, channel), needed = items * pl_fracture_width(channel);
    uint64_t had = *bytes;
    *bytes = buffer && had < needed ? had : needed;
    if (!buffer || items == 0)
        return PLIANT_OK;
    if (had < needed)
        return pl_fail(PLIANT_ERROR_BUFFER, "The channel takes %llu bytes; the buffer has %llu",
                       (unsigned long long)needed, (unsigned long long)had);
    if (channel == PLIANT_PIECE)
        pl_body_pieces(body, buffer);
    else if (channel == PLIANT_CELL)
        memcpy(buffer, body->fracture->cell, needed);
    else if (channel == PLIANT_CELL_POINT)
        read_cell_points(body, origin, buffer);
    else if (channel == PLIANT_SPLIT_PLANE)
        read_planes(body, origin, buffer);
    else if (channel == PLIANT_DIVIDED)
        read_divided(body->fracture, buffer);
    else
        read_numbers(body, channel, buffer);
    return PLIANT_OK;
}
