// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Overlapping pairs by a BVH with four children a node, over the clusters in the order of a
 * space-filling curve (Lauterbach et al., Fast BVH Construction on GPUs, 2009). Departure:
 * Hilbert's curve instead of Morton's. It never jumps, so runs of it have smaller boxes and a third
 * fewer nodes are visited. The tree has no pointers:
 *
 *     level 1   |               0               |        node i of a level holds the boxes of its
 *     level 0   |   0   |   1   |   2   |   3   |        children 4 i to 4 i + 3 of the level
 *                0 1 2 3 4 5 6 7 ...   clusters          below; below level 0 are the clusters
 *
 * The tree holds the AABBs of shapes. Each cluster with surface particles queries it with the AABB
 * of these, which is much smaller. The tree is built anew each time: that costs less than the
 * queries, and unlike a grid it copes with clusters of different sizes. Its boxes are floats
 * rounded outward; candidates get the exact test last, since most neighbours share a particle and a
 * mark rejects those at once. With a bounded number of neighbours the cost is n log n.
 *
 * If no body collides with itself, clusters are sorted by body, bodies in the order of the curve: a
 * query skips the branches of its own body.
 */
#include "collision/broadphase/broadphase.h"

#include <float.h>
#include <string.h>

enum
{
    BATCH = 64,      /* queries that share a result list */
    MOST_LEVELS = 18 /* 4^18 exceeds the number of indices */
};

/* ------------------------------------------------------------------ memory */

static void release(pl_broadphase* b)
{
    pl_free(b->key);
    pl_free(b->order);
    pl_free(b->other_key);
    pl_free(b->other_order);
    pl_free(b->box);
    pl_free(b->only);
    pl_free(b->marks);
    pl_free(b->body_of);
    for (size_t i = 0; i < b->batch_count; ++i)
        pl_free(b->found[i].pairs);
    pl_free(b->found);
    b->key = b->order = b->other_key = b->other_order = b->body_of = NULL;
    b->box = NULL;
    b->only = NULL;
    b->marks = NULL;
    b->mark_capacity = 0;
    b->found = NULL;
    b->batch_count = b->capacity = 0;
}

void pl_pair_list_free(pl_pair_list* pairs)
{
    pl_free(pairs->pairs);
    memset(pairs, 0, sizeof *pairs);
}

void pl_broadphase_free(pl_broadphase* b)
{
    release(b);
}

