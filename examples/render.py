# SPDX-License-Identifier: GPL-3.0-or-later
"""A small software renderer, so that examples need nothing but NumPy to show what they did.

Triangles are rasterised into a buffer of nearest triangles, then every pixel is shaded at once:
Lambert's law under a sun (a shadow map looked up at several offsets: soft edges) and a sky (shadow
maps from many directions: corners and creases darken as they should). Twice the size, averaged down.
"""

import struct
import zlib
from dataclasses import dataclass, field

import numpy as np

SUN = np.array([0.45, -0.55, 1.0])
SKY_DIRECTIONS = 40
BACKGROUND = np.array([0.86, 0.88, 0.91])  # linear light, as all colours here


@dataclass
class Surface:
    """A mesh to be drawn; `colour` is one colour, or one a vertex."""

    vertices: np.ndarray
    triangles: np.ndarray
    colour: np.ndarray = field(default_factory=lambda: np.array([0.7, 0.7, 0.7]))


@dataclass
class Camera:
    position: tuple = (3.0, -6.0, 3.0)
    target: tuple = (0.0, 0.0, 0.5)
    angle: float = 28.0  # vertical field of view in degrees

    def basis(self):
        """Right, up and backward, as rows."""
        back = unit(np.subtract(self.position, self.target))
        right = unit(np.cross([0, 0, 1], back))
        return np.stack([right, np.cross(back, right), back])


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-20)


def palette(count):
    """As many colours as wanted, neighbours far apart in hue; linear light."""
    index = np.arange(count)
    hue = (0.04 + index * 0.61803399) % 1
    value = np.where(index % 2, 0.95, 0.78)
    rgb = 1 - 0.5 * np.clip(np.abs((hue[:, None] * 6 + [0, 4, 2]) % 6 - 3) - 1, 0, 1)
    return (rgb * value[:, None]) ** 2.2


def vertex_normals(vertices, triangles):
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for i in range(3):
        np.add.at(normals, triangles[:, i], faces)
    return unit(normals)


def rasterise(points, depth, triangles, width, height):
    """For each pixel the nearest triangle's index (-1: none) and its depth (none: infinite).

    Points are in pixels, depth is positive, smaller is nearer. Triangles of similar size are done
    together: all pixels of all their bounding squares at once. On a triangle the weights of two
    corners and the depth are affine: a value at its lowest pixel, a slope in x and one in y.
    """
    a, b, c = (points[triangles[:, i]] for i in range(3))
    low = np.ceil(np.minimum(np.minimum(a, b), c) - 0.5).astype(np.int64)
    low = np.maximum(low, 0)
    high = np.floor(np.maximum(np.maximum(a, b), c) - 0.5).astype(np.int64)
    high = np.minimum(high, [width - 1, height - 1])
    span = np.maximum(high[:, 0] - low[:, 0], high[:, 1] - low[:, 1]) + 1
    a, b, c = (corner - low - 0.5 for corner in (a, b, c))
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    area = ux * vy - uy * vx
    usable = (high[:, 0] >= low[:, 0]) & (high[:, 1] >= low[:, 1]) & (np.abs(area) > 1e-12)
    area[~usable] = 1
    za, zb, zc = depth[triangles].T
    planes = np.stack(
        [
            (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]) / area,
            (uy - vy) / area,
            (vx - ux) / area,  # the weight of a
            (c[:, 0] * a[:, 1] - c[:, 1] * a[:, 0]) / area,
            vy / area,
            -vx / area,
            za,
            zb - za,
            zc - za,
        ]
    ).astype(np.float32)
    nearest = np.full(width * height, np.iinfo(np.uint64).max, np.uint64)
    size = 1
    while usable.any():
        chosen = np.flatnonzero(usable & (span <= size))
        usable[chosen] = False
        batch = max(1, 1_000_000 // size**2)
        for start in range(0, len(chosen), batch):
            _rasterise_squares(nearest, chosen[start : start + batch], size, low, planes, width, height)
        size *= 2
    index = (nearest & np.uint64(0xFFFFFFFF)).astype(np.int64)
    z = (nearest >> np.uint64(32)).astype(np.uint32).view(np.float32)
    empty = nearest == np.iinfo(np.uint64).max
    return np.where(empty, -1, index).reshape(height, width), np.where(empty, np.float32(np.inf), z).reshape(
        height, width
    )


def _rasterise_squares(nearest, chosen, size, low, planes, width, height):
    offset = np.arange(size, dtype=np.float32)
    p = planes[:, chosen, None, None]
    x, y = offset[None, None, :], offset[None, :, None]
    of_a = p[0] + p[1] * x + p[2] * y
    of_b = p[3] + p[4] * x + p[5] * y
    of_c = 1 - of_a - of_b
    triangle, row, column = np.nonzero((of_a >= 0) & (of_b >= 0) & (of_c >= 0))
    z = (
        planes[6, chosen[triangle]]
        + planes[7, chosen[triangle]] * of_b[triangle, row, column]
        + planes[8, chosen[triangle]] * of_c[triangle, row, column]
    )
    column += low[chosen[triangle], 0]
    row += low[chosen[triangle], 1]
    keep = (column < width) & (row < height) & (z > 0)
    key = z[keep].view(np.uint32).astype(np.uint64) << np.uint64(32)
    key |= chosen[triangle[keep]].astype(np.uint64)  # positive floats order as their bits do
    np.minimum.at(nearest, row[keep] * width + column[keep], key)


class Shadows:
    """What a parallel light sees, to ask whether points are lit by it."""

    def __init__(self, vertices, triangles, direction, resolution):
        back = unit(np.asarray(direction, float))
        side = unit(np.cross([0, 1, 0] if abs(back[1]) < 0.9 else [1, 0, 0], back))
        seen = vertices @ np.stack([side, np.cross(back, side), -back]).T
        low = seen.min(0)
        scale = (resolution - 3) / (seen.max(0) - low)[:2].max()
        points = (seen[:, :2] - low[:2]) * scale + 1.5
        _, self.depth = rasterise(points, seen[:, 2] - low[2] + 1, triangles, resolution, resolution)
        # world to map; around the map is an empty border, to which points outside are moved
        self.matrix = (np.stack([side * scale, np.cross(back, side) * scale, -back])).astype(np.float32)
        self.shift = np.array([1.5 - low[0] * scale, 1.5 - low[1] * scale, 1 - low[2]], np.float32)
        self.scale, self.resolution = scale, resolution

    def lit(self, points, bias, jitter=((0.0, 0.0),)):
        """The fraction of the offsets (in the light's plane, world units) at which each is lit."""
        x, y, depth = self.matrix @ points.T + self.shift[:, None]
        depth -= np.float32(bias)
        total = np.zeros(len(points), np.float32)
        for dx, dy in np.float32(jitter) * np.float32(self.scale):
            column = np.clip(x + dx, 0, self.resolution - 1).astype(np.int32)
            row = np.clip(y + dy, 0, self.resolution - 1).astype(np.int32)
            row *= self.resolution
            row += column
            total += self.depth.ravel()[row] >= depth
        return total / len(jitter)


def spiral(count, radius):
    """Offsets spread evenly over a disk."""
    index = np.arange(count) + 0.5
    angle, distance = index * 2.39996323, radius * np.sqrt(index / count)
    return np.stack([distance * np.cos(angle), distance * np.sin(angle)], 1)


def hemisphere(count):
    """Directions of the upper half, denser at the top (each stands for the same light)."""
    z = np.sqrt((np.arange(count) + 0.5) / count)
    angle = np.arange(count) * 2.39996323
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], 1)


