// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Top-down construction: a cube that no triangle touches is uniform (inside or outside); other
 * cubes are divided into octants down to blocks of 8x8x8 cells. Only blocks at the surface classify
 * their cells:
 *
 *   . . . . . . . .     a cell without triangles is uniform;
 *   . . . s s s s s     a surface cell (s) has the list of its triangles, a reference point and the
 *   s s s s + + + +     winding number there. For another point of the cell it differs by 1 for
 *   + + + + + + + +     each triangle that the segment to the reference point crosses.
 *
 * Winding numbers propagate from cell to cell in the same way, so a block of a closed mesh needs
 * one full evaluation. In an open mesh the winding number also varies smoothly: each surface cell
 * evaluates its own, and regions without triangles sample several points. If the samples are
 * ambiguous, each query there evaluates the winding number (PL_CELL_UNDECIDED).
 *
 * Reference points are not the cells' centres: segments between centres would pass exactly through
 * the edges of boxes and grids.
 */
#include "geometry/inside.h"

#include "geometry/bvh.h"

#include <string.h>

/* A region without triangles is decided if its winding numbers differ from 1/2 by more than this.
 */
static const double CLEAR = .2;

typedef struct scratch
{
    pl_status status;
    uint64_t* pairs; /* cell << 32 | triangle */
    size_t pair_count, pair_capacity;
} scratch;

typedef struct filler
{
    pl_inside* map;
    scratch* scratches; /* one per worker */
    uint32_t first;     /* block of the current portion */
} filler;

/* Context of the triangle visitor. */
typedef struct rasteriser
{
    const pl_inside* map;
    const pl_inside_block* block;
    scratch* s;
    vec3 corner; /* of the block */
} rasteriser;

/* ------------------------------------------------------------------ places */

vec3 pl_inside_corner(const pl_inside* map, const pl_inside_block* block, uint32_t cell)
{
    double x = (double)block->x * PL_INSIDE_SIDE + cell % 8;
    double y = (double)block->y * PL_INSIDE_SIDE + cell / 8 % 8;
    double z = (double)block->z * PL_INSIDE_SIDE + cell / 64;
    return v3_mad(map->origin, v3(x, y, z), map->cell);
}

static vec3 reference_point(const pl_inside* map, const pl_inside_block* block, uint32_t cell)
{
    uint32_t h =
        pl_hash_cell(block->x * 8 + (int32_t)(cell % 8), block->y * 8 + (int32_t)(cell / 8 % 8),
                     block->z * 8 + (int32_t)(cell / 64));
    vec3 jitter = v3((h & 1023) / 2048.0 + .25, (h >> 10 & 1023) / 2048.0 + .25,
                     (h >> 20 & 1023) / 2048.0 + .25);
    return v3_mad(pl_inside_corner(map, block, cell), jitter, map->cell);
}

static uint32_t* table_slot(const pl_inside* map, int32_t x, int32_t y, int32_t z)
{
    uint32_t slot = pl_hash_cell(x, y, z) & map->table_mask;
    for (; map->table[slot]; slot = (slot + 1) & map->table_mask)
    {
        const pl_inside_block* b = &map->blocks[map->table[slot] - 1];
        if (b->x == x && b->y == y && b->z == z)
            break;
    }
    return &map->table[slot];
}

const pl_inside_block* pl_inside_find(const pl_inside* map, vec3 point, uint32_t* cell)
{
    vec3 at = v3_scale(v3_sub(point, map->origin), 1 / map->cell);
    double limit = 1e9;
    if (!(fabs(at.x) < limit && fabs(at.y) < limit && fabs(at.z) < limit))
        return NULL;
    int32_t x = (int32_t)floor(at.x), y = (int32_t)floor(at.y), z = (int32_t)floor(at.z);
    uint32_t found = *table_slot(map, x >> 3, y >> 3, z >> 3);
    *cell = (uint32_t)((z & 7) * 64 + (y & 7) * 8 + (x & 7));
    return found ? &map->blocks[found - 1] : NULL;
}

