// A vector whose length is a square number, as a picture: the lowest number black, the highest white.

import { make } from "../dom.js";
import { followCells } from "./cells.js";

/**
 * Draws numbers row by row.
 *
 * @param range `{low, high}`, of all pictures that stand beside it.
 * @param label What a screen reader calls it.
 * @param onPoint Called with the place and the number pointed at, or "" for none.
 */
export function makeGrid(values, { low, high }, label, onPoint) {
  const side = Math.sqrt(values.length);
  const canvas = make("canvas", {
    class: "grid",
    width: side,
    height: side,
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture",
    "aria-label": `${label}: ${side} times ${side} numbers. The arrow keys move from cell to cell.`,
  });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  values.forEach((value, i) => {
    const grey = (255 * ((value ?? low) - low)) / (high - low || 1);
    image.data.set([grey, grey, grey, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  followCells(canvas, canvas, side, side, (row, column) => {
    if (row === null) onPoint("", 0);
    else onPoint(`row ${row + 1}, column ${column + 1}`, values[row * side + column]);
  });
  return canvas;
}
