# SPDX-License-Identifier: GPL-3.0-or-later
"""The solid that the mesh is intersected with: the space around the body, opened along every crack.

A crack is a sheet of squares between boxes of the grid whose copies have parted. The sheets are
smoothed, drawn toward the split planes and roughened, and then *unzipped*: around each corner of
the grid, boxes that stay connected through squares that are no crack share one copy of the corner.

        +----+----+----+             a---b----t----+       The slit's two sides (a-b-t and a'-b'-t) are
        |    |    |    |             |   |    |    |       faces of one solid with coincident
        a====b====t    |     ->      a'--b'---+    |       corners; its tip t is shared. Fragments
        |    |    |    |             |   |    |    |       and partial cracks need no separate
        +----+----+----+             +---+----+----+       treatment.

The solid is a closed oriented surface by construction, so a boolean library can intersect it with
the mesh in one operation. The two sides are held apart by an invisibly small gap; each corner
stores its displacement (`back`), so that both sides coincide again in the result.
"""

from dataclasses import dataclass

import numpy as np

from .point_grid import PointGrid
from .cells import NEVER
from .voronoi import FARTHEST, STEEP, drop

GAP = 1e-8  # between the sides of a crack while cutting, in steps of the grid: far above the
# cutting library's own tolerance, far below what is snapped together afterwards
STAR = np.array([[i, j, k] for i in (-1, 0) for j in (-1, 0) for k in (-1, 0)])  # boxes at a corner
# pairs of those that meet in a square, by axis
MEETING = [
    [(a, b) for a in range(8) for b in range(8) if (STAR[b] - STAR[a] == np.eye(3, dtype=int)[axis]).all()]
    for axis in range(3)
]


HALF_STAR = np.array([o for o in np.ndindex(3, 3, 3) if o > (1, 1, 1)]) - 1  # neighbours, once each
PLANES_ROOM = 30_000  # boxes near planes that are processed at a time
EVEN, SHRINK = 24, 60  # iterations of smoothing displacements, and of shrinking them


@dataclass
class Sheets:
    """Quads of the opened solid, each divided along its corners 0 and 2, the same way on both sides
    of a crack. Birth and copy of the hull around the body have no meaning."""

    vertices: np.ndarray  # (n, 3)
    back: np.ndarray  # (n, 3) how far the gap moved it, negated
    quads: np.ndarray  # (q, 4)
    copy: np.ndarray  # (q,) particle copy on whose side the quad is
    birth: np.ndarray  # (q,) when the crack opened
    cracks: int  # quads k and k + cracks, for k below it, are the two sides of a crack

    def triangles(self):
        """(2 q, 3): triangles 2 k and 2 k + 1 are of quad k."""
        return self.quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def open_cracks(cells, squares, times, particles, spacing, look):
    """Sheets, or None if nothing has parted. `squares`, `times`: of cells.neighbours and Partings."""
    parted = [np.where(s >= 0, times[s], np.inf) < np.inf for s in squares]
    if not any(p.any() for p in parted):
        return None
    sheet = Sheet(cells, squares, parted, times)
    position = sheet.smoothed(particles, spacing, look)
    position += sheet.grain(position, spacing, look)
    return sheet.unzip(sheet.unfolded(position, max(look.strictness, STEEP if cells.pattern else 0)))