/* ------------------------------------------------------------------ crossings */

/* The difference of the winding numbers at p and q caused by one triangle between them. An edge
 * shared by two triangles gives exactly opposite signs, so the test is watertight. */
static int crossing(const pl_corners* t, vec3 p, vec3 q)
{
    vec3 a = v3_sub(t->a, p), b = v3_sub(t->b, p), c = v3_sub(t->c, p), d = v3_sub(q, p);
    vec3 ab = v3_cross(a, b), bc = v3_cross(b, c), ca = v3_cross(c, a);
    double u = v3_dot(d, ab), v = v3_dot(d, bc), w = v3_dot(d, ca);
    bool out = u > 0 && v > 0 && w > 0, in = u < 0 && v < 0 && w < 0;
    if (!out && !in)
        return 0;
    double height = v3_dot(a, bc),
           along = u + v + w; /* the segment meets the plane at height / along */
    if (out)
        return height > 0 && height < along;
    return height < 0 && height > along ? -1 : 0;
}

static int crossings(const pl_inside* map, const pl_inside_block* block, uint32_t cell, vec3 p,
                     vec3 q)
{
    if (block->cells[cell] < PL_CELL_SURFACE)
        return 0;
    uint32_t surface = block->cells[cell] - PL_CELL_SURFACE;
    int sum = 0;
    for (uint32_t i = block->begin[surface]; i < block->begin[surface + 1]; ++i)
        sum += crossing(&map->mesh->tree->corners[block->triangles[i]], p, q);
    return sum;
}

static double insideness(const pl_inside* map, double winding)
{
    return map->mesh->tree->has_cavities ? winding : fabs(winding);
}

bool pl_inside_cell(const pl_inside* map, const pl_inside_block* block, uint32_t cell, vec3 point)
{
    uint32_t kind = block->cells ? block->cells[cell] : block->uniform;
    if (kind <= PL_CELL_IN)
        return kind == PL_CELL_IN;
    if (kind == PL_CELL_UNDECIDED)
        return pl_mesh_inside(map->mesh, point);
    vec3 reference = reference_point(map, block, cell);
    double w = block->winding[kind - PL_CELL_SURFACE];
    bool inside = insideness(map, w + crossings(map, block, cell, point, reference)) > .5;
    /* In an open mesh, the segment may have passed through a hole within the cell. */
    return inside && (map->mesh->closed || pl_mesh_inside(map->mesh, point));
}

bool pl_inside_at(const pl_inside* map, vec3 point)
{
    uint32_t cell;
    const pl_inside_block* block = pl_inside_find(map, point, &cell);
    return block && pl_inside_cell(map, block, cell, point);
}

/* ------------------------------------------------------------------ cells of a block */

static void note_pair(scratch* s, uint32_t cell, uint32_t triangle)
{
    if (!pl_grow((void**)&s->pairs, &s->pair_capacity, s->pair_count + 1, sizeof *s->pairs))
    {
        s->status = PLIANT_ERROR_MEMORY;
        return;
    }
    s->pairs[s->pair_count++] = (uint64_t)cell << 32 | triangle;
}

static uint32_t clamp_cell(double x)
{
    return (uint32_t)PL_CLAMP(x, 0.0, 7.0);
}

