// Cells of a drawing that are pointed at by mouse, finger or arrow keys.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Tells which of `rows` × `columns` equal cells is pointed at.
 *
 * @param element What has the focus and hears the keys.
 * @param area What the cells fill; it may be the same.
 * @param onPoint Called with `(row, column)`, or `(null, null)`.
 */
export function followCells(element, area, rows, columns, onPoint) {
  let here = null;
  const at = (event) => {
    const box = area.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const inside = row >= 0 && row < rows && column >= 0 && column < columns;
    return inside ? [row, column] : null;
  };
  const point = (cell) => onPoint(...(cell ?? [null, null]));
  element.addEventListener("pointermove", (event) => point(at(event)));
  element.addEventListener("pointerdown", (event) => point((here = at(event))));
  element.addEventListener("pointerleave", () => point(here));
  element.addEventListener("blur", () => point((here = null)));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") point((here = null));
    if (!STEPS[event.key]) return;
    event.preventDefault();
    const [down, right] = here ? STEPS[event.key] : [0, 0];
    const [row, column] = here ?? [0, 0];
    here = [clamp(row + down, rows), clamp(column + right, columns)];
    point(here);
  });
}

function clamp(index, count) {
  return Math.max(0, Math.min(count - 1, index));
}
