// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fuzzy clustering: Jones, Martin, Levine, Shinar, Bargteil, "Clustering and Collision Detection
 * for Clustered Shape Matching", 2015, section 3.3.
 *
 * In each pass a cluster's members are the points within the radius of its centre, a point's
 * weights are its clusters' kernel values over their sum (equation 13), and a centre's target is
 * the weighted centre of mass of its members (equation 7). Points outside every radius (strays)
 * join the nearest cluster; while there are strays, it has not converged.
 *
 * Departures:
 *
 * Convergence. The paper requires equal memberships in two iterations, and centres that move by at
 * most 0.1 % of the radius. With thousands of clusters that never happens: a point that crosses a
 * rim moves a centre by about 0.5 % of the radius, which makes other points cross, and so on. Here
 * a centre within 0.1 % of the radius of its target rests, and moves again only when its target is
 * farther than that. A moving centre stops at half that distance (hysteresis), so that its
 * neighbours do not restart it at once. When all rest, both conditions of the paper hold at every
 * centre. In the last quarter of the allowed iterations the tolerance grows to 1 %, for kernels and
 * sets in which single points move centres by more than 0.1 %.
 *
 * Strays. Thin tips and corners often keep one or two points just out of reach, for which the paper
 * would enlarge all clusters. If strays persist, the most redundant clusters (whose members are all
 * in the most other clusters) move to the strays. If few strays recur, their mass counts twice,
 * four times ...; a centre may then differ from its members' centre of mass, as random and k-means
 * centres do. Many strays mean that the radius is too small.
 *
 * Acceleration. Centres have momentum, which is reset when it points away from the target (gradient
 * descent with restarts): kernels that fall to zero at the rim (poly6) have slow modes that would
 * take hundreds of plain iterations.
 *
 * Iteration count. A pass recomputes only what moving centres affect, so it is cheap if few move.
 * Therefore an iteration is as many centre moves as there are clusters, over any number of passes.
 *
 *      centres that moved --> values of their points --> sums of the points touched
 *             ^                                                     |
 *             `-- targets of all clusters with such points <--------'
 *
 * Each cluster caches a list of the points within the radius plus a margin, and searches again only
 * when its centre has moved by more than the margin. Sums over clusters are in ascending order, so
 * that results depend neither on threads nor on what was skipped.
 */
#include "clustering/cluster_internal.h"
#include "clustering/kernel.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-3      /* over the radius: distance of a resting centre from its target */
#define LAST_TOLERANCE 1e-2 /* the tolerance at the end of the allowed iterations */
#define REST 0.5            /* over the tolerance: distance at which a moving centre stops */
#define MOMENTUM 0.8        /* share of its last step that a centre keeps */
#define LEAST_MARGIN 0.03   /* over the radius */
#define MOST_MARGIN 0.1
#define STRAY_PATIENCE 15 /* passes without progress before strays are treated */
#define MOST_RESCUES 4    /* maximum number of times that clusters move to strays */
#define MOST_PULLS 8      /* maximum number of times that the mass of strays is doubled then */
#define FEW_STRAYS 3      /* plus 0.1 %: fewer strays do not mean that the radius is too small */
#define HOPELESS 5        /* strays may be at most one point in this many */
#define PASSES_PER_ITERATION 10

typedef struct fuzzy
{
    pl_cloud* cloud;
    const pl_search* search;
    double radius;
    /* The clusters' lists: list c is entries begin[c] .. begin[c] + listed[c], of room[c]. */
    size_t* begin;
    uint32_t *room, *listed;
    vec3* listed_at; /* the centre at the time of the search */
    double* margin;  /* of the list beyond the radius */
    uint32_t* place; /* of each entry: a point, in tree order */
    double* value;   /* its kernel value, 0 outside the radius */
    bool overflow;   /* a list did not fit */
    /* Points. */
    double* inverse; /* of the sum of the point's values; 0: it is a stray */
    uint8_t* dirty;  /* a value has changed in this pass */
    bool all_dirty;
    double* pull; /* the point's mass; a multiple of it for recurring strays */
    /* Clusters. */
    uint8_t *moved, *touched, *resting;
    vec3* step;
    double (*sum)[4]; /* of the members: mass times weight times position, and without position */
    double (*stray_sum)[4];
    uint32_t* strays; /* places */
    double* stray_distance;
    uint32_t stray_count;
    uint32_t* holders; /* of each point: clusters that contain it */
    double farthest;
    uint32_t since, fewest; /* passes since the minimum number of strays, and that minimum */
    uint32_t rescues;
    double tolerance; /* how far from its target a centre may rest */
} fuzzy;

static void fuzzy_free(fuzzy* f)
{
    void* blocks[] = {f->begin,     f->room,    f->listed,         f->listed_at, f->margin,
                      f->place,     f->value,   f->inverse,        f->dirty,     f->pull,
                      f->moved,     f->touched, f->resting,        f->step,      f->sum,
                      f->stray_sum, f->strays,  f->stray_distance, f->holders};
    for (size_t i = 0; i < PL_COUNTOF(blocks); ++i)
        pl_free(blocks[i]);
}

static pl_status fuzzy_init(fuzzy* f, pl_cloud* cloud, double radius, const pl_search* search)
{
    uint32_t n = cloud->clusters;
    *f = (fuzzy){
        .cloud = cloud,
        .search = search,
        .radius = radius,
        .fewest = UINT32_MAX,
        .begin = PL_NEW(size_t, n + 1ull),
        .room = PL_NEW(uint32_t, n),
        .listed = PL_NEW(uint32_t, n),
        .listed_at = PL_NEW(vec3, n),
        .margin = PL_NEW(double, n),
        .inverse = PL_NEW(double, cloud->count),
        .dirty = PL_NEW(uint8_t, cloud->count),
        .pull = PL_NEW(double, cloud->count),
        .moved = PL_NEW(uint8_t, n),
        .touched = PL_NEW(uint8_t, n),
        .resting = PL_NEW(uint8_t, n),
        .step = PL_NEW(vec3, n),
        .sum = pl_alloc(n, sizeof *f->sum),
        .stray_sum = pl_alloc(n, sizeof *f->stray_sum),
        .strays = PL_NEW(uint32_t, cloud->count),
        .stray_distance = PL_NEW(double, cloud->count),
        .holders = PL_NEW(uint32_t, cloud->count),
    };
    if (!f->begin || !f->room || !f->listed || !f->listed_at || !f->margin || !f->inverse ||
        !f->dirty || !f->pull || !f->moved || !f->touched || !f->resting || !f->step || !f->sum ||
        !f->stray_sum || !f->strays || !f->stray_distance || !f->holders)
        return pl_fail_memory(cloud->count * 33ull + n * 150ull);
    memcpy(f->pull, cloud->mass, cloud->count * sizeof *f->pull);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ lists and values */

/* A margin for several steps of the present size. */
static double margin_of(const fuzzy* f, uint32_t c)
{
    double steps = 6 * v3_length(f->step[c]);
    return PL_CLAMP(steps, f->radius * LEAST_MARGIN, f->radius * MOST_MARGIN);
}

static void count_listed(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    fuzzy* f = context;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
        f->listed[c] = pl_kd_within(&f->cloud->tree, f->cloud->centres[c],
                                    f->radius * (1 + MOST_MARGIN), NULL, 0);
}

/* Rebuilds a list; one that is too long is truncated, and "overflow" set. */
static void list_points(fuzzy* f, uint32_t c, double margin)
{
    size_t begin = f->begin[c];
    f->listed_at[c] = f->cloud->centres[c];
    f->margin[c] = margin;
    f->listed[c] = pl_kd_within(&f->cloud->tree, f->listed_at[c], f->radius + f->margin[c],
                                f->place + begin, f->room[c]);
    if (f->listed[c] > f->room[c])
        __atomic_store_n(&f->overflow, true, __ATOMIC_RELAXED);
}

static void list_all(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
        list_points(context, c, ((fuzzy*)context)->radius * MOST_MARGIN);
}

/* Allocates all lists, with spare room, and fills them. */
static pl_status lay_out(fuzzy* f)
{
    uint32_t n = f->cloud->clusters;
    pl_parallel_for(f->search->pool, n, 16, count_listed, f);
    for (uint32_t c = 0; c < n; ++c)
    {
        f->room[c] = PL_MIN(f->listed[c] + f->listed[c] / 4 + 16, f->cloud->count);
        f->begin[c + 1] = f->begin[c] + f->room[c];
    }
    pl_free(f->place);
    pl_free(f->value);
    f->place = PL_NEW(uint32_t, f->begin[n]);
    f->value = PL_NEW(double, f->begin[n]);
    if (!f->place || !f->value)
        return pl_fail_memory(f->begin[n] * 12);
    f->overflow = false;
    pl_parallel_for(f->search->pool, n, 16, list_all, f);
    memset(f->moved, 1, n);
    return PLIANT_OK;
}

/* Several threads may mark the same point, with the same value. */
static void mark(uint8_t* dirty)
{
    __atomic_store_n(dirty, 1, __ATOMIC_RELAXED);
}

#define BLOCK 256

/* Kernel values, in blocks, so that the inner loop has only the branches of the kernel. */
static void find_values(fuzzy* f, uint32_t c)
{
    const pl_kd* tree = &f->cloud->tree;
    vec3 centre = f->cloud->centres[c];
    double radius2 = f->radius * f->radius, scale = 1 / radius2;
    uint32_t kernel = f->search->kernel;
    double parameter = f->search->parameter, d2[BLOCK], value[BLOCK];
    for (uint32_t from = 0; from < f->listed[c]; from += BLOCK)
    {
        uint32_t count = PL_MIN(f->listed[c] - from, BLOCK);
        const uint32_t* place = f->place + f->begin[c] + from;
        double* old = f->value + f->begin[c] + from;
        for (uint32_t j = 0; j < count; ++j)
            d2[j] = pl_kd_distance2(tree, place[j], centre);
        if (kernel == PLIANT_KERNEL_INVSQ)
            for (uint32_t j = 0; j < count; ++j)
                value[j] = pl_kernel_of(PLIANT_KERNEL_INVSQ, parameter, d2[j] * scale);
        else
            for (uint32_t j = 0; j < count; ++j)
                value[j] = pl_kernel_of(kernel, parameter, d2[j] * scale);
        for (uint32_t j = 0; j < count; ++j)
        {
            double now = d2[j] <= radius2 ? value[j] : 0;
            if (now != old[j])
                mark(&f->dirty[place[j]]);
            old[j] = now;
        }
    }
}

static void update_moved(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    fuzzy* f = context;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        if (!f->moved[c])
            continue;
        if (v3_length(v3_sub(f->cloud->centres[c], f->listed_at[c])) > f->margin[c] * (1 - 1e-9))
        {
            for (size_t e = f->begin[c]; e < f->begin[c] + f->listed[c]; ++e)
            {
                if (f->value[e] > 0)
                    mark(&f->dirty[f->place[e]]);
                f->value[e] = 0;
            }
            list_points(f, c, margin_of(f, c));
            if (f->listed[c] > f->room[c])
                continue;
        }
        find_values(f, c);
    }
}

static void find_touched(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    fuzzy* f = context;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        bool touched = f->moved[c];
        for (size_t e = f->begin[c]; !touched && e < f->begin[c] + f->listed[c]; ++e)
            touched = f->dirty[f->place[e]];
        f->touched[c] = touched;
    }
}

/* ------------------------------------------------------------------ sums */

/* Single-threaded, clusters in ascending order. */
static void sum_values(fuzzy* f)
{
    uint32_t points = f->cloud->count;
    for (uint32_t i = 0; i < points; ++i)
        f->inverse[i] = f->dirty[i] ? 0 : f->inverse[i];
    for (uint32_t c = 0; c < f->cloud->clusters; ++c)
    {
        if (!f->touched[c])
            continue;
        const uint32_t* place = f->place + f->begin[c];
        const double* value = f->value + f->begin[c];
        if (f->all_dirty)
            for (uint32_t j = 0; j < f->listed[c]; ++j)
                f->inverse[place[j]] += value[j];
        else
            for (uint32_t j = 0; j < f->listed[c]; ++j)
                f->inverse[place[j]] += f->dirty[place[j]] ? value[j] : 0;
    }
    f->stray_count = 0;
    for (uint32_t i = 0; i < points; ++i)
    {
        if (f->dirty[i] && f->inverse[i] > 0)
            f->inverse[i] = 1 / f->inverse[i];
        f->strays[f->stray_count] = i;
        f->stray_count += f->inverse[i] == 0;
    }
}

static void sum_members(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    fuzzy* f = context;
    const pl_cloud* cloud = f->cloud;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        if (!f->touched[c])
            continue;
        const uint32_t* place = f->place + f->begin[c];
        const double* value = f->value + f->begin[c];
        double x = 0, y = 0, z = 0, m = 0;
        for (uint32_t j = 0; j < f->listed[c]; ++j)
        {
            uint32_t i = place[j];
            double weight = value[j] * f->inverse[i] * f->pull[i];
            x += weight * cloud->tree.x[i];
            y += weight * cloud->tree.y[i];
            z += weight * cloud->tree.z[i];
            m += weight;
        }
        f->sum[c][0] = x, f->sum[c][1] = y, f->sum[c][2] = z, f->sum[c][3] = m;
    }
}

/* Strays join the nearest cluster. */
static pl_status sum_strays(fuzzy* f)
{
    pl_cloud* cloud = f->cloud;
    memset(f->stray_sum, 0, cloud->clusters * sizeof *f->stray_sum);
    f->farthest = 0;
    if (!f->stray_count)
        return PLIANT_OK;
    pl_kd centres;
    PL_TRY(pl_kd_init(&centres, cloud->clusters, cloud->centres));
    uint32_t guess = 0;
    for (uint32_t s = 0; s < f->stray_count; ++s)
    {
        uint32_t i = f->strays[s];
        vec3 point = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
        pl_kd_hit hit = pl_kd_nearest(&centres, point, guess);
        guess = hit.place;
        double* sum = f->stray_sum[centres.order[hit.place]];
        sum[0] += f->pull[i] * point.x;
        sum[1] += f->pull[i] * point.y;
        sum[2] += f->pull[i] * point.z;
        sum[3] += f->pull[i];
        f->stray_distance[s] = sqrt(hit.distance2);
        f->farthest = PL_MAX(f->farthest, f->stray_distance[s]);
    }
    pl_kd_free(&centres);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ clusters for strays */

static void count_holders(fuzzy* f)
{
    memset(f->holders, 0, f->cloud->count * sizeof *f->holders);
    for (uint32_t c = 0; c < f->cloud->clusters; ++c)
        for (size_t e = f->begin[c]; e < f->begin[c] + f->listed[c]; ++e)
            f->holders[f->place[e]] += f->value[e] > 0;
}

/* The fewest clusters that a member of this one is in. */
static uint32_t fewest_holders(const fuzzy* f, uint32_t c)
{
    uint32_t least = UINT32_MAX;
    for (size_t e = f->begin[c]; e < f->begin[c] + f->listed[c]; ++e)
        if (f->value[e] > 0)
            least = PL_MIN(least, f->holders[f->place[e]]);
    return least;
}

/* Index of the stray that is farthest from its cluster; UINT32_MAX: none is left. */
static uint32_t worst_stray(const fuzzy* f)
{
    uint32_t worst = UINT32_MAX;
    for (uint32_t s = 0; s < f->stray_count; ++s)
        if (f->stray_distance[s] > 0 &&
            (worst == UINT32_MAX || f->stray_distance[s] > f->stray_distance[worst]))
            worst = s;
    return worst;
}

static void put_at_stray(fuzzy* f, uint32_t c, uint32_t stray)
{
    const pl_kd* tree = &f->cloud->tree;
    uint32_t i = f->strays[stray];
    vec3 centre = v3(tree->x[i], tree->y[i], tree->z[i]);
    for (size_t e = f->begin[c]; e < f->begin[c] + f->listed[c]; ++e)
        f->holders[f->place[e]] -= f->value[e] > 0;
    for (uint32_t s = 0; s < f->stray_count; ++s)
        if (pl_kd_distance2(tree, f->strays[s], centre) <= f->radius * f->radius)
            f->stray_distance[s] = 0;
    f->cloud->centres[c] = centre;
    f->step[c] = v3(0, 0, 0);
    f->resting[c] = 0;
    f->moved[c] = 1;
}

typedef struct candidate
{
    uint32_t cluster, holders;
    double mass;
} candidate;

static int most_dispensable_first(const void* a, const void* b)
{
    const candidate *p = a, *q = b;
    if (p->holders != q->holders)
        return p->holders > q->holders ? -1 : 1;
    if (p->mass != q->mass)
        return p->mass < q->mass ? -1 : 1;
    return p->cluster < q->cluster ? -1 : p->cluster > q->cluster;
}

/* Moves the most redundant clusters, up to an eighth of all, to strays. */
static pl_status relocate_clusters(fuzzy* f, uint32_t* served)
{
    uint32_t n = f->cloud->clusters;
    candidate* candidates = PL_NEW(candidate, n);
    if (!candidates)
        return pl_fail_memory(n * sizeof *candidates);
    count_holders(f);
    for (uint32_t c = 0; c < n; ++c)
        candidates[c] = (candidate){c, fewest_holders(f, c), f->sum[c][3]};
    qsort(candidates, n, sizeof *candidates, most_dispensable_first);
    uint32_t stray = worst_stray(f);
    *served = 0;
    for (uint32_t k = 0; k < n && *served < 32 + n / 8 && stray != UINT32_MAX; ++k)
    {
        /* Check again: clusters moved before have reduced the members' counts. */
        if (fewest_holders(f, candidates[k].cluster) < 2)
            continue;
        put_at_stray(f, candidates[k].cluster, stray);
        stray = worst_stray(f);
        ++*served;
    }
    pl_free(candidates);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ the iteration */

/* Momentum: none if the last step points away from the target, and at most that of a steady motion
 * toward it (so that a relocated cluster does not continue its old motion). */
static vec3 kept_step(vec3 step, vec3 way)
{
    double along = v3_dot(step, way), most = v3_length(way) * MOMENTUM / (1 - MOMENTUM);
    if (along <= 0)
        return v3(0, 0, 0);
    double length = v3_length(step) * MOMENTUM;
    return v3_scale(step, length > most ? MOMENTUM * most / length : MOMENTUM);
}

/* Moves the centres that do not rest; returns their number. */
static uint32_t move_centres(fuzzy* f)
{
    uint32_t moving = 0;
    for (uint32_t c = 0; c < f->cloud->clusters; ++c)
    {
        f->moved[c] = 0;
        double mass = f->sum[c][3] + f->stray_sum[c][3];
        if (mass <= 0)
            continue;
        vec3 sum = v3(f->sum[c][0] + f->stray_sum[c][0], f->sum[c][1] + f->stray_sum[c][1],
                      f->sum[c][2] + f->stray_sum[c][2]);
        vec3 way = v3_sub(v3_scale(sum, 1 / mass), f->cloud->centres[c]);
        f->resting[c] = v3_length(way) <= f->tolerance * (f->resting[c] ? 1 : REST);
        if (f->resting[c])
        {
            f->step[c] = v3(0, 0, 0);
            continue;
        }
        f->step[c] = v3_add(way, kept_step(f->step[c], way));
        f->cloud->centres[c] = v3_add(f->cloud->centres[c], f->step[c]);
        f->moved[c] = 1;
        ++moving;
    }
    return moving;
}

static pl_status pass(fuzzy* f, uint32_t* moving)
{
    uint32_t n = f->cloud->clusters, moved = 0;
    pl_pool* pool = f->search->pool;
    memset(f->dirty, 0, f->cloud->count);
    pl_parallel_for(pool, n, 16, update_moved, f);
    if (f->overflow)
    {
        PL_TRY(lay_out(f));
        pl_parallel_for(pool, n, 16, update_moved, f);
    }
    for (uint32_t c = 0; c < n; ++c)
        moved += f->moved[c];
    /* When many move, finding the unaffected points costs more than it saves. */
    f->all_dirty = moved > n / 4;
    if (f->all_dirty)
    {
        memset(f->dirty, 1, f->cloud->count);
        memset(f->touched, 1, n);
    }
    else
        pl_parallel_for(pool, n, 64, find_touched, f);
    sum_values(f);
    pl_parallel_for(pool, n, 32, sum_members, f);
    PL_TRY(sum_strays(f));
    *moving = move_centres(f);
    return PLIANT_OK;
}

/* Treats strays after a pass. *stop: it will not converge. */
static pl_status treat_strays(fuzzy* f, const pl_search* search, uint32_t* moving, bool* stop)
{
    bool stuck = !*moving || f->since > STRAY_PATIENCE;
    f->since = f->stray_count < f->fewest ? 0 : f->since + 1;
    f->fewest = PL_MIN(f->fewest, f->stray_count);
    *stop = f->stray_count > f->cloud->count / HOPELESS && search->give_up;
    if (!f->stray_count || *stop || !stuck)
        return PLIANT_OK;
    f->since = 0;
    f->fewest = f->stray_count;
    uint32_t served = 0;
    if (f->rescues < MOST_RESCUES)
        PL_TRY(relocate_clusters(f, &served));
    else if (f->rescues < MOST_RESCUES + MOST_PULLS && f->cloud->clusters > 1 &&
             f->stray_count <= FEW_STRAYS + f->cloud->count / 1000)
        for (uint32_t s = 0; s < f->stray_count; ++s)
            f->pull[f->strays[s]] *= 2;
    else
        *stop = search->give_up || !*moving;
    *moving += served;
    ++f->rescues;
    return PLIANT_OK;
}

static pl_status run(fuzzy* f, pl_search* search, pl_fuzzy_result* result)
{
    double moves = 0, clusters = f->cloud->clusters;
    uint64_t passes = (uint64_t)search->max_iterations * PASSES_PER_ITERATION;
    PL_TRY(lay_out(f));
    for (uint64_t p = 0; p < passes && moves < clusters * search->max_iterations; ++p)
    {
        uint32_t moving = 0;
        if (pl_search_step(search))
            return PLIANT_CANCELLED;
        double late = PL_MAX(4 * moves / (clusters * search->max_iterations) - 3, 0);
        f->tolerance = f->radius * (TOLERANCE + late * (LAST_TOLERANCE - TOLERANCE));
        PL_TRY(pass(f, &moving));
        result->converged = !moving && !f->stray_count;
        bool stop = result->converged;
        if (!stop)
            PL_TRY(treat_strays(f, search, &moving, &stop));
        if (stop)
            break;
        moves += moving;
    }
    result->iterations = (uint32_t)ceil(moves / clusters);
    result->strays = f->stray_count;
    result->farthest = f->farthest;
    return PLIANT_OK;
}

pl_status pl_cloud_fuzzy(pl_cloud* cloud, double radius, pl_search* search, pl_fuzzy_result* result)
{
    fuzzy f;
    *result = (pl_fuzzy_result){0};
    pl_status status = fuzzy_init(&f, cloud, radius, search);
    if (status == PLIANT_OK)
        status = run(&f, search, result);
    fuzzy_free(&f);
    return status;
}