def light(positions, normals, vertices, triangles, detail):
    """How much sun and sky each point receives, each 0 to 1."""
    sun_direction = unit(SUN)
    extent = np.ptp(vertices, axis=0).max()
    bias = extent * 0.012
    lifted = (positions + normals * bias).astype(np.float32)
    normals = normals.astype(np.float32)
    shadows = Shadows(vertices, triangles, sun_direction, 4 * detail)
    sun = np.clip(normals @ sun_direction, 0, 1)
    facing = np.flatnonzero(sun > 0)
    sun[facing] *= shadows.lit(lifted[facing], bias / 2, spiral(16, extent * 0.02))
    sky, whole = np.zeros(len(positions), np.float32), 0.0
    for direction in hemisphere(SKY_DIRECTIONS).astype(np.float32):
        towards = normals @ direction
        facing = np.flatnonzero(towards > 0)
        lit = Shadows(vertices, triangles, direction, detail).lit(lifted[facing], bias)
        sky[facing] += towards[facing] * lit
        whole += direction[2]
    # and light from below the horizon: what the floor gives back
    return sun, np.clip(sky / whole, 0, 1) + 0.22 * np.clip(-normals[:, 2] * 0.5 + 0.5, 0, 1)


def floor_colour(points, centre):
    """A pale floor with thin lines, one a unit; it fades into the background with the distance."""
    lines = np.abs((points[:, :2] + 0.5) % 1 - 0.5).min(1)
    grey = np.where(lines < 0.012, 0.52, 0.62)
    colour = grey[:, None] * np.array([1.0, 1.0, 1.02])
    far = np.clip(np.linalg.norm(points[:, :2] - centre[:2], axis=1) / 7 - 0.35, 0, 1)
    return colour, (far * far * (3 - 2 * far))[:, None]


