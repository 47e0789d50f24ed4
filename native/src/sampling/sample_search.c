// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Finds the distance that gives a wanted number of points. The number falls about as
 * distance^-dimension, with some noise, so a few trials suffice: steps by that law, then a secant
 * method in logarithms once trials bracket the count.
 *
 * A trial with far too many points is stopped early: it only bounds the distance.
 *
 * Noise can prevent small counts from being met. Therefore the best trial with too many points is
 * kept, and the points closest to others are removed.
 */
#include "sampling/sample_internal.h"

#include <stdlib.h>

typedef struct pair
{
    double distance2;
    uint32_t point, other;
} pair;

static int compare_pairs(const void* a, const void* b)
{
    const pair *x = a, *y = b;
    if (x->distance2 != y->distance2)
        return x->distance2 < y->distance2 ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* Removes points, those nearest to others first, until "count" are left. */
static pl_status thin_out(pl_poisson* grid, uint32_t count)
{
    pair* pairs = PL_NEW(pair, grid->count);
    uint8_t* gone = PL_NEW(uint8_t, grid->count);
    if (!pairs || !gone)
    {
        pl_free(pairs);
        pl_free(gone);
        return pl_fail_memory(grid->count * sizeof *pairs);
    }
    for (uint32_t i = 0; i < grid->count; ++i)
    {
        pairs[i].point = i;
        pairs[i].other = pl_poisson_nearest(grid, i, &pairs[i].distance2);
    }
    qsort(pairs, grid->count, sizeof *pairs, compare_pairs);
    uint32_t left = grid->count;
    for (int round = 0; round < 2; ++round) /* first, only points whose neighbour still exists */
        for (uint32_t i = 0; i < grid->count && left > count; ++i)
        {
            bool alone = pairs[i].other == UINT32_MAX || gone[pairs[i].other];
            if (gone[pairs[i].point] || (alone && round == 0))
                continue;
            gone[pairs[i].point] = 1;
            --left;
        }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < grid->count; ++i)
        if (!gone[i])
        {
            grid->points[kept] = grid->points[i];
            grid->tags[kept++] = grid->tags[i];
        }
    grid->count = kept;
    pl_free(pairs);
    pl_free(gone);
    return PLIANT_OK;
}

typedef struct side
{
    pl_poisson grid;
    bool known, whole;
} side;

static void keep(side* s, pl_poisson* grid)
{
    pl_poisson_free(&s->grid);
    s->grid = *grid;
    s->known = true;
    s->whole = !pl_poisson_full(grid);
    *grid = (pl_poisson){0};
}

static double next_distance(const side* over, const side* under, double distance, double count,
                            double dimension, uint32_t same_side)
{
    if (!over->known || !under->known)
    {
        const pl_poisson* grid = over->known ? &over->grid : &under->grid;
        double ratio = PL_MAX((double)grid->count, .25) / count;
        /* the step grows with the number of trials on the same side */
        return distance * pow(ratio, (1 + .5 * same_side) / dimension) * (ratio > 1 ? 1.001 : .999);
    }
    double d0 = log(over->grid.distance), n0 = log(over->grid.count);
    double d1 = log(under->grid.distance), n1 = log(PL_MAX((double)under->grid.count, .25));
    double at = n0 > n1 ? (n0 - log(count)) / (n0 - n1) : .5;
    return exp(d0 + PL_CLAMP(at, .1, .9) * (d1 - d0));
}

static pl_status search(uint32_t count, double guess, double least, double dimension, vec3 origin,
                        pl_trial_fn trial, void* context, side* over, side* under, pl_poisson* grid)
{
    const uint32_t tolerance = count / 50;
    const int trials = count >= 20000 ? 5 : count >= 1000 ? 10 : 30;
    double distance = guess, last = 0;
    uint32_t same_side = 0;
    for (int i = 0; i < trials; ++i)
    {
        distance = (float)PL_MAX(distance, least); /* float: independent of libm's last bits */
        if (distance == last)
            break; /* this and all further trials would be equal to the last */
        last = distance;
        PL_TRY(pl_poisson_init(grid, distance, origin));
        bool last_chance = i + 1 == trials && !under->known && !(over->known && over->whole);
        grid->most = last_chance ? 0 : (uint32_t)PL_MIN(4ull * count + 100, PL_MOST_SAMPLES);
        PL_TRY(trial(context, grid));
        uint32_t n = grid->count;
        /* Removing up to 1 % of the points is not visible. */
        if (n + tolerance >= count && n <= count + tolerance + count / 100)
            return n <= count + tolerance ? PLIANT_OK : thin_out(grid, count + tolerance);
        side* s = n > count ? over : under;
        same_side = s->known ? same_side + 1 : 0;
        bool better = !s->known || (n > count ? n < s->grid.count : n > s->grid.count);
        if (better)
            keep(s, grid);
        else
            pl_poisson_free(grid);
        double next = next_distance(over, under, distance, count, dimension, same_side);
        if (over->known && under->known && over->grid.distance >= under->grid.distance)
            break; /* noise: the bracket is empty */
        distance = next;
    }
    if (over->known && under->known && over->grid.count > 2 * (uint64_t)count &&
        count - under->grid.count < count / 4)
        return PLIANT_OK; /* no count in between, as with distant tiny shells */
    if (over->known && over->whole)
    {
        *grid = over->grid;
        over->grid = (pl_poisson){0};
        return thin_out(grid, count);
    }
    return PLIANT_OK;
}

pl_status pl_search_count(uint32_t count, double guess, double least, double dimension, vec3 origin,
                          pl_trial_fn trial, void* context, pl_poisson* grid, bool* missed)
{
    side over = {0}, under = {0};
    *grid = (pl_poisson){0};
    pl_status status =
        search(count, guess, least, dimension, origin, trial, context, &over, &under, grid);
    if (status == PLIANT_OK && !grid->points)
    {
        *grid = under.grid;
        under.grid = (pl_poisson){0};
    }
    pl_poisson_free(&over.grid);
    pl_poisson_free(&under.grid);
    *missed = grid->count + count / 50 < count || grid->count > count + count / 50;
    return status;
}
