// Attention over a picture: the answer's words, the picture with what the chosen one looked at lit
// up, and all words as small panels.

import { make, shownNumber } from "../dom.js";
import { followCells } from "./cells.js";
import { joinBytes, joinWeights } from "./bytes.js";
import { makeSentence } from "./sentence.js";
import { readTokens, withoutPadding } from "./tokens.js";
import { makeVeil } from "./veil.js";

const HELP = "Point at a word, or walk with the arrow keys, to see where the model looked.";
const PANEL = 240;

/**
 * Draws a picture's regions.
 *
 * @param opening A promise of the picture's canvas.
 * @param targetTokens What the model wrote; padding at the end is dropped.
 * @param attention `[target][rows * columns]`.
 * @param grid `[rows, columns]`, which lie over the whole picture.
 */
export function makeRegions(opening, targetTokens, attention, grid) {
  const rows = joinBytes(withoutPadding(targetTokens));
  const target = readTokens(rows.map(({ token }) => token));
  if (!target.length) return make("p", { class: "hint" }, "There is nothing to look at.");
  const places = Array.from({ length: grid[0] * grid[1] }, (_, i) => ({ from: i, to: i + 1 }));
  const weights = joinWeights(attention, rows, places);
  const veils = weights.map((line) => makeVeil(line, grid));
  const canvas = make("canvas", { class: "picture", tabindex: 0, role: "application" });
  canvas.setAttribute("aria-roledescription", "picture");
  canvas.setAttribute("aria-label", "The picture. The arrow keys move over it from region to region.");
  const readout = make("p", { class: "readout", role: "status" });
  const panels = target.map((token, i) => makePanel(token.text, () => choose(i)));
  // What was written at once needs no pointing at.
  let kept = target.length === 1 ? 0 : null;
  let picture = null;

  const show = (word, place = null) => {
    if (picture) paint(canvas, picture, word === null ? null : veils[word]);
    const lit = place === null ? null : weights.map((line) => line[place]);
    sentence.light(lit, word);
    panels.forEach(({ element }, i) => element.setAttribute("aria-pressed", String(i === word)));
    readout.replaceChildren(...tell(target, weights, grid, word, place));
  };
  const choose = (word) => {
    kept = word;
    show(kept);
  };
  const sentence = makeSentence("What it wrote", target, (word, stays) => {
    if (stays) kept = word;
    show(word ?? kept);
  });
  followCells(canvas, canvas, ...grid, (row, column) => {
    show(kept, row === null ? null : row * grid[1] + column);
  });
  const element = make(
    "figure",
    { class: "attention regions" },
    sentence.element,
    readout,
    make("div", { class: "frame" }, canvas),
    target.length > 1 ? make("div", { class: "panels" }, ...panels.map((panel) => panel.element)) : null,
  );
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(target.length === 1 ? 0 : null);
  });
  opening.then(
    (opened) => {
      picture = opened;
      panels.forEach((panel, i) => paint(panel.canvas, opened, veils[i], PANEL));
      show(kept);
    },
    () => canvas.replaceWith(make("p", { class: "notice" }, "The browser cannot open this picture.")),
  );
  show(kept);
  return element;
}

/** A small picture of one word; pressed, the large one shows the same. */
function makePanel(text, onPress) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const element = make(
    "button",
    { type: "button", class: "panel", "aria-pressed": "false", onclick: onPress },
    canvas,
    make("bdi", {}, text),
  );
  return { element, canvas };
}

function paint(canvas, picture, veil, longest = Infinity) {
  const factor = Math.min(1, longest / Math.max(picture.width, picture.height));
  canvas.width = Math.round(picture.width * factor);
  canvas.height = Math.round(picture.height * factor);
  const context = canvas.getContext("2d");
  for (const layer of veil ? [picture, veil] : [picture]) {
    context.imageSmoothingQuality = "high";
    context.drawImage(layer, 0, 0, canvas.width, canvas.height);
  }
}

/** What is pointed at, in words: a word's strongest region, or a region's weight. */
function tell(target, weights, [rows, columns], word, place) {
  if (word === null && place === null) return [HELP];
  const name = (i) => make("bdi", { class: "word" }, target[i].text);
  if (place !== null) {
    const where = `row ${Math.floor(place / columns) + 1}, column ${(place % columns) + 1}`;
    if (word !== null) return [name(word), ` ← ${where} ${shownNumber(weights[word][place], 3)}`];
    const most = weights.reduce((best, line, i) => (line[place] > weights[best][place] ? i : best), 0);
    return [`${where}: most for `, name(most), ` ${shownNumber(weights[most][place], 3)}`];
  }
  const strongest = weights[word].reduce((best, w, i, all) => (w > all[best] ? i : best), 0);
  const where = `row ${Math.floor(strongest / columns) + 1} of ${rows}, column ${(strongest % columns) + 1} of ${columns}`;
  return [name(word), ` ← most in ${where}, ${shownNumber(weights[word][strongest], 3)}`];
}