static void rasterise(void* context, uint32_t triangle)
{
    rasteriser* r = context;
    const pl_bvh* tree = r->map->mesh->tree;
    const pl_corners* t = &tree->corners[triangle];
    if (tree->far[tree->shell_root[r->map->mesh->shell[tree->order[triangle]]]].excluded)
        return;
    const double size = r->map->cell, margin = 1e-6;
    pl_box box = pl_box_empty();
    pl_box_add(&box, t->a);
    pl_box_add(&box, t->b);
    pl_box_add(&box, t->c);
    vec3 low = v3_scale(v3_sub(box.lower, r->corner), 1 / size);
    vec3 high = v3_scale(v3_sub(box.upper, r->corner), 1 / size);
    const double reach = 8 + margin;
    if (low.x > reach || low.y > reach || low.z > reach || high.x < -margin || high.y < -margin ||
        high.z < -margin)
        return;
    uint32_t x0 = clamp_cell(low.x - margin), x1 = clamp_cell(high.x + margin);
    uint32_t y0 = clamp_cell(low.y - margin), y1 = clamp_cell(high.y + margin);
    uint32_t z0 = clamp_cell(low.z - margin), z1 = clamp_cell(high.z + margin);
    double half = size * (.5 + margin);
    bool single = x0 == x1 && y0 == y1 && z0 == z1;
    for (uint32_t z = z0; z <= z1; ++z)
        for (uint32_t y = y0; y <= y1; ++y)
            for (uint32_t x = x0; x <= x1; ++x)
            {
                vec3 centre = v3_mad(r->corner, v3(x + .5, y + .5, z + .5), size);
                if (single || pl_triangle_touches_box(t, centre, v3(half, half, half)))
                    note_pair(r->s, z * 64 + y * 8 + x, triangle);
            }
}

/* Lists of triangles by cell, in one block of memory. */
static bool make_lists(pl_inside_block* block, const scratch* s)
{
    uint32_t count[PL_INSIDE_CELLS] = {0};
    for (size_t i = 0; i < s->pair_count; ++i)
        ++count[s->pairs[i] >> 32];
    block->surface_count = 0;
    for (int c = 0; c < PL_INSIDE_CELLS; ++c)
        block->surface_count += count[c] > 0;
    size_t surfaces = block->surface_count;
    size_t bytes = PL_INSIDE_CELLS * sizeof(uint16_t) + surfaces * sizeof(float) +
                   (surfaces + 1 + s->pair_count) * sizeof(uint32_t);
    block->cells = pl_alloc(bytes, 1);
    if (!block->cells)
        return false;
    block->winding = (float*)(block->cells + PL_INSIDE_CELLS);
    block->begin = (uint32_t*)(block->winding + surfaces);
    block->triangles = block->begin + surfaces + 1;
    uint32_t place[PL_INSIDE_CELLS], surface = 0, sum = 0;
    for (int c = 0; c < PL_INSIDE_CELLS; ++c)
    {
        place[c] = sum;
        if (!count[c])
            continue;
        block->begin[surface] = sum;
        sum += count[c];
        block->cells[c] = (uint16_t)(PL_CELL_SURFACE + surface++);
    }
    block->begin[surface] = sum;
    for (size_t i = 0; i < s->pair_count; ++i)
        block->triangles[place[s->pairs[i] >> 32]++] = (uint32_t)s->pairs[i];
    return true;
}

/* The neighbour of a cell on side 0 to 5 (-x +x -y +y -z +z), or -1. */
static int neighbour_of(int cell, int side)
{
    const int shift = side / 2 * 3, at = cell >> shift & 7, step = side & 1 ? 1 : -1;
    return at + step < 0 || at + step > 7 ? -1 : cell + step * (1 << shift);
}

