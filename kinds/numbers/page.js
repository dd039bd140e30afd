// The kind `numbers` on the page, served as /page/kinds/numbers.js: paths are those of the page.

import { make, shownNumber } from "../dom.js";
import { makeColumns } from "../views/columns.js";
import { makeGrid } from "../views/grid.js";

const SMALLEST_GRID = 16;
const MOST_TOLD = 8;
const HELP = "Numbers with spaces or commas between them; an empty line begins the next ones.";

/** The control for a field: blocks of numbers, each of which is one value. */
export function makeInput(field, saved) {
  const id = `input-${field.name}`;
  const box = make("textarea", {
    id,
    class: "code",
    rows: 4,
    dir: "ltr",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: HELP,
    "aria-describedby": `${id}-wrong`,
  });
  box.value = saved;
  const wrong = make("p", { id: `${id}-wrong`, class: "wrong", role: "alert", hidden: true });
  const tell = (words) => {
    wrong.textContent = words.length ? `Not a number: ${words.slice(0, 3).join(" ")}` : "";
    wrong.hidden = !words.length;
    box.setAttribute("aria-invalid", String(words.length > 0));
  };
  box.addEventListener("input", () => tell([]));
  const label = make("label", { for: id, class: "hint" }, field.name);
  return {
    element: make("div", { class: "field" }, label, box, wrong),
    values: () => {
      const blocks = box.value.split(/\n\s*\n/).map((block) => block.match(/[^\s,]+/g) ?? []);
      const strange = blocks.flat().filter((word) => !Number.isFinite(Number(word)));
      tell(strange);
      return strange.length ? [] : blocks.filter(({ length }) => length).map((b) => b.map(Number));
    },
    saved: () => box.value,
    focus: () => box.focus(),
  };
}

/**
 * What the model made, beside what it was given where that is as long.
 *
 * @param row The outputs of the row; none: a line will do.
 * @param given The inputs of the row.
 */
export function makeOutput(value, field, row, given = {}) {
  if (!row) return make("span", { class: "text" }, asText(value));
  const side = Math.sqrt(value.length);
  const isSquare = Number.isInteger(side) && value.length >= SMALLEST_GRID;
  const beside = Object.values(given).filter(
    (other) => Array.isArray(other) && other.length === value.length,
  );
  const shown = [...beside.map((other) => ["given", other]), [beside.length ? "made" : "", value]];
  const all = shown.flatMap(([, numbers]) => numbers).map((number) => number ?? 0);
  // One scale for all of them, or they could not be compared.
  const range = { low: Math.min(...all), high: Math.max(...all) };
  const readout = make("p", { class: "readout", role: "status" });
  const tell = (name, place, number) => {
    const at = name ? `${name}, ${place}: ` : `${place}: `;
    readout.textContent = place ? at + shownNumber(number, 4) : rangeOf(range);
  };
  tell("", "", 0);
  const draw = isSquare ? makeGrid : makeColumns;
  const figures = shown.map(([name, numbers]) =>
    make(
      "figure",
      {},
      name ? make("figcaption", { class: "hint" }, name) : null,
      draw(numbers, range, name || field.name, (place, number) => tell(name, place, number)),
    ),
  );
  return make("div", { class: "numbers" }, make("div", { class: "figures" }, ...figures), readout);
}

/** A value as plain text: the first few numbers. */
export function asText(value) {
  const shown = value.slice(0, MOST_TOLD).map((number) => Number(number ?? NaN).toPrecision(3) * 1);
  return shown.join(" ") + (value.length > MOST_TOLD ? ` … (${value.length} numbers)` : "");
}

function rangeOf({ low, high }) {
  return `from ${shownNumber(low)} to ${shownNumber(high)}`;
}