static pl_status reserve(pl_broadphase* b, uint32_t count)
{
    if (b->key && count <= b->capacity)
        return PLIANT_OK;
    release(b);
    size_t nodes = (size_t)count / 2 + 2 * MOST_LEVELS, batches = count / BATCH + 1;
    size_t fours = (size_t)count + 4; /* the last four may be partly filled */
    b->key = PL_NEW(uint32_t, count);
    b->order = PL_NEW(uint32_t, fours);
    b->other_key = PL_NEW(uint32_t, count);
    b->other_order = PL_NEW(uint32_t, fours);
    b->body_of = PL_NEW(uint32_t, count);
    b->box = (float(*)[6][4])pl_alloc(nodes, sizeof *b->box);
    b->only = PL_NEW(uint32_t, nodes);
    b->found = PL_NEW(pl_pair_list, batches);
    b->batch_count = b->found ? batches : 0;
    if (!b->key || !b->order || !b->other_key || !b->other_order || !b->body_of || !b->box ||
        !b->only || !b->found)
    {
        release(b);
        return pl_fail_memory(nodes * sizeof *b->box);
    }
    b->capacity = count;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ along the curve */

/* Ten bits with two zeros between each two of them. */
static uint32_t spread_bits(uint32_t v)
{
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

/* Where a cell of 1024 to the third is along Hilbert's curve (Skilling, Programming the Hilbert
 * curve, 2004): from the coarsest bit on, finer ones are mirrored or exchanged as the curve turns;
 * what is left is a Gray code. */
static uint32_t along_curve(uint32_t x[3])
{
    for (uint32_t q = 512; q > 1; q >>= 1)
    {
        uint32_t low = q - 1;
        for (int k = 0; k < 3; ++k)
        {
            uint32_t swap = x[k] & q ? 0 : (x[0] ^ x[k]) & low;
            x[0] ^= x[k] & q ? low : swap;
            x[k] ^= swap;
        }
    }
    x[1] ^= x[0], x[2] ^= x[1];
    uint32_t flip = 0;
    for (uint32_t q = 512; q > 1; q >>= 1)
        flip ^= x[2] & q ? q - 1 : 0;
    return spread_bits(x[0] ^ flip) << 2 | spread_bits(x[1] ^ flip) << 1 | spread_bits(x[2] ^ flip);
}

static void make_keys(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses)
{
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, scale[3];
    for (int k = 0; k < 3; ++k)
    {
        double high = -DBL_MAX;
        for (uint32_t i = 0; i < count; ++i)
        {
            double middle = .5 * (poses[i].lower[k] + poses[i].upper[k]);
            if (fabs(middle) <= DBL_MAX)
                low[k] = PL_MIN(low[k], middle), high = PL_MAX(high, middle);
        }
        scale[k] = high > low[k] ? 1023.999 / (high - low[k]) : 0;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t x[3];
        for (int k = 0; k < 3; ++k)
        {
            double at = (.5 * (poses[i].lower[k] + poses[i].upper[k]) - low[k]) * scale[k];
            x[k] = at > 0 && at < 1024 ? (uint32_t)at : 0;
        }
        b->key[i] = along_curve(x);
        b->order[i] = i;
    }
}

static void swap_lists(uint32_t** a, uint32_t** b)
{
    uint32_t* kept = *a;
    *a = *b, *b = kept;
}

static void sort_keys(pl_broadphase* b, uint32_t count)
{
    for (int shift = 0; shift < 30; shift += 10)
    {
        uint32_t begin[1025] = {0};
        for (uint32_t i = 0; i < count; ++i)
            ++begin[(b->key[i] >> shift & 1023) + 1];
        for (int d = 0; d < 1024; ++d)
            begin[d + 1] += begin[d];
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t at = begin[b->key[i] >> shift & 1023]++;
            b->other_key[at] = b->key[i];
            b->other_order[at] = b->order[i];
        }
        swap_lists(&b->key, &b->other_key);
        swap_lists(&b->order, &b->other_order);
    }
}

/* Groups the order by body: bodies in the order of the curve, clusters within a body as before. */
static void sort_bodies(pl_broadphase* b, uint32_t count, uint32_t body_count)
{
    uint32_t *begin = b->other_key, *size = b->key, at = 0; /* scratch: there are at most as many
                                                               bodies as clusters */
    for (uint32_t n = 0; n < body_count; ++n)
        begin[n] = UINT32_MAX, size[n] = 0;
    for (uint32_t i = 0; i < count; ++i)
        ++size[b->body_of[i]];
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t body = b->body_of[b->order[i]];
        if (begin[body] == UINT32_MAX)
            begin[body] = at, at += size[body];
        b->other_order[begin[body]++] = b->order[i];
    }
    swap_lists(&b->order, &b->other_order);
}

/* ------------------------------------------------------------------ the tree */

/* Four boxes at a time, compared only: every machine gives the same bits. */
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_masks __attribute__((vector_size(16)));

typedef struct tree
{
    const pl_broadphase* b;
    const pl_proxy_pose* poses;
    const pl_pair_body* bodies;
    double zero[3];                        /* origin of the tree's boxes */
    double margin;                         /* added to all bounds */
    double awake_lower[3], awake_upper[3]; /* AABB of all awake bodies */
    uint32_t count, levels;
    bool apart;                          /* no body collides with itself */
    size_t level_begin[MOST_LEVELS + 1]; /* first node of each level */
    uint32_t level_count[MOST_LEVELS + 1];
    int failed;
} tree;

/* Floats that are certainly not more, or not less. */
static float round_down(double a)
{
    return (float)(a - 1.5e-7 * fabs(a) - 1e-30);
}

static float round_up(double a)
{
    return (float)(a + 1.5e-7 * fabs(a) + 1e-30);
}

static void shape_box(const tree* t, uint32_t cluster, float box[6])
{
    const pl_proxy_pose* pose = &t->poses[cluster];
    for (int k = 0; k < 3; ++k)
    {
        box[k] = round_down(pose->shape_lower[k] - t->zero[k] - t->margin);
        box[3 + k] = round_up(pose->shape_upper[k] - t->zero[k] + t->margin);
    }
}

