// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fuzzy clustering: Jones, Martin, Levine, Shinar, Bargteil, "Clustering and Collision Detection
 * for Clustered Shape Matching", 2015, section 3.3.
 *
 * In each pass a cluster's members are the points within the radius of its centre, a point's
 * weights are its clusters' kernel values over their sum (equation 13), and a centre's target is
 * the weighted centre of mass of its members (equation 7). Points outside every radius join the
 * nearest cluster, and as long as there are any it has not converged.
 *
 * Where this departs, and why:
 *
 * Settling. The paper asks for the same memberships in two iterations and for centres that move by
 * at most 0.1 % of the radius. With thousands of clusters that never comes: a point that crosses a
 * rim moves a centre by about half a percent of the radius, which carries others across, and so
 * on. Here a centre that is within 0.1 % of the radius of its target rests, and moves again only
 * when its target has gone farther than that (once moving it goes on to half of that distance, so
 * that its neighbours do not wake it at once). When all rest, nothing changes from one pass to the
 * next: both conditions hold as printed, at every centre. In the last quarter of the iterations
 * allowed, the distance at which centres rest grows to 1 %, for kernels and sets in which single
 * points move centres by more than 0.1 %.
 *
 * Strays. Thin tips and corners often keep one or two points just out of reach, for which the paper
 * would enlarge all clusters. When strays stay, the clusters that are missed least (whose members
 * all have the most others) are put where the strays are. If few strays come back time and again,
 * they pull twice, four times ... as hard as their mass; a centre may then end up off its members'
 * centre of mass, as random and k-means centres are. Many strays mean that the radius is too small.
 *
 * Speed. Moving centres carry momentum, which they lose when it points away from their target (as
 * in gradient descent with restarts): kernels that fall to zero at the rim (poly6) have slow modes
 * that would take hundreds of plain iterations.
 *
 * Counting. Passes become cheap when few centres move, since only what they touch is computed. So
 * one iteration is as many centre moves as there are clusters, however many passes they take.
 *
 *      centres that moved --> values of their points --> sums of the points touched
 *             ^                                                     |
 *             `-- targets of all clusters with such points <--------'
 *
 * Each cluster keeps a list of the points within the radius and a margin, and only searches again
 * when its centre has left the margin. Sums over clusters go through them in ascending order, so
 * that neither threads nor what was skipped make a difference.
 */
#include "clustering/cluster_internal.h"
#include "clustering/kernel.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-3      /* over the radius: where a centre at rest may be */
#define LAST_TOLERANCE 1e-2 /* what that becomes in the second half of the iterations allowed */
#define REST 0.5            /* where a moving one comes to rest */
#define MOMENTUM 0.8        /* of its last step that a centre keeps */
#define LEAST_MARGIN 0.03   /* over the radius */
#define MOST_MARGIN 0.1
#define STRAY_PATIENCE 15 /* passes without one stray fewer, after which something is done */
#define MOST_RESCUES 4    /* how often clusters are put where strays are */
#define MOST_PULLS 8      /* how often strays then pull twice as hard */
#define FEW_STRAYS 3      /* and one in a thousand: so few say nothing about the radius */
#define HOPELESS 5        /* the part of the points that may be strays */
#define PASSES_PER_ITERATION 10

typedef struct fuzzy
{
    pl_cloud* cloud;
    const pl_search* search;
    double radius;
    /* The clusters' lists: list c is entries begin[c] .. begin[c] + listed[c], of room[c]. */
    size_t* begin;
    uint32_t *room, *listed;
    vec3* listed_at; /* where the centre was then */
    double* margin;  /* that the list has beyond the radius */
    uint32_t* place; /* of each entry: a point, in tree order */
    double* value;   /* its kernel value, 0 outside the radius */
    bool overflow;   /* a list did not fit */
    /* Points. */
    double* inverse; /* of the sum of the point's values; 0: it is a stray */
    uint8_t* dirty;  /* a value has changed in this pass */
    bool all_dirty;
    double* pull; /* the point's mass, or more where it was a stray for too long */
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
    uint32_t since, fewest; /* passes since there were the fewest strays, and how many */
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

/* As much margin as lasts for a few steps of this size. */
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

/* Searches anew; a list that is too long is cut and reported. */
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

/* Makes room for all lists, with some to spare, and fills them. */
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

/* Several threads may mark one point, always with the same mark. */
static void mark(uint8_t* dirty)
{
    __atomic_store_n(dirty, 1, __ATOMIC_RELAXED);
}

#define BLOCK 256

/* Kernel values, in blocks so that the loop over the kernel has no calls and no branches but its
 * own. */
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

/* In one thread, clusters in ascending order. */
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

/* Index into the strays of the one that is farthest from its cluster; UINT32_MAX: all are served.
 */
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

/* Puts clusters that are missed least, up to an eighth of them, where strays are. */
static pl_status serve_strays(fuzzy* f, uint32_t* served)
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
        /* Once more: those that were taken have left their members with fewer. */
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

/* Momentum: nothing of a step that leads away from the target, and never more than a steady motion
 * toward it would have gathered (so that a cluster that was moved elsewhere does not fly on). */
static vec3 kept_step(vec3 step, vec3 way)
{
    double along = v3_dot(step, way), most = v3_length(way) * MOMENTUM / (1 - MOMENTUM);
    if (along <= 0)
        return v3(0, 0, 0);
    double length = v3_length(step) * MOMENTUM;
    return v3_scale(step, length > most ? MOMENTUM * most / length : MOMENTUM);
}

/* Moves what is not at rest; returns how many centres that were. */
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
    /* When many move, looking for what they leave alone costs more than it saves. */
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

/* What to do about strays after a pass. "stop": nothing, it will not converge. */
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
        PL_TRY(serve_strays(f, &served));
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
