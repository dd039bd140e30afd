// What is laid over a picture: black and nearly opaque where nothing is attended, thin and white where
// most is. The same as in the pictures that Python draws (serving/pictures/regions.py).

const [DARKEST, BRIGHTEST] = [0.78, 0.3];
// Of the Gaussian around each cell's centre, in cells.
const SPREAD = 0.5;
// A browser smooths what it enlarges, so that a few pixels a cell are enough.
const PIXELS = 8;

/** A canvas with the veil of weights `[rows * columns]`, to be drawn over the whole picture. */
export function makeVeil(weights, [rows, columns]) {
  const canvas = document.createElement("canvas");
  canvas.width = columns * PIXELS;
  canvas.height = rows * PIXELS;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  spread(weights, rows, columns).forEach((bright, i) => {
    const grey = Math.round(255 * bright);
    const opacity = Math.round(255 * (DARKEST + (BRIGHTEST - DARKEST) * bright));
    image.data.set([grey, grey, grey, opacity], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Weights smoothly over an area, row by row, the brightest point 1; all zeros stay zeros. */
export function spread(weights, rows, columns) {
  const [down, across] = [gaussians(rows), gaussians(columns)];
  const area = down.flatMap((vertical) => {
    const line = Array.from({ length: columns }, (_, column) =>
      vertical.reduce((sum, share, row) => sum + share * weights[row * columns + column], 0),
    );
    return across.map((horizontal) => horizontal.reduce((sum, share, i) => sum + share * line[i], 0));
  });
  const brightest = area.reduce((most, value) => Math.max(most, value), 0);
  return brightest > 0 ? area.map((value) => value / brightest) : area;
}

/** For each new pixel the share of every old cell. */
function gaussians(cells) {
  return Array.from({ length: cells * PIXELS }, (_, pixel) => {
    const centre = (pixel + 0.5) / PIXELS - 0.5;
    const shares = Array.from({ length: cells }, (_, i) => Math.exp(-0.5 * ((centre - i) / SPREAD) ** 2));
    const sum = shares.reduce((one, other) => one + other, 0);
    return shares.map((share) => share / sum);
  });
}