static void empty_node(float node[6][4])
{
    for (int c = 0; c < 4; ++c)
        for (int k = 0; k < 3; ++k)
            node[k][c] = INFINITY, node[3 + k][c] = -INFINITY;
}

static tree make_tree(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses, double margin)
{
    tree t = {.b = b, .poses = poses, .count = count, .margin = margin};
    memcpy(t.zero, poses[b->order[0]].lower, sizeof t.zero);
    for (int k = 0; k < 3; ++k)
        t.zero[k] = fabs(t.zero[k]) <= DBL_MAX ? t.zero[k] : 0;
    uint32_t below = count;
    do
    {
        uint32_t here = (below + 3) / 4;
        float(*node)[6][4] = b->box + t.level_begin[t.levels];
        for (uint32_t i = 0; i < here; ++i)
            empty_node(node[i]);
        for (uint32_t i = 0; i < below; ++i)
        {
            float box[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
            if (t.levels == 0)
                shape_box(&t, b->order[i], box);
            else
                for (int k = 0; k < 3; ++k)
                    for (int c = 0; c < 4; ++c)
                    {
                        /* these comparisons ignore NaN */
                        const float(*child)[4] = b->box[t.level_begin[t.levels - 1] + i];
                        box[k] = child[k][c] < box[k] ? child[k][c] : box[k];
                        box[3 + k] = child[3 + k][c] > box[3 + k] ? child[3 + k][c] : box[3 + k];
                    }
            for (int k = 0; k < 6; ++k)
                node[i / 4][k][i % 4] = box[k];
        }
        t.level_begin[t.levels + 1] = t.level_begin[t.levels] + here;
        t.level_count[t.levels++] = here;
        below = here;
    } while (below > 1);
    return t;
}

/* Marks the nodes whose clusters all belong to one body. */
static void note_bodies(const tree* t)
{
    const pl_broadphase* b = t->b;
    for (uint32_t level = 0, below = t->count; level < t->levels; below = t->level_count[level++])
        for (uint32_t i = 0; i < below; ++i)
        {
            uint32_t own =
                level == 0 ? b->body_of[b->order[i]] + 1 : b->only[t->level_begin[level - 1] + i];
            uint32_t* only = &b->only[t->level_begin[level] + i / 4];
            *only = i % 4 == 0 || *only == own ? own : 0;
        }
}

static bool overlap(const double* lower, const double* upper, const double* other_lower,
                    const double* other_upper)
{
    return (lower[0] <= other_upper[0]) & (other_lower[0] <= upper[0]) &
           (lower[1] <= other_upper[1]) & (other_lower[1] <= upper[1]) &
           (lower[2] <= other_upper[2]) & (other_lower[2] <= upper[2]);
}

bool pl_pair_may_touch(const pl_proxy_pose* a, const pl_proxy_pose* b)
{
    return overlap(a->part_lower, a->part_upper, b->shape_lower, b->shape_upper);
}

/* pl_pair_may_touch with widened bounds. */
static bool may_touch(const tree* t, const pl_proxy_pose* a, const pl_proxy_pose* b)
{
    double lower[3], upper[3];
    if (!(t->margin > 0))
        return pl_pair_may_touch(a, b);
    for (int k = 0; k < 3; ++k)
        lower[k] = a->part_lower[k] - 2 * t->margin, upper[k] = a->part_upper[k] + 2 * t->margin;
    return overlap(lower, upper, b->shape_lower, b->shape_upper);
}

/* Bit mask of a node's children that a box overlaps. */
static uint32_t overlaps(const four own[6], const float node[6][4])
{
    four_masks all = {-1, -1, -1, -1};
    for (int k = 0; k < 3; ++k)
    {
        four lower, upper;
        memcpy(&lower, node[k], sizeof lower);
        memcpy(&upper, node[3 + k], sizeof upper);
        all &= (own[k] <= upper) & (lower <= own[3 + k]);
    }
    uint64_t pairs[2];
    memcpy(pairs, &all, sizeof pairs);
    return (uint32_t)((pairs[0] & 1) | (pairs[0] >> 32 & 2) | (pairs[1] & 4) |
                      (pairs[1] >> 32 & 8));
}

bool pl_collision_filter_shares(const pl_collision_filter* filter, uint32_t a, uint32_t b)
{
    uint32_t low = filter->share_begin[a], high = filter->share_begin[a + 1];
    while (low < high)
    {
        uint32_t middle = low + (high - low) / 2;
        if (filter->share[middle] == b)
            return true;
        if (filter->share[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void note_pair(tree* t, pl_pair_list* list, uint32_t a, uint32_t b)
{
    uint32_t first = t->b->body_of[a], second = t->b->body_of[b];
    const pl_pair_body *one = &t->bodies[first], *other = &t->bodies[second];
    if (first == second ? !one->self : !(one->groups & other->groups))
        return;
    if (one->asleep && other->asleep)
        return;
    if (!may_touch(t, &t->poses[a], &t->poses[b]))
        return;
    if (!pl_grow((void**)&list->pairs, &list->capacity, list->count + 1, sizeof *list->pairs))
    {
        __atomic_store_n(&t->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    size_t at = list->count++;
    for (; at > 0 && list->pairs[at - 1].a == a && list->pairs[at - 1].b > b; --at)
        list->pairs[at] = list->pairs[at - 1]; /* insertion sort: a cluster has few pairs */
    list->pairs[at] = (pl_pair){a, b};
}

static void mark_near(const tree* t, uint32_t cluster, uint32_t* marks)
{
    const pl_pair_body* body = &t->bodies[t->b->body_of[cluster]];
    const pl_collision_filter* filter = body->self ? body->filter : NULL;
    uint32_t own = cluster - body->first;
    marks[cluster] = cluster + 1;
    if (!filter || !filter->near_begin)
        return;
    for (uint32_t i = filter->near_begin[own]; i < filter->near_begin[own + 1]; ++i)
        marks[body->first + filter->near[i]] = cluster + 1;
}

/* Query scratch of one worker. */
typedef struct query_scratch
{
    uint32_t* marks;    /* by cluster: 1 + the last query that must not pair with it */
    uint32_t* found;    /* clusters */
    uint32_t* nodes[2]; /* of this level, and of the next */
} query_scratch;

/* Enough for all results, and four more that the branch-free writes may touch. */
static size_t query_scratch_size(uint32_t count)
{
    return 2 * (size_t)count + 2 * ((size_t)count / 4 + 8) + 8;
}

static query_scratch query_scratch_in(uint32_t* room, uint32_t count)
{
    uint32_t nodes = count / 4 + 8;
    uint32_t* found = room + count;
    return (query_scratch){room, found, {found + count + 8, found + count + 8 + nodes}};
}

/* Finds all clusters whose shapes this one's particles may touch. Overlap is unpredictable, so all
 * four children are pushed and the end advances by the mask (branch-free). */
static void query(tree* t, pl_pair_list* list, const query_scratch* w, uint32_t cluster)
{
    const pl_proxy_pose* pose = &t->poses[cluster];
    four own[6];
    for (int k = 0; k < 3; ++k)
    {
        float low = round_down(pose->part_lower[k] - t->zero[k] - t->margin);
        float high = round_up(pose->part_upper[k] - t->zero[k] + t->margin);
        if (!(low <= high))
            return;
        own[k] = (four){low, low, low, low};
        own[3 + k] = (four){high, high, high, high};
    }
    const pl_pair_body* body = &t->bodies[t->b->body_of[cluster]];
    if (body->asleep &&
        !overlap(pose->part_lower, pose->part_upper, t->awake_lower, t->awake_upper))
        return;
    mark_near(t, cluster, w->marks);
    uint32_t own_body = t->b->body_of[cluster] + 1, count = 1, level = t->levels - 1;
    uint32_t *now = w->nodes[0], *next = w->nodes[1];
    now[0] = 0;
    for (; level > 0; --level)
    {
        const float(*box)[6][4] = (const float(*)[6][4])t->b->box + t->level_begin[level];
        const uint32_t* only = t->b->only + t->level_begin[level - 1];
        uint32_t more = 0;
        list->visited += count;
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t overlapping = overlaps(own, box[now[i]]);
            for (uint32_t c = 0; c < 4; ++c)
            {
                next[more] = 4 * now[i] + c;
                more += overlapping >> c & 1 & !(t->apart && only[next[more]] == own_body);
            }
        }
        swap_lists(&now, &next);
        count = more;
    }
    uint32_t found = 0;
    list->visited += count;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t overlapping = overlaps(own, t->b->box[now[i]]);
        for (uint32_t c = 0; c < 4; ++c)
        {
            uint32_t other = t->b->order[4 * now[i] + c];
            w->found[found] = other;
            found += overlapping >> c & 1 & (w->marks[other] != cluster + 1);
        }
    }
    for (uint32_t i = 0; i < found; ++i)
        note_pair(t, list, cluster, w->found[i]);
}

static void bound_awake(tree* t, uint32_t body_count)
{
    for (int k = 0; k < 3; ++k)
        t->awake_lower[k] = DBL_MAX, t->awake_upper[k] = -DBL_MAX;
    for (uint32_t b = 0; b < body_count; ++b)
        for (uint32_t c = 0; c < t->bodies[b].count && !t->bodies[b].asleep; ++c)
            for (int k = 0; k < 3; ++k)
            {
                const pl_proxy_pose* pose = &t->poses[t->bodies[b].first + c];
                t->awake_lower[k] = PL_MIN(t->awake_lower[k], pose->shape_lower[k] - 2 * t->margin);
                t->awake_upper[k] = PL_MAX(t->awake_upper[k], pose->shape_upper[k] + 2 * t->margin);
            }
}

static void query_batches(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    tree* t = context;
    query_scratch w =
        query_scratch_in(t->b->marks + worker * query_scratch_size(t->count), t->count);
    for (uint32_t n = begin; n < end; ++n)
    {
        pl_pair_list* list = &t->b->found[n];
        list->count = 0;
        list->visited = 0;
        for (uint32_t i = n * BATCH; i < PL_MIN((n + 1) * BATCH, t->count); ++i)
            query(t, list, &w, i);
    }
}

pl_status pl_broadphase_list(pl_broadphase* b, uint32_t count, uint32_t body_count,
                             const pl_pair_body* bodies)
{
    PL_TRY(reserve(b, count));
    for (uint32_t n = 0; n < body_count; ++n)
        for (uint32_t c = 0; c < bodies[n].count; ++c)
            b->body_of[bodies[n].first + c] = n;
    return PLIANT_OK;
}

pl_status pl_broadphase_find(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses,
                             double margin, uint32_t body_count, const pl_pair_body* bodies,
                             pl_pool* pool, pl_pair_list* pairs)
{
    pairs->count = 0;
    if (count == 0)
        return PLIANT_OK;
    PL_TRY(pl_broadphase_list(b, count, body_count, bodies));
    make_keys(b, count, poses);
    sort_keys(b, count);
    bool apart = body_count > 1 && body_count <= count;
    for (uint32_t n = 0; n < body_count; ++n)
        apart = apart && !bodies[n].self;
    if (apart)
        sort_bodies(b, count, body_count);
    memset(b->order + count, 0, 4 * sizeof *b->order); /* padding: empty boxes overlap nothing */
    size_t marks = query_scratch_size(count) * (pool ? pl_pool_threads(pool) : 1);
    if (!pl_grow((void**)&b->marks, &b->mark_capacity, marks, sizeof *b->marks))
        return pl_fail_memory(marks * sizeof *b->marks);
    for (size_t worker = 0; worker < marks; worker += query_scratch_size(count))
        memset(b->marks + worker, 0, count * sizeof *b->marks);
    tree t = make_tree(b, count, poses, margin);
    t.bodies = bodies;
    t.apart = apart;
    if (apart)
        note_bodies(&t);
    bound_awake(&t, body_count);
    uint32_t batches = (count + BATCH - 1) / BATCH;
    pl_parallel_for(pool, batches, 1, query_batches, &t);
    if (t.failed)
        return pl_fail_memory((size_t)count * sizeof(pl_pair));
    size_t total = 0;
    b->visited = 0;
    for (uint32_t n = 0; n < batches; ++n)
    {
        total += b->found[n].count;
        b->visited += b->found[n].visited;
    }
    if (!pl_grow((void**)&pairs->pairs, &pairs->capacity, total, sizeof(pl_pair)))
        return pl_fail_memory(total * sizeof(pl_pair));
    for (uint32_t n = 0; n < batches; ++n)
    {
        if (b->found[n].count)
            memcpy(pairs->pairs + pairs->count, b->found[n].pairs,
                   b->found[n].count * sizeof(pl_pair));
        pairs->count += b->found[n].count;
    }
    return PLIANT_OK;
}
