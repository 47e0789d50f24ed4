// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pairs of overlapping boxes with a tree of boxes, four children to a node, over the clusters in
 * Morton order (Lauterbach et al., Fast BVH Construction on GPUs, 2009). The tree has no pointers:
 *
 *     level 2   |               0               |        node i of a level has the children
 *     level 1   |   0   |   1   |   2   |   3   |        4 i to 4 i + 3 of the level below;
 *     level 0    0 1 2 3 4 5 6 7 ...   clusters          level 0 are the clusters themselves
 *
 * Each cluster asks the tree for those behind it in Morton order, so each pair is found once. It is
 * made anew each time, which costs less than asking it, and unlike a grid it does not mind clusters
 * of different sizes. Pairs are then put into order by counting, so the whole costs n log n.
 */
#include "broadphase.h"

#include <float.h>
#include <string.h>

enum
{
    BATCH = 256,     /* queries that share a list of what they found */
    MOST_LEVELS = 18 /* four to this power is more than there are indices */
};

/* ------------------------------------------------------------------ memory */

static void release(pl_broadphase* b)
{
    pl_free(b->key);
    pl_free(b->order);
    pl_free(b->other_key);
    pl_free(b->other_order);
    pl_free(b->box);
    pl_free(b->body_of);
    pl_free(b->begin);
    for (size_t i = 0; i < b->batch_count; ++i)
        pl_free(b->found[i].pairs);
    pl_free(b->found);
    b->key = b->order = b->other_key = b->other_order = b->body_of = NULL;
    b->box = NULL;
    b->begin = NULL;
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
    pl_pair_list_free(&b->sorted);
}