/* Flood fill of a closed mesh's winding number, from cell to cell. */
static void spread_winding(const pl_inside* map, pl_inside_block* block)
{
    bool seen[PL_INSIDE_CELLS] = {false};
    float winding[PL_INSIDE_CELLS];
    uint16_t queue[PL_INSIDE_CELLS];
    uint32_t head = 0, tail = 0;
    const pl_bvh* tree = map->mesh->tree;
    winding[0] = (float)rint(pl_bvh_winding(tree, tree->root, reference_point(map, block, 0), 1.3));
    seen[0] = true;
    queue[tail++] = 0;
    while (head < tail)
    {
        int cell = queue[head++];
        vec3 p = reference_point(map, block, (uint32_t)cell);
        vec3 low = pl_inside_corner(map, block, (uint32_t)cell);
        for (int side = 0; side < 6; ++side)
        {
            int other = neighbour_of(cell, side);
            if (other < 0 || seen[other])
                continue;
            int sum = 0;
            if (block->cells[cell] >= PL_CELL_SURFACE || block->cells[other] >= PL_CELL_SURFACE)
            {
                /* Each part of the segment lies in one cell. */
                vec3 q = reference_point(map, block, (uint32_t)other);
                double from = side < 2 ? p.x : side < 4 ? p.y : p.z;
                double to = side < 2 ? q.x : side < 4 ? q.y : q.z;
                double wall = side < 2 ? low.x : side < 4 ? low.y : low.z;
                wall += side & 1 ? map->cell : 0;
                vec3 m = v3_mad(p, v3_sub(q, p), (wall - from) / (to - from));
                sum = crossings(map, block, (uint32_t)cell, p, m) +
                      crossings(map, block, (uint32_t)other, m, q);
            }
            winding[other] = winding[cell] - (float)sum;
            seen[other] = true;
            queue[tail++] = (uint16_t)other;
        }
    }
    for (int c = 0; c < PL_INSIDE_CELLS; ++c)
    {
        if (block->cells[c] >= PL_CELL_SURFACE)
            block->winding[block->cells[c] - PL_CELL_SURFACE] = winding[c];
        else
            block->cells[c] = insideness(map, winding[c]) > .5 ? PL_CELL_IN : PL_CELL_OUT;
    }
}

static uint16_t kind_of(double least, double most)
{
    return least > .5 + CLEAR ? PL_CELL_IN : most < .5 - CLEAR ? PL_CELL_OUT : PL_CELL_UNDECIDED;
}

/* Classifies a connected region of cells without triangles, in an open mesh. */
static void classify_region(const pl_inside* map, pl_inside_block* block, bool* seen, int first)
{
    uint16_t queue[PL_INSIDE_CELLS];
    uint32_t head = 0, tail = 0;
    queue[tail++] = (uint16_t)first;
    seen[first] = true;
    while (head < tail)
    {
        int cell = queue[head++];
        for (int side = 0; side < 6; ++side)
        {
            int other = neighbour_of(cell, side);
            if (other < 0 || seen[other] || block->cells[other] >= PL_CELL_SURFACE)
                continue;
            seen[other] = true;
            queue[tail++] = (uint16_t)other;
        }
    }
    double least = INFINITY, most = -INFINITY;
    const uint32_t asked = PL_MIN(tail, 5u);
    for (uint32_t i = 0; i < asked; ++i)
    {
        uint32_t cell = queue[asked > 1 ? i * (tail - 1) / (asked - 1) : 0];
        double w = pl_mesh_insideness(map->mesh, reference_point(map, block, cell));
        least = fmin(least, w);
        most = fmax(most, w);
    }
    uint16_t kind = kind_of(least, most);
    for (uint32_t i = 0; i < tail; ++i)
        block->cells[queue[i]] = kind;
}

static void evaluate_winding(const pl_inside* map, pl_inside_block* block)
{
    bool seen[PL_INSIDE_CELLS] = {false};
    const pl_bvh* tree = map->mesh->tree;
    for (int c = 0; c < PL_INSIDE_CELLS; ++c)
    {
        if (block->cells[c] >= PL_CELL_SURFACE)
            block->winding[block->cells[c] - PL_CELL_SURFACE] = (float)pl_bvh_winding(
                tree, tree->root, reference_point(map, block, (uint32_t)c), 1.3);
        else if (!seen[c])
            classify_region(map, block, seen, c);
    }
}

