// Attention between two texts: what was read, what was written, and the map of both.

import { make, shownNumber } from "../dom.js";
import { joinBytes, joinWeights } from "./bytes.js";
import { makeMap, strength } from "./map.js";
import { makeSentence } from "./sentence.js";
import { readTokens, withoutPadding } from "./tokens.js";

const MOST_NAMED = 3;
const WORTH_NAMING = 0.01;
const HELP = "Point at a word, or walk with the arrow keys, to see where the model looked.";

/**
 * Draws an alignment.
 *
 * @param sourceTokens What the model read, as the server names it; padding at the end is dropped.
 * @param targetTokens What it wrote.
 * @param attention `[target][source]`.
 */
export function makeHeatmap(sourceTokens, targetTokens, attention) {
  const [columns, rows] = [sourceTokens, targetTokens].map((t) => joinBytes(withoutPadding(t)));
  const [source, target] = [columns, rows].map((t) => readTokens(t.map(({ token }) => token)));
  if (!source.length || !target.length) {
    return make("p", { class: "hint" }, "There is nothing to align.");
  }
  const weights = joinWeights(attention, rows, columns);
  const readout = make("p", { class: "readout", role: "status" });
  // What was written for all of the text at once needs no pointing at.
  let kept = [target.length === 1 ? 0 : null, null];

  const show = (row, column) => {
    read.light(row === null ? null : weights[row], column);
    written.light(column === null ? null : weights.map((line) => line[column]), row);
    map.mark(row, column);
    readout.replaceChildren(...tell(weights, source, target, row, column));
  };
  const point = (row, column, stays) => {
    if (stays) kept = [row, column];
    show(...(row === null && column === null ? kept : [row, column]));
  };
  const pointAtWord = (row, column, stays) => {
    point(row, column, stays);
    if (stays) map.reveal(row, column);
  };
  const read = makeSentence("What the model read", source, (i, stays) => pointAtWord(null, i, stays));
  const written = makeSentence("What it wrote", target, (i, stays) => pointAtWord(i, null, stays));
  const map = makeMap(weights, target, source, point);
  const element = make(
    "figure",
    { class: "attention" },
    make("div", { class: "sentences" }, name("read"), read.element, name("wrote"), written.element),
    readout,
    map.element,
    scale(map.strongest),
  );
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") point(null, null, true);
  });
  show(...kept);
  return element;
}

function name(text) {
  return make("span", { class: "hint" }, text);
}

function tell(weights, source, target, row, column) {
  if (row === null && column === null) return [HELP];
  const word = (token) => make("bdi", { class: "word" }, token.text);
  if (row !== null && column !== null) {
    return [word(target[row]), " ← ", word(source[column]), ` ${shownNumber(weights[row][column], 3)}`];
  }
  const [from, others, line] =
    row !== null
      ? [target[row], source, weights[row]]
      : [source[column], target, weights.map((cells) => cells[column])];
  const named = line
    .map((weight, index) => ({ weight, index }))
    .filter(({ weight }) => weight >= WORTH_NAMING)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_NAMED);
  const arrow = row !== null ? " ← " : " → ";
  if (!named.length) return [word(from), arrow, "nothing"];
  return [
    word(from),
    arrow,
    ...named.flatMap(({ weight, index }, i) => [
      i ? " · " : "",
      word(others[index]),
      ` ${shownNumber(weight)}`,
    ]),
  ];
}

function scale(strongest) {
  const bar = make("span", { class: "bar" });
  const stops = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => `rgb(var(--heat) / ${strength(share).toFixed(3)}) ${100 * share}%`,
  );
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return make(
    "figcaption",
    { class: "scale hint" },
    "weight 0",
    bar,
    shownNumber(strongest),
  );
}
