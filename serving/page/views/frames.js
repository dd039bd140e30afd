// Attention over time: the answer's words, and a clip with a bar under each of its frames, which can be
// played.

import { make, shownNumber } from "../dom.js";
import { joinBytes, joinWeights } from "./bytes.js";
import { followCells } from "./cells.js";
import { makeSentence } from "./sentence.js";
import { readTokens, withoutPadding } from "./tokens.js";

const HELP = "Point at a word or a frame, or walk with the arrow keys.";
const A_FRAME = 180;

/**
 * Draws a clip's frames.
 *
 * @param pictures Promises of the frames' canvases; none: bars alone, as of features.
 * @param targetTokens What the model wrote; padding at the end is dropped. None: it is one answer.
 * @param attention `[target][places]`.
 * @param places Names of the places, "" behind the last.
 */
export function makeFrames(pictures, targetTokens, attention, places) {
  const count = withoutPadding(places ?? attention[0].map(String)).length;
  const rows = joinBytes(withoutPadding(targetTokens ?? ["answer"]));
  const target = readTokens(rows.map(({ token }) => token));
  if (!target.length || !count) return make("p", { class: "hint" }, "There is nothing to look at.");
  const columns = Array.from({ length: count }, (_, i) => ({ from: i, to: i + 1 }));
  const weights = joinWeights(attention, rows, columns);
  const mean = columns.map((_, i) => weights.reduce((sum, line) => sum + line[i], 0) / weights.length);
  const strongest = Math.max(...weights.flat(), 1e-9);

  const bars = columns.map(() => make("span", { class: "weight" }));
  const strip = make("div", { class: "strip", tabindex: 0, role: "application" });
  strip.setAttribute("aria-roledescription", "clip");
  strip.setAttribute("aria-label", `${count} frames with their weights. The arrow keys move from frame to frame.`);
  const cells = columns.map((_, i) => {
    const canvas = pictures[i] ? make("canvas", { "aria-hidden": "true" }) : null;
    pictures[i]?.then((drawn) => paint(canvas, drawn), () => canvas.remove());
    return make("span", { class: "moment" }, canvas, make("span", { class: "column" }, bars[i]));
  });
  strip.append(...cells);
  const readout = make("p", { class: "readout", role: "status" });
  const screen = pictures.length ? make("canvas", { class: "picture" }) : null;
  const play = pictures.length ? make("button", { type: "button" }, "Play") : null;
  // What was written at once needs no pointing at.
  let kept = target.length === 1 ? 0 : null;
  let timer = null;

  const show = (word, place = null) => {
    const line = word === null ? mean : weights[word];
    bars.forEach((bar, i) => (bar.style.height = `${(100 * line[i]) / strongest}%`));
    cells.forEach((cell, i) => cell.classList.toggle("on", i === place));
    sentence?.light(place === null ? null : weights.map((all) => all[place]), word);
    const at = place ?? line.indexOf(Math.max(...line));
    if (screen) pictures[at]?.then((drawn) => paint(screen, drawn), () => {});
    const named = word === null ? [] : [make("bdi", { class: "word" }, target[word].text), " ← "];
    const asked = word !== null || place !== null;
    const most = place === null ? "most at frame" : "frame";
    readout.replaceChildren(...(asked ? [...named, `${most} ${at} of ${count}: ${shownNumber(line[at], 3)}`] : [HELP]));
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    if (play) play.textContent = "Play";
  };
  const start = (place = 0) => {
    if (place === count || !strip.isConnected) {
      stop();
      return show(kept);
    }
    show(kept, place);
    timer = setTimeout(() => start(place + 1), A_FRAME);
  };
  play?.addEventListener("click", () => {
    const plays = timer !== null;
    stop();
    if (plays) return show(kept);
    play.textContent = "Stop";
    start();
  });
  const sentence =
    target.length === 1
      ? null
      : makeSentence("What it wrote", target, (word, stays) => {
          if (stays) kept = word;
          show(word ?? kept);
        });
  followCells(strip, strip, 1, count, (row, place) => show(kept, place));
  const element = make("figure", { class: "attention frames" }, sentence?.element, readout, screen, strip, play);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    kept = target.length === 1 ? 0 : null;
    show(kept);
  });
  show(kept);
  return element;
}

function paint(canvas, drawn) {
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  canvas.getContext("2d").drawImage(drawn, 0, 0);
}