class Sheet:
    """The squares of all cracks, as quads on the corners of the grid."""

    def __init__(self, cells, squares, parted, times):
        self.cells, self.parted = cells, parted
        self.boxes = np.array(cells.copy.shape)
        self.stride = np.array([(self.boxes[1] + 1) * (self.boxes[2] + 1), self.boxes[2] + 1, 1])
        lower, axes, birth = [], [], []
        for axis in range(3):
            index = np.argwhere(parted[axis])
            lower.append(index)
            axes.append(np.full(len(index), axis))
            birth.append(times[squares[axis][tuple(index.T)]])
        self.lower, self.axis = np.concatenate(lower), np.concatenate(axes)
        self.upper = self.lower + np.eye(3, dtype=np.int64)[self.axis]
        self.birth = np.concatenate(birth)
        # seen from the lower box, corners run counterclockwise around the outward normal
        self.quads = self.corners_of(self.upper, self.axis)
        self.used, self.local = np.unique(self.quads, return_inverse=True)
        self.local = self.local.reshape(-1, 4)

    def corners_of(self, box, axis):
        """The four corners, on the low side of `box` along `axis`; the normal is along the axis."""
        u, v = np.eye(3, dtype=np.int64)[(axis + 1) % 3], np.eye(3, dtype=np.int64)[(axis + 2) % 3]
        return np.stack(
            [box @ self.stride, (box + u) @ self.stride, (box + u + v) @ self.stride, (box + v) @ self.stride], 1
        )

    def grid_index(self, corner):
        return np.stack(np.unravel_index(corner, self.boxes + 1), 1)

    def place(self, corner):
        return self.cells.origin + self.grid_index(corner) * self.cells.step

    # ------------------------------------------------------------ shape

    def edges(self):
        """Unique edges of the quads, and the number of quads at each."""
        ends = np.concatenate([self.local[:, [k, (k + 1) % 4]] for k in range(4)])
        count = len(self.used)
        key = np.sort(ends.min(1) * count + ends.max(1))
        begin = np.flatnonzero(np.r_[True, key[1:] != key[:-1], True])
        key = key[begin[:-1]]
        return np.column_stack([key // count, key % count]), np.diff(begin)

    def smoothed(self, particles, spacing, look):
        """Laplacian smoothing of the corners, with a limit on their displacement.

        Along a rim or where several sheets meet, only neighbours on that line count, so that rims
        do not shrink and sheets do not pull each other.
        """
        start = self.place(self.used)
        position = start.copy()
        rounds = int(round(6 * look.smoothing * max(1.0, (spacing / self.cells.step) ** 2 / 4)))
        planes, on_plane = self.pattern_planes()
        if len(on_plane):
            rounds = max(rounds, 6)
        if rounds <= 0:
            return position
        ends, meeting = self.edges()
        line = meeting != 2
        on_line = np.zeros(len(start), bool)
        on_line[ends[line]] = True
        counts = line | ~on_line[ends].any(1)
        one_way = [(ends[counts, 0], ends[counts, 1]), (ends[counts, 1], ends[counts, 0])]
        # a corner inside a sheet follows its rim, not the other way round
        mixed = ~counts
        for a, b in ((0, 1), (1, 0)):
            inner = mixed & ~on_line[ends[:, a]]
            one_way.append((ends[inner, a], ends[inner, b]))
        to = np.concatenate([pair[0] for pair in one_way])
        of = np.concatenate([pair[1] for pair in one_way])
        number = np.maximum(np.bincount(to, minlength=len(start)), 1)[:, None]
        target, pull = self.toward_planes(start, particles, spacing)
        # ends of lines, and points where lines meet, are fixed
        fixed = on_line & (np.bincount(ends[line].ravel(), minlength=len(start)) != 2)
        most = 0.6 * spacing
        for _ in range(rounds):
            mean = np.column_stack([np.bincount(to, position[of, k], len(start)) for k in range(3)])
            moved = position + 0.6 * (mean / number - position)
            moved += 0.3 * pull[:, None] * (target(moved) - moved)
            moved[fixed] = 0.75 * position[fixed] + 0.25 * moved[fixed]
            away = moved - start
            length = np.sqrt((away**2).sum(1))[:, None]
            position = start + away * np.minimum(1, most / np.maximum(length, 1e-300))
            if len(on_plane):
                position[on_plane] = self.near_start(drop(planes, position[on_plane]), on_plane)
        return position

    def pattern_planes(self):
        """Planes of the pattern that corners must lie on, and which corners those are."""
        if self.cells.pattern is None:
            return None, np.zeros(0, np.int64)
        box = self.grid_index(self.used)[:, None, :] + STAR
        exists = ((box >= 0) & (box < self.boxes)).all(2)
        cell = self.cells.cell[tuple(np.clip(box, 0, self.boxes - 1).reshape(-1, 3).T)]
        planes, counts = self.cells.pattern.around(np.where(exists, cell.reshape(-1, 8), -1))
        return planes[counts], np.flatnonzero(counts)

    def near_start(self, position, corners):
        """Limits the displacement to the largest possible distance of the planes."""
        start = self.place(self.used[corners])
        away = position - start
        length = np.sqrt((away**2).sum(1))[:, None]
        return start + away * np.minimum(1, FARTHEST * self.cells.step / np.maximum(length, 1e-300))

    def toward_planes(self, start, particles, spacing):
        """A function that projects points onto their split planes, and which corners have one (0 or
        1)."""
        normals = np.concatenate([particles.plane_normal, particles.split_normal])
        length = np.sqrt((normals**2).sum(1))
        normals = normals / np.where(length > 0, length, 1)[:, None]
        # a particle's split acts around the particle, wherever on the plane its point is
        own, normal = particles.rest[particles.split_old], normals[len(particles.plane_point) :]
        foot = own - ((own - particles.split_point) * normal).sum(1)[:, None] * normal
        points = np.concatenate([particles.plane_point, foot])
        reach = np.concatenate([particles.plane_reach, np.full(len(foot), spacing)])
        time = np.concatenate([particles.plane_time, particles.split_time])
        earliest = np.full(len(start), np.inf)
        np.minimum.at(earliest, self.local.ravel(), np.repeat(self.birth, 4))
        best, chosen = np.full(len(start), np.inf), np.full(len(start), -1)
        grid = PointGrid(start, 2 * spacing)
        # particles are divided by their clusters' split planes, which already cover all of them
        known = {tuple(row) for row in np.column_stack([particles.plane_point, particles.plane_time])}
        twice = [tuple(row) in known for row in np.column_stack([particles.split_point, particles.split_time])]
        length[len(particles.plane_point) :][np.array(twice, bool)] = 0
        planes = np.flatnonzero(length > 0)
        # many small planes at a time, few large ones
        room = np.cumsum(np.maximum(1, ((reach[planes] + spacing) / self.cells.step) ** 3))
        for some in np.split(planes, np.flatnonzero(np.diff(room // PLANES_ROOM)) + 1):
            begin, near = grid.every(points[some], reach[some] + spacing)
            s = np.repeat(some, np.diff(begin))
            height = np.abs(((start[near] - points[s]) * normals[s]).sum(1))
            worth = height + 1e3 * spacing * (time[s] > earliest[near])  # the plane is younger than the crack
            take = (height < spacing) & (worth < best[near])
            near, worth, s = near[take], worth[take], s[take]
            order = np.lexsort((s, worth, near))
            first = order[np.r_[True, near[order][1:] != near[order][:-1]]] if len(order) else order
            best[near[first]], chosen[near[first]] = worth[first], s[first]
        has = chosen >= 0

        def drop(position):
            if not has.any():
                return position
            normal = normals[chosen]
            height = ((position - points[chosen]) * normal).sum(1)
            return np.where(has[:, None], position - height[:, None] * normal, position)

        return drop, has.astype(np.float64)

    def grain(self, position, spacing, look):
        """Displacements by smooth noise of three octaves, in every direction: a sheet's normal has
        no preferred side, and overhangs look broken rather than embossed."""
        moved = np.zeros_like(position)
        if look.roughness <= 0:
            return moved
        width, share = max(look.grain, 1e-3) * spacing, look.roughness * spacing
        for octave in range(3):
            for k in range(3):
                moved[:, k] += share * noise(position / width, (look.seed * 3 + octave) * 3 + k)
            width, share = width / 2, share / 2
        return moved

    def unfolded(self, position, steepest):
        """Reduces displacements where the sheets would intersect themselves.

        They stay embedded if the displacements of neighbouring corners of the grid differ by at
        most `steepest` (below 1) times their distance. Larger differences are first smoothed; what
        is left is scaled down.
        """
        start = self.place(self.used)
        moved = position - start
        one, two, apart = self.beside()
        looked = np.arange(len(one))  # pairs of which one changed in the last round
        for turn in range(EVEN + SHRINK):
            differ = moved[one[looked]] - moved[two[looked]]
            length = np.sqrt((differ**2).sum(1))
            beyond = np.flatnonzero(length > steepest * apart[looked] * self.cells.step)
            if not len(beyond):
                break
            over, differ, length = looked[beyond], differ[beyond], length[beyond]
            if turn < EVEN:
                excess = 1 - steepest * apart[over] * self.cells.step / length
                number = np.maximum(np.bincount(np.concatenate([one[over], two[over]]), minlength=len(start)), 1)
                push = 0.5 * differ * excess[:, None]
                for k in range(3):
                    moved[:, k] -= np.bincount(one[over], push[:, k], len(start)) / number**0.5
                    moved[:, k] += np.bincount(two[over], push[:, k], len(start)) / number**0.5
            else:
                moved[np.unique(np.concatenate([one[over], two[over]]))] *= 0.7
            touched = np.zeros(len(start), bool)
            touched[one[over]] = touched[two[over]] = True
            looked = np.flatnonzero(touched[one] | touched[two])
        return start + moved

    def beside(self):
        """Pairs of neighbouring corners of the grid, and their distance in steps."""
        at = np.full(np.prod(self.boxes + 1), -1)
        at[self.used] = np.arange(len(self.used))
        index = self.grid_index(self.used)
        one, two, apart = [], [], []
        for offset in HALF_STAR:
            other = index + offset
            fits = ((other >= 0) & (other <= self.boxes)).all(1)
            found = np.full(len(index), -1)
            found[fits] = at[other[fits] @ self.stride]
            here = np.flatnonzero(found >= 0)
            one.append(here)
            two.append(found[here])
            apart.append(np.full(len(here), np.sqrt((offset**2).sum())))
        return np.concatenate(one), np.concatenate(two), np.concatenate(apart)

    # ------------------------------------------------------------ topology

    def star_groups(self, corner):
        """For each corner and each of the 8 boxes around it: the connected group of boxes there; -1
        for boxes outside the grid."""
        at = self.grid_index(corner)
        box = at[:, None, :] + STAR
        exists = ((box >= 0) & (box < self.boxes)).all(2)
        group = np.where(exists, np.arange(8), 99)
        connected = []
        for axis in range(3):
            for a, b in MEETING[axis]:
                both = exists[:, a] & exists[:, b]
                lower = np.where(both[:, None], box[:, a], 0)
                cut = self.parted[axis][tuple(np.minimum(lower, np.array(self.parted[axis].shape) - 1).T)]
                connected.append((a, b, both & ~cut))
        for _ in range(7):
            for a, b, joined in connected:
                least = np.minimum(group[:, a], group[:, b])
                group[:, a] = np.where(joined, least, group[:, a])
                group[:, b] = np.where(joined, least, group[:, b])
        return np.where(exists, group, -1)

    def hull(self):
        """Quads of the grid's boundary, outward, with their boxes."""
        quads, owner = [], []
        for axis in range(3):
            for end in (0, 1):
                sides = [np.arange(n) for n in self.boxes]
                sides[axis] = np.array([end * (self.boxes[axis] - 1)])
                box = np.stack(np.meshgrid(*sides, indexing="ij"), -1).reshape(-1, 3)
                face = self.corners_of(box + end * np.eye(3, dtype=np.int64)[axis], np.full(len(box), axis))
                quads.append(face if end else face[:, ::-1])
                owner.append(box)
        return np.concatenate(quads), np.concatenate(owner)

    def unzip(self, position):
        """The opened solid, from the current positions of crack corners."""
        hull, hull_owner = self.hull()
        # corner 0 and 2 are the ends of the shorter diagonal, on both sides
        ends = position[self.local]
        longer = ((ends[:, 0] - ends[:, 2]) ** 2).sum(1) > ((ends[:, 1] - ends[:, 3]) ** 2).sum(1)
        quads = np.where(longer[:, None], np.roll(self.quads, -1, 1), self.quads)
        quads = np.concatenate([quads, quads[:, [0, 3, 2, 1]], hull])
        owner = np.concatenate([self.lower, self.upper, hull_owner])
        corner, local = np.unique(quads, return_inverse=True)
        local = local.reshape(-1, 4)
        group = self.star_groups(corner)
        # which of the 8 boxes around a quad's corner is the owner
        slot = (owner[:, None, :] - self.grid_index(corner)[local] + 1) @ np.array([4, 2, 1])
        key, vertex = np.unique(local * 8 + group[local, slot], return_inverse=True)
        place = self.place(corner)
        place[np.searchsorted(corner, self.used)] = position
        of_corner, of_group = key // 8, key % 8
        member = group[of_corner] == of_group[:, None]
        toward = (member[:, :, None] * (STAR + 0.5)).sum(1) / member.sum(1)[:, None]
        shift = GAP * self.cells.step * toward
        birth = np.concatenate([self.birth, self.birth, np.full(len(hull), NEVER)])
        return Sheets(
            place[of_corner] + shift,
            -shift,
            vertex.reshape(-1, 4),
            self.cells.copy[tuple(owner.T)],
            birth,
            len(self.quads),
        )


def noise(position, seed):
    """Value noise between -1 and 1: random values on the unit grid, blended smoothly."""
    cell = np.floor(position)
    part = position - cell
    weight = part * part * (3 - 2 * part)
    cell = cell.astype(np.int64)
    total = np.zeros(len(position))
    for offset in np.ndindex(2, 2, 2):
        share = np.prod(np.where(np.array(offset, bool), weight, 1 - weight), axis=1)
        total += share * scatter(cell + np.array(offset), seed)
    return total


def scatter(cell, seed):
    """Hash of each integer point to a number between -1 and 1, the same on every machine."""
    value = (
        cell.astype(np.uint64) * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    ).sum(1)
    value += np.uint64((seed * 0x27D4EB2F165667C5 + 1) % 2**64)
    for shift in (30, 27, 31):
        value = (value ^ (value >> np.uint64(shift))) * np.uint64(0xBF58476D1CE4E5B9)
    return (value >> np.uint64(11)).astype(np.float64) / 2**52 - 1
