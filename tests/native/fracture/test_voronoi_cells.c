// SPDX-License-Identifier: GPL-3.0-or-later
/* Voronoi cells: bodies break between cells, and nowhere else. */
#include "native/support/breaking.h"

#include <stdlib.h>
#include <string.h>

enum
{
    CELLS = 12
};

static void set_cells(breaking* b, uint32_t cells, uint32_t seed)
{
    b->fracture.cells = cells;
    b->fracture.cell_seed = seed;
    CHECK_OK(pliant_body_set_fracture(b->body, &b->fracture));
}

TEST(cells_are_those_of_voronoi)
{
    breaking b = breaking_ghost(14, 10, 10, 30);
    uint32_t count, *again;
    set_cells(&b, CELLS, 1);
    uint32_t* cell = breaking_read(&b, PLIANT_CELL, 4, &count);
    REQUIRE(count == b.count);
    double at[CELLS][3] = {{0}}, members[CELLS] = {0};
    for (uint32_t i = 0; i < count; ++i)
    {
        REQUIRE(cell[i] < CELLS);
        members[cell[i]] += 1;
        for (int k = 0; k < 3; ++k)
            at[cell[i]][k] += b.points.at[3 * i + (uint32_t)k];
    }
    /* nearly all particles are nearest to the centre of their own cell */
    uint32_t off = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        double best = INFINITY, own = 0;
        for (uint32_t c = 0; c < CELLS; ++c)
        {
            double square = 0;
            CHECK(members[c] > 0);
            for (int k = 0; k < 3; ++k)
                square += pow(at[c][k] / members[c] - b.points.at[3 * i + (uint32_t)k], 2);
            best = fmin(best, square);
            own = c == cell[i] ? square : own;
        }
        off += own > best * 1.0001;
    }
    CHECK_MSG(off < count / 6, "%u of %u are in cells that are farther away", off, count);
    set_cells(&b, CELLS, 1);
    again = breaking_read(&b, PLIANT_CELL, 4, NULL);
    CHECK(memcmp(cell, again, sizeof *cell * count) == 0);
    free(again);
    set_cells(&b, CELLS, 2);
    again = breaking_read(&b, PLIANT_CELL, 4, NULL);
    CHECK(memcmp(cell, again, sizeof *cell * count) != 0);
    free(again);
    set_cells(&b, 0, 2);
    again = breaking_read(&b, PLIANT_CELL, 4, &count);
    CHECK(count == 0);
    free(again);
    free(cell);
    breaking_free(&b);
}

/* A bar that is pulled: pieces consist of whole cells; bit-identical in each run. */
static uint64_t pull(uint32_t threads, int saved_at, uint32_t* pieces)
{
    breaking b = breaking_bar(40);
    b.scene_desc.threads = threads;
    breaking_make_bar(&b);
    b.fracture.toughness = .04;
    set_cells(&b, 8, 5);
    for (int frame = 0; frame < 20; ++frame)
    {
        breaking_pull(&b, 1, .05);
        if (frame == saved_at)
            b.body = world_renew(b.scene);
    }
    uint32_t count, *piece = breaking_read(&b, PLIANT_PIECE, 4, &count);
    uint32_t *cell = breaking_read(&b, PLIANT_CELL, 4, NULL), of_cell[8];
    memset(of_cell, 255, sizeof of_cell);
    CHECK(count == b.count && world_finite(b.body));
    for (uint32_t i = 0; i < count; ++i)
    {
        of_cell[cell[i]] = of_cell[cell[i]] == UINT32_MAX ? piece[i] : of_cell[cell[i]];
        CHECK_MSG(piece[i] == of_cell[cell[i]], "cell %u is torn", cell[i]);
    }
    free(piece);
    free(cell);
    *pieces = breaking_info(&b).pieces;
    uint64_t hash = world_hash(b.scene);
    breaking_free(&b);
    return hash;
}

TEST(a_bar_breaks_between_its_cells)
{
    uint32_t pieces, others;
    uint64_t expected = pull(1, -1, &pieces);
    CHECK_MSG(pieces > 1, "%u pieces", pieces);
    CHECK(pull(2, -1, &others) == expected && pull(3, -1, &others) == expected);
    CHECK(pull(8, 9, &others) == expected && pull(1, 14, &others) == expected);
}

/* Every particle is in the cell of the nearest of the caller's points, exactly, also after a
 * restore. */
TEST(points_may_be_given)
{
    enum
    {
        POINTS = 5
    };
    breaking b = breaking_ghost(10, 8, 8, 20);
    const double origin[3] = {10, -4, 2};
    const float points[3 * POINTS] = {-10.6f, 4, -2,   -10, 4.2f,  -2.1f, -9.5f, 4,
                                      -2,     9, 4.3f, -2,  -9.6f, 3.8f,  -1.9f};
    CHECK(pliant_body_set_cells(b.body, POINTS, origin, points) == PLIANT_ERROR_STATE);
    set_cells(&b, CELLS, 1);
    CHECK_OK(pliant_body_set_cells(b.body, POINTS, origin, points));
    b.body = world_renew(b.scene);
    set_cells(&b, CELLS, 1);
    uint32_t count, cells, *cell = breaking_read(&b, PLIANT_CELL, 4, &count);
    float* read = breaking_read(&b, PLIANT_CELL_POINT, 12, &cells);
    REQUIRE(count == b.count && cells == POINTS);
    for (uint32_t i = 0; i < count; ++i)
    {
        double best = INFINITY;
        uint32_t found = 0;
        for (uint32_t c = 0; c < POINTS; ++c)
        {
            double square = 0;
            for (uint32_t k = 0; k < 3; ++k)
                square += pow(points[3 * c + k] + origin[k] - b.points.at[3 * i + k], 2);
            if (square < best)
                best = square, found = c;
        }
        CHECK_MSG(cell[i] == found, "particle %u is in cell %u, not %u", i, cell[i], found);
    }
    for (uint32_t i = 0; i < 3 * POINTS; ++i)
        CHECK(fabs(read[i] - (points[i] + origin[i % 3])) < 1e-6);
    free(read);
    free(cell);
    CHECK(pliant_body_set_cells(b.body, 1, NULL, points) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_cells(b.body, 2, NULL, NULL) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(pliant_body_set_cells(b.body, 0, NULL, NULL));
    cell = breaking_read(&b, PLIANT_CELL_POINT, 12, &cells);
    CHECK(cells == CELLS);
    free(cell);
    breaking_free(&b);
}

TEST(too_many_cells_are_refused)
{
    breaking b = breaking_ghost(6, 6, 6, 4);
    b.fracture.cells = (1u << 20) + 1;
    CHECK(pliant_body_set_fracture(b.body, &b.fracture) == PLIANT_ERROR_ARGUMENT);
    breaking_free(&b);
}