static void fill_blocks(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    filler* f = context;
    scratch* s = &f->scratches[worker];
    for (uint32_t i = begin; i < end && s->status == PLIANT_OK; ++i)
    {
        pl_inside_block* block = &f->map->blocks[f->first + i];
        if (block->uniform != PL_CELL_SURFACE)
            continue;
        rasteriser r = {f->map, block, s, pl_inside_corner(f->map, block, 0)};
        double margin = 1e-6 * f->map->cell, size = f->map->block;
        pl_box box = {v3_sub(r.corner, v3(margin, margin, margin)),
                      v3_add(r.corner, v3(size + margin, size + margin, size + margin))};
        s->pair_count = 0;
        pl_bvh_visit(f->map->mesh->tree, &box, rasterise, &r);
        if (s->status != PLIANT_OK || !make_lists(block, s))
        {
            s->status = PLIANT_ERROR_MEMORY;
            return;
        }
        if (f->map->mesh->closed)
            spread_winding(f->map, block);
        else
            evaluate_winding(f->map, block);
    }
}

/* ------------------------------------------------------------------ octree */

typedef struct cube
{
    int32_t x, y, z, level; /* 2^level blocks wide; coordinates in such cubes */
} cube;

static bool add_blocks(pl_inside* map, cube c, uint8_t kind)
{
    uint32_t side = 1u << c.level;
    size_t count = (size_t)side * side * side, needed = map->block_count + count;
    if (!pl_grow((void**)&map->blocks, &map->capacity, needed, sizeof *map->blocks))
        return false;
    for (uint32_t k = 0; k < side; ++k)
        for (uint32_t j = 0; j < side; ++j)
            for (uint32_t i = 0; i < side; ++i)
                map->blocks[map->block_count++] =
                    (pl_inside_block){.x = c.x * (int32_t)side + (int32_t)i,
                                      .y = c.y * (int32_t)side + (int32_t)j,
                                      .z = c.z * (int32_t)side + (int32_t)k,
                                      .uniform = kind};
    return true;
}

/* Classifies a cube without triangles. Corners are evaluated only if the mesh is open. */
static uint16_t cube_kind(const pl_inside* map, vec3 corner, double size)
{
    double w = pl_mesh_insideness(map->mesh, v3_add(corner, v3(size * .5, size * .5, size * .5)));
    if (map->mesh->closed)
        return w > .5 ? PL_CELL_IN : PL_CELL_OUT;
    double least = w, most = w;
    for (int i = 0; i < 8 && kind_of(least, most) != PL_CELL_UNDECIDED; ++i)
    {
        vec3 at = v3(i & 1 ? .95 : .05, i & 2 ? .95 : .05, i & 4 ? .95 : .05);
        w = pl_mesh_insideness(map->mesh, v3_mad(corner, at, size));
        least = fmin(least, w);
        most = fmax(most, w);
    }
    return kind_of(least, most);
}

static pl_status find_blocks(pl_inside* map, int32_t levels, pl_task* task)
{
    cube stack[8 * 32];
    uint32_t waiting = 0, steps = 0;
    stack[waiting++] = (cube){0, 0, 0, levels};
    while (waiting)
    {
        cube c = stack[--waiting];
        double size = map->block * (double)(1u << c.level);
        vec3 corner = v3_mad(map->origin, v3(c.x, c.y, c.z), size);
        double margin = 1e-6 * map->cell;
        pl_box box = {v3_sub(corner, v3(margin, margin, margin)),
                      v3_add(corner, v3(size + margin, size + margin, size + margin))};
        bool surface = pl_bvh_touches(map->mesh->tree, &box);
        uint16_t kind = surface ? PL_CELL_SURFACE : cube_kind(map, corner, size);
        if (++steps % 512 == 0 && pl_task_step(task, 0))
            return PLIANT_CANCELLED;
        if (kind == PL_CELL_OUT)
            continue;
        if (kind == PL_CELL_IN || c.level == 0)
        {
            if (!add_blocks(map, c, (uint8_t)kind))
                return pl_fail_memory(map->capacity * 2 * sizeof *map->blocks);
            continue;
        }
        for (int i = 7; i >= 0; --i)
            stack[waiting++] =
                (cube){c.x * 2 + (i & 1), c.y * 2 + (i >> 1 & 1), c.z * 2 + (i >> 2), c.level - 1};
    }
    return PLIANT_OK;
}