static pl_status reserve(pl_broadphase* b, uint32_t count)
{
    if (b->key && count <= b->capacity)
        return PLIANT_OK;
    release(b);
    size_t nodes = (size_t)count + count / 2 + 2 * MOST_LEVELS, batches = count / BATCH + 1;
    b->key = PL_NEW(uint32_t, count);
    b->order = PL_NEW(uint32_t, count);
    b->other_key = PL_NEW(uint32_t, count);
    b->other_order = PL_NEW(uint32_t, count);
    b->body_of = PL_NEW(uint32_t, count);
    b->begin = PL_NEW(size_t, (size_t)count + 1);
    b->box = (double(*)[6])pl_alloc(nodes, sizeof *b->box);
    b->found = PL_NEW(pl_pair_list, batches);
    b->batch_count = b->found ? batches : 0;
    if (!b->key || !b->order || !b->other_key || !b->other_order || !b->body_of || !b->begin ||
        !b->box || !b->found)
    {
        release(b);
        return pl_fail_memory(nodes * sizeof *b->box);
    }
    b->capacity = count;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ Morton order */

/* Ten bits with two zeros between each two of them. */
static uint32_t spread_bits(uint32_t v)
{
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
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
                low[k] = fmin(low[k], middle), high = fmax(high, middle);
        }
        scale[k] = high > low[k] ? 1023.999 / (high - low[k]) : 0;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t key = 0;
        for (int k = 0; k < 3; ++k)
        {
            double at = (.5 * (poses[i].lower[k] + poses[i].upper[k]) - low[k]) * scale[k];
            key |= spread_bits(at > 0 && at < 1024 ? (uint32_t)at : 0) << k;
        }
        b->key[i] = key;
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

/* ------------------------------------------------------------------ the tree */

typedef struct tree
{
    const pl_broadphase* b;
    const pl_pair_body* bodies;
    uint32_t count, levels;
    size_t level_begin[MOST_LEVELS + 1]; /* first box of each level */
    uint32_t level_count[MOST_LEVELS + 1];
    int failed;
} tree;

static tree make_tree(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses)
{
    tree t = {.b = b, .count = count, .levels = 1, .level_count = {count}};
    for (uint32_t i = 0; i < count; ++i)
    {
        const pl_proxy_pose* pose = &poses[b->order[i]];
        memcpy(b->box[i], pose->lower, sizeof pose->lower);
        memcpy(b->box[i] + 3, pose->upper, sizeof pose->upper);
    }
    while (t.level_count[t.levels - 1] > 1)
    {
        uint32_t below = t.level_count[t.levels - 1], here = (below + 3) / 4;
        double(*child)[6] = b->box + t.level_begin[t.levels - 1], (*node)[6] = child + below;
        for (uint32_t i = 0; i < here; ++i)
            for (int k = 0; k < 3; ++k)
            {
                node[i][k] = INFINITY, node[i][3 + k] = -INFINITY;
                for (uint32_t c = 4 * i; c < PL_MIN(4 * i + 4, below); ++c)
                {
                    /* these comparisons leave out what is not a number */
                    node[i][k] = child[c][k] < node[i][k] ? child[c][k] : node[i][k];
                    node[i][3 + k] =
                        child[c][3 + k] > node[i][3 + k] ? child[c][3 + k] : node[i][3 + k];
                }
            }
        t.level_begin[t.levels] = t.level_begin[t.levels - 1] + below;
        t.level_count[t.levels++] = here;
    }
    return t;
}

static bool overlap(const double* a, const double* b)
{
    return a[0] <= b[3] && b[0] <= a[3] && a[1] <= b[4] && b[1] <= a[4] && a[2] <= b[5] &&
           b[2] <= a[5];
}

bool pl_pair_shares(const pl_pair_rules* rules, uint32_t a, uint32_t b)
{
    uint32_t low = rules->share_begin[a], high = rules->share_begin[a + 1];
    while (low < high)
    {
        uint32_t middle = low + (high - low) / 2;
        if (rules->share[middle] == b)
            return true;
        if (rules->share[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool may_collide(const tree* t, uint32_t a, uint32_t b)
{
    const pl_pair_body *first = &t->bodies[t->b->body_of[a]], *second;
    second = &t->bodies[t->b->body_of[b]];
    if (first != second)
        return (first->groups & second->groups) != 0;
    return first->self &&
           !(first->rules && pl_pair_shares(first->rules, a - first->first, b - first->first));
}

static void note_pair(tree* t, pl_pair_list* list, uint32_t i, uint32_t j)
{
    uint32_t a = t->b->order[i], b = t->b->order[j];
    if (a > b)
    {
        uint32_t kept = a;
        a = b, b = kept;
    }
    if (!may_collide(t, a, b))
        return;
    if (!pl_grow((void**)&list->pairs, &list->capacity, list->count + 1, sizeof *list->pairs))
    {
        __atomic_store_n(&t->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    list->pairs[list->count++] = (pl_pair){a, b};
}

/* All clusters behind the i-th in Morton order that it overlaps. */
static void ask(tree* t, pl_pair_list* list, uint32_t i)
{
    struct
    {
        uint32_t level, node;
    } stack[4 * (MOST_LEVELS + 1)];
    uint32_t depth = 0;
    const double* own = t->b->box[i];
    stack[depth].level = t->levels - 1, stack[depth++].node = 0;
    while (depth)
    {
        uint32_t level = stack[--depth].level, node = stack[depth].node;
        if (level == 0)
        {
            note_pair(t, list, i, node);
            continue;
        }
        const double(*box)[6] = (const double(*)[6])(t->b->box + t->level_begin[level - 1]);
        uint32_t end = PL_MIN(4 * node + 4, t->level_count[level - 1]);
        for (uint32_t c = 4 * node; c < end; ++c)
        {
            /* the last cluster below this child must be behind the i-th */
            uint64_t last = ((uint64_t)(c + 1) << 2 * (level - 1)) - 1;
            if (last > i && overlap(own, box[c]))
                stack[depth].level = level - 1, stack[depth++].node = c;
        }
    }
}

static void ask_batches(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    tree* t = context;
    (void)worker;
    for (uint32_t n = begin; n < end; ++n)
    {
        pl_pair_list* list = &t->b->found[n];
        list->count = 0;
        for (uint32_t i = n * BATCH; i < PL_MIN((n + 1) * BATCH, t->count) && t->levels > 1; ++i)
            ask(t, list, i);
    }
}

/* ------------------------------------------------------------------ order */

/* One pass of a stable counting sort. */
static void place(pl_broadphase* b, const pl_pair_list* from, bool by_second, pl_pair* to)
{
    for (size_t i = 0; i < from->count; ++i)
    {
        const pl_pair* pair = &from->pairs[i];
        to[b->begin[by_second ? pair->b : pair->a]++] = *pair;
    }
}

static void begin_count(pl_broadphase* b, uint32_t count)
{
    memset(b->begin, 0, sizeof *b->begin * ((size_t)count + 1));
}

static void sum_counts(pl_broadphase* b, uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        size_t own = b->begin[i];
        b->begin[i] = total;
        total += own;
    }
}

static pl_status order_pairs(pl_broadphase* b, uint32_t count, uint32_t batches,
                             pl_pair_list* pairs)
{
    size_t total = 0;
    begin_count(b, count);
    for (uint32_t n = 0; n < batches; ++n)
    {
        total += b->found[n].count;
        for (size_t i = 0; i < b->found[n].count; ++i)
            ++b->begin[b->found[n].pairs[i].b];
    }
    if (!pl_grow((void**)&b->sorted.pairs, &b->sorted.capacity, total, sizeof(pl_pair)) ||
        !pl_grow((void**)&pairs->pairs, &pairs->capacity, total, sizeof(pl_pair)))
        return pl_fail_memory(total * sizeof(pl_pair));
    sum_counts(b, count);
    for (uint32_t n = 0; n < batches; ++n)
        place(b, &b->found[n], true, b->sorted.pairs);
    b->sorted.count = pairs->count = total;
    begin_count(b, count);
    for (size_t i = 0; i < total; ++i)
        ++b->begin[b->sorted.pairs[i].a];
    sum_counts(b, count);
    place(b, &b->sorted, false, pairs->pairs);
    return PLIANT_OK;
}

/* Takes out the pairs that are held back, and forgets those that are not there any more. Both lists
 * ascend, and a body's clusters lie together: one walk along both. */
static void take_held(pl_broadphase* b, uint32_t body_count, const pl_pair_body* bodies,
                      pl_pair_list* pairs)
{
    size_t at = 0, kept = 0;
    for (uint32_t n = 0; n < body_count; ++n)
    {
        const pl_pair_body* body = &bodies[n];
        pl_pair_rules* rules = body->self ? body->rules : NULL;
        size_t held = 0, still = 0;
        for (; at < pairs->count && pairs->pairs[at].a < body->first + body->count; ++at)
        {
            pl_pair pair = pairs->pairs[at];
            uint64_t key = (uint64_t)(pair.a - body->first) << 32 | (pair.b - body->first);
            bool same_body = b->body_of[pair.b] == n;
            while (rules && same_body && held < rules->held_count && rules->held[held] < key)
                ++held;
            if (rules && same_body && held < rules->held_count && rules->held[held] == key)
                rules->held[still++] = key;
            else
                pairs->pairs[kept++] = pair;
        }
        if (rules)
            rules->held_count = still;
    }
    pairs->count = kept;
}

pl_status pl_broadphase_find(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses,
                             uint32_t body_count, const pl_pair_body* bodies, pl_pool* pool,
                             pl_pair_list* pairs)
{
    pairs->count = 0;
    if (count == 0)
        return PLIANT_OK;
    PL_TRY(reserve(b, count));
    for (uint32_t n = 0; n < body_count; ++n)
        for (uint32_t c = 0; c < bodies[n].count; ++c)
            b->body_of[bodies[n].first + c] = n;
    make_keys(b, count, poses);
    sort_keys(b, count);
    tree t = make_tree(b, count, poses);
    t.bodies = bodies;
    uint32_t batches = (count + BATCH - 1) / BATCH;
    pl_parallel_for(pool, batches, 1, ask_batches, &t);
    if (t.failed)
        return pl_fail_memory((size_t)count * sizeof(pl_pair));
    PL_TRY(order_pairs(b, count, batches, pairs));
    take_held(b, body_count, bodies, pairs);
    return PLIANT_OK;
}