def draw(surfaces, camera, width, height, floor=0.0, smooth=2):
    """A picture (height, width, 3), 8 bit."""
    w, h = width * smooth, height * smooth
    vertices = np.concatenate([s.vertices for s in surfaces]).astype(float)
    starts = np.cumsum([0] + [len(s.vertices) for s in surfaces])
    triangles = np.concatenate([s.triangles.astype(np.int64) + starts[i] for i, s in enumerate(surfaces)])
    colours = np.concatenate([np.broadcast_to(s.colour, (len(s.vertices), 3)) for s in surfaces])
    normals = vertex_normals(vertices, triangles)

    basis, eye = camera.basis(), np.asarray(camera.position, float)
    focal = 0.5 * h / np.tan(np.radians(camera.angle) / 2)
    seen = (vertices - eye) @ basis.T
    distance = -seen[:, 2]
    points = np.stack([w / 2 + focal * seen[:, 0] / distance, h / 2 - focal * seen[:, 1] / distance], 1)
    # -1/distance is linear on the screen; shifted to be positive, smaller still means nearer
    index, _ = rasterise(points, 1e3 - 1 / distance * 1e2, triangles, w, h)

    image = np.tile(BACKGROUND, (h * w, 1))
    y, x = np.divmod(np.arange(h * w), w)
    rays = np.stack([(x + 0.5 - w / 2) / focal, (h / 2 - y - 0.5) / focal, -np.ones(h * w)], 1) @ basis

    hit = np.flatnonzero(index.ravel() >= 0)
    corners = triangles[index.ravel()[hit]]
    a, b, c = (vertices[corners[:, i]] for i in range(3))
    plane = np.cross(b - a, c - a)
    along = ((a - eye) * plane).sum(1) / (rays[hit] * plane).sum(1)
    positions = eye + rays[hit] * along[:, None]
    weights = [
        (np.cross(v - u, positions - u) * plane).sum(1) / (plane * plane).sum(1) for u, v in ((b, c), (c, a), (a, b))
    ]
    smooth_normals = unit(sum(n[:, None] * normals[corners[:, i]] for i, n in enumerate(weights)))
    albedo = sum(n[:, None] * colours[corners[:, i]] for i, n in enumerate(weights))

    down = rays[:, 2] < -1e-6
    ground = np.flatnonzero((index.ravel() < 0) & down)
    reach = (floor - eye[2]) / rays[ground, 2]
    ground_points = eye + rays[ground] * reach[:, None]
    ground_albedo, fade = floor_colour(ground_points, np.asarray(camera.target))
    shaded = fade[:, 0] < 1
    ground, ground_points = ground[shaded], ground_points[shaded]
    ground_albedo, fade = ground_albedo[shaded], fade[shaded]

    all_points = np.concatenate([positions, ground_points])
    all_normals = np.concatenate([smooth_normals, np.tile([0.0, 0.0, 1.0], (len(ground), 1))])
    sun, sky = light(all_points, all_normals, vertices, triangles, max(96, h // 5))
    lit = 0.95 * sun[:, None] * np.array([1.0, 0.96, 0.88]) + 0.62 * sky[:, None] * np.array([0.90, 0.96, 1.06])
    image[hit] = albedo * lit[: len(hit)]
    image[ground] = ground_albedo * lit[len(hit) :] * (1 - fade) + BACKGROUND * fade
    image = image.reshape(height, smooth, width, smooth, 3).mean((1, 3))
    return (255 * to_srgb(image) + 0.5).astype(np.uint8)


def to_srgb(linear):
    linear = np.clip(linear, 0, 1)
    return np.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def tile(images, columns, gap=4):
    """Pictures of one size side by side."""
    height, width, _ = images[0].shape
    rows = -(-len(images) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for i, image in enumerate(images):
        y, x = (i // columns) * (height + gap), (i % columns) * (width + gap)
        sheet[y : y + height, x : x + width] = image
    return sheet


def write_png(path, image):
    """8-bit RGB; each row is stored as differences to the left or to above, whichever is smaller."""
    image = np.ascontiguousarray(image, np.uint8)
    height, width, _ = image.shape
    left, above = np.zeros_like(image), np.zeros_like(image)
    left[:, 1:] = image[:, :-1]
    above[1:] = image[:-1]
    mean = ((left.astype(np.uint16) + above) // 2).astype(np.uint8)
    filters = {1: image - left, 2: image - above, 3: image - mean}
    cost = {k: np.abs(v.view(np.int8).astype(np.int16)).sum((1, 2)) for k, v in filters.items()}
    rows = b"".join(
        bytes([best]) + filters[best][y].tobytes()
        for y in range(height)
        for best in (min(cost, key=lambda k: cost[k][y]),)
    )

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
        )


def write_ply(path, surface):
    """A binary PLY with a colour a vertex."""
    count = len(surface.vertices)
    vertices = np.zeros(count, [("xyz", "<f4", 3), ("rgb", "u1", 3)])
    vertices["xyz"] = surface.vertices
    vertices["rgb"] = 255 * to_srgb(np.broadcast_to(surface.colour, (count, 3))) + 0.5
    faces = np.zeros(len(surface.triangles), [("n", "u1"), ("index", "<i4", 3)])
    faces["n"], faces["index"] = 3, surface.triangles
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {count}",
        *(f"property float {axis}" for axis in "xyz"),
        *(f"property uchar {name}" for name in ("red", "green", "blue")),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header",
        "",
    ]
    with open(path, "wb") as file:
        file.write("\n".join(header).encode() + vertices.tobytes() + faces.tobytes())
