// A vector as a small chart: a column for each number, from zero up or down.

import { make } from "../dom.js";
import { followCells } from "./cells.js";

/**
 * Draws numbers; as `makeGrid` of views/grid.js.
 *
 * @param range `{low, high}`, of all charts that stand beside it.
 */
export function makeColumns(values, { low, high }, label, onPoint) {
  const [bottom, top] = [Math.min(low, 0), Math.max(high, 0)];
  const size = top - bottom || 1;
  const columns = values.map((value) => {
    const column = make("span", { class: "column" });
    column.style.setProperty("--from", (Math.min(value ?? 0, 0) - bottom) / size);
    column.style.setProperty("--size", Math.abs(value ?? 0) / size);
    return column;
  });
  const element = make("div", { class: "chart", tabindex: 0, role: "application" }, ...columns);
  element.setAttribute("aria-roledescription", "chart");
  element.setAttribute(
    "aria-label",
    `${label}: ${values.length} numbers. The arrow keys move from one to the next.`,
  );
  const show = (_, column) => {
    columns.forEach((one, i) => one.classList.toggle("on", i === column));
    onPoint(column === null ? "" : `number ${column + 1}`, values[column]);
  };
  followCells(element, element, 1, values.length, show);
  return element;
}