static pl_status make_table(pl_inside* map)
{
    uint32_t size = 16;
    while (size < 2 * (size_t)map->block_count)
        size *= 2;
    map->table = PL_NEW(uint32_t, size);
    map->table_mask = size - 1;
    if (!map->table)
        return pl_fail_memory(size * sizeof *map->table);
    for (uint32_t i = 0; i < map->block_count; ++i)
    {
        const pl_inside_block* b = &map->blocks[i];
        *table_slot(map, b->x, b->y, b->z) = i + 1;
    }
    return PLIANT_OK;
}

/* In portions of some milliseconds, to check for cancellation between them. */
static pl_status fill(pl_inside* map, pl_pool* pool, pl_task* task)
{
    const uint32_t threads = pl_pool_threads(pool), portion = 8 * threads;
    filler f = {map, PL_NEW(scratch, threads), 0};
    pl_status status = f.scratches ? PLIANT_OK : PLIANT_ERROR_MEMORY;
    for (; status == PLIANT_OK && f.first < map->block_count; f.first += portion)
    {
        pl_parallel_for(pool, PL_MIN(portion, map->block_count - f.first), 1, fill_blocks, &f);
        for (uint32_t i = 0; i < threads && status == PLIANT_OK; ++i)
            status = f.scratches[i].status;
        if (status == PLIANT_OK && pl_task_step(task, (double)f.first / map->block_count))
            status = PLIANT_CANCELLED;
    }
    for (uint32_t i = 0; f.scratches && i < threads; ++i)
        pl_free(f.scratches[i].pairs);
    pl_free(f.scratches);
    return status == PLIANT_ERROR_MEMORY ? pl_fail_memory(map->block_count * 4096) : status;
}

static void count_cells(pl_inside* map)
{
    for (uint32_t i = 0; i < map->block_count; ++i)
        for (uint32_t c = 0; c < PL_INSIDE_CELLS; ++c)
        {
            uint32_t kind = pl_inside_kind(&map->blocks[i], c);
            map->cells_in += kind == PL_CELL_IN;
            map->cells_undecided += kind == PL_CELL_UNDECIDED;
            map->cells_surface += kind == PL_CELL_SURFACE;
        }
}

pl_status pl_inside_init(pl_inside* map, const pl_mesh* mesh, double cell, pl_pool* pool,
                         pl_task* task)
{
    *map = (pl_inside){.mesh = mesh, .cell = cell, .block = cell * PL_INSIDE_SIDE};
    vec3 size = v3_sub(mesh->upper, mesh->lower);
    double longest = fmax(size.x, fmax(size.y, size.z));
    int32_t levels = 0;
    while (levels < 26 && map->block * (double)(1u << levels) < longest + 2 * cell)
        ++levels;
    if (levels == 26)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "Spacing %g is too small for a mesh of size %g: the minimum is a hundred "
                       "millionth of the size",
                       cell, longest);
    /* Irregular offsets, so that faces of boxes do not coincide with faces of cells. */
    map->origin = v3_sub(mesh->lower, v3(.7134 * cell, .6721 * cell, .7458 * cell));
    PL_TRY(find_blocks(map, levels, task));
    PL_TRY(make_table(map));
    PL_TRY(fill(map, pool, task));
    count_cells(map);
    return PLIANT_OK;
}

void pl_inside_free(pl_inside* map)
{
    for (uint32_t i = 0; i < map->block_count; ++i)
        pl_free(map->blocks[i].cells);
    pl_free(map->blocks);
    pl_free(map->table);
    *map = (pl_inside){0};
}
