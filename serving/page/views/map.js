// The heat map itself: a picture of one pixel a cell, drawn large, with its tokens beside it.

import { make } from "../dom.js";

const painters = new WeakMap();

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const canvas of document.querySelectorAll(".map canvas")) painters.get(canvas)?.();
});

/** How strongly a share of the strongest weight is painted: weak ones must still be seen. */
export function strength(share) {
  return Math.max(0, Math.min(1, share)) ** 0.65;
}

/**
 * A map of `weights[row][column]`.
 *
 * @param onPoint Called with `(row, column, stays)`; a header gives null for the other one.
 */
export function makeMap(weights, rows, columns, onPoint) {
  const canvas = make("canvas", { width: columns.length, height: rows.length });
  const strongest = Math.max(...weights.map((row) => Math.max(...row)), 0) || 1;
  painters.set(canvas, () => paint(canvas, weights, strongest));
  painters.get(canvas)();
  const rowMark = make("div", { class: "mark", hidden: true });
  const columnMark = make("div", { class: "mark", hidden: true });
  const cells = make("div", { class: "cells" }, canvas, rowMark, columnMark);
  const rowHeads = heads(rows, "rows");
  const columnHeads = heads(columns, "columns");
  if (columns.every((token) => [...token.text].length <= 2)) columnHeads.classList.add("short");
  const element = make(
    "div",
    {
      class: "map scrolls",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label":
        `Attention of ${rows.length} written tokens to ${columns.length} read tokens. ` +
        "The arrow keys move from cell to cell.",
    },
    make("div", { class: "corner" }),
    columnHeads,
    rowHeads,
    cells,
  );
  element.style.setProperty("--rows", rows.length);
  element.style.setProperty("--columns", columns.length);
  let here = null;

  const cellAt = (event) => {
    const box = cells.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows.length);
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
    return rows[row] && columns[column] ? [row, column] : [null, null];
  };
  const point = (event, stays) => {
    const head = event.target.closest(".heads > span");
    const index = head ? [...head.parentElement.children].indexOf(head) : -1;
    if (head?.parentElement === rowHeads) return onPoint(index, null, stays);
    if (head?.parentElement === columnHeads) return onPoint(null, index, stays);
    const [row, column] = event.target.closest(".cells") ? cellAt(event) : [null, null];
    if (stays && row !== null) here = [row, column];
    return onPoint(row, column, stays);
  };
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(event, false);
  });
  element.addEventListener("pointerleave", () => onPoint(null, null, false));
  element.addEventListener("click", (event) => point(event, true));
  element.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!step[event.key] || event.target !== element) return;
    event.preventDefault();
    const [down, right] = here ? step[event.key] : [0, 0];
    const [row, column] = here ?? [0, 0];
    here = [clamp(row + down, rows.length), clamp(column + right, columns.length)];
    onPoint(...here, true);
    reveal(...here);
  });
  const reveal = (row, column) => {
    const across = column ?? strongestOf(weights[row]);
    const down = row ?? strongestOf(weights.map((cells) => cells[column]));
    scrollTo(element, rowHeads.children[down], columnHeads.children[across]);
  };

  return {
    element,
    strongest,
    /** Scrolls the map to a cell; of a whole row or column (the other is null), its strongest. */
    reveal,
    /** Marks a row, a column, both or (null) neither. */
    mark(row, column) {
      place(rowMark, row, rows.length, "top", "height");
      place(columnMark, column, columns.length, "left", "width");
      [...rowHeads.children].forEach((head, i) => head.classList.toggle("on", i === row));
      [...columnHeads.children].forEach((head, i) => head.classList.toggle("on", i === column));
    },
  };
}

function heads(tokens, side) {
  const broken = tokens.some((token) => !token.begins);
  return make(
    "div",
    { class: `heads ${side}`, "aria-hidden": "true" },
    ...tokens.map((token, index) => {
      const edge = broken && index > 0 && token.begins ? "begins" : "";
      const special = token.special ? "special" : "";
      return make("span", { class: `${edge} ${special}` }, make("bdi", {}, token.text));
    }),
  );
}

function paint(canvas, weights, strongest) {
  const style = getComputedStyle(document.documentElement);
  const [red, green, blue] = style.getPropertyValue("--heat").trim().split(/\s+/).map(Number);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  weights.forEach((row, y) =>
    row.forEach((weight, x) => {
      const at = 4 * (y * canvas.width + x);
      image.data.set([red, green, blue, 255 * strength(weight / strongest)], at);
    }),
  );
  context.putImageData(image, 0, 0);
}

function place(mark, index, count, start, size) {
  mark.hidden = index === null;
  if (index === null) return;
  mark.style[start] = `${(100 * index) / count}%`;
  mark.style[size] = `${100 / count}%`;
}

function strongestOf(line) {
  return line.indexOf(Math.max(...line));
}

function clamp(index, count) {
  return Math.max(0, Math.min(count - 1, index));
}

/** Scrolls a map inside its own frame so that a row and a column can be seen. */
function scrollTo(map, rowHead, columnHead) {
  const frame = map.getBoundingClientRect();
  const corner = map.querySelector(".corner").getBoundingClientRect();
  const row = rowHead.getBoundingClientRect();
  const column = columnHead.getBoundingClientRect();
  map.scrollBy(
    overflow(column.left, column.right, frame.left + corner.width, frame.left + map.clientWidth),
    overflow(row.top, row.bottom, frame.top + corner.height, frame.top + map.clientHeight),
  );
}

function overflow(from, to, first, last) {
  return from < first ? from - first : Math.max(0, to - last);
}
