// Attention over sentences, and over the words inside each of them: one sentence below the other.

import { make, shownNumber } from "../dom.js";
import { joinBytes, joinWeights } from "./bytes.js";
import { makeSentence } from "./sentence.js";
import { readTokens, withoutPadding } from "./tokens.js";

const MOST_NAMED = 5;
const WORTH_NAMING = 0.005;
const HELP = "Point at a sentence, or walk with the arrow keys, to see its weights in numbers.";
const TARGET_HELP = "Point at a written word to see which sentences it was written for.";

/**
 * Draws a document, or a conversation.
 *
 * @param drawn `sentences`: the tokens of each, padded. `attention`: `[target][sentence]`; of
 *   several written tokens the mean is shown, or that of the one pointed at; null: all are alike.
 *   `inner`: `[sentence][word]`, or null. `written`: the target's tokens.
 */
export function makeDocument({ sentences, attention, inner, written }) {
  const parts = sentences
    .map((tokens, index) => readPart(tokens, index, inner?.[index]))
    .filter(({ tokens }) => tokens.length);
  if (!parts.length) return make("p", { class: "hint" }, "There is nothing to look at.");
  const rows = joinBytes(withoutPadding(written));
  const columns = parts.map(({ index }) => ({ from: index, to: index + 1 }));
  const weights = attention && rows.length ? joinWeights(attention, rows, columns) : null;
  const readout = make("p", { class: "readout", role: "status" });
  const list = makeList(parts, (index) => show(null, index));

  const show = (row, column) => {
    const shown = weights && (row === null ? mean(weights) : weights[row]);
    list.light(shown, column);
    target?.light(column === null ? null : weights.map((line) => line[column]), row);
    const told = tell(parts, shown, column, row === null ? null : target.tokens[row]);
    readout.replaceChildren(...(told ?? [target ? `${TARGET_HELP} ${HELP}` : HELP]));
  };
  const target = weights?.length > 1 ? makeTarget(rows, (row) => show(row, null)) : null;
  show(null, null);
  return make("figure", { class: "attention document" }, target?.element, readout, list.element);
}

function readPart(given, index, weights) {
  const joined = joinBytes(withoutPadding(given));
  const [words] = weights ? joinWeights([weights], [{ from: 0, to: 1 }], joined) : [null];
  return { index, tokens: readTokens(joined.map(({ token }) => token)), words };
}

/** What was written: to point at one of its tokens shows where the model looked for it. */
function makeTarget(rows, onPoint) {
  const tokens = readTokens(rows.map(({ token }) => token));
  let kept = null;
  const line = makeSentence("What the model wrote", tokens, (index, stays) => {
    if (stays) kept = index;
    onPoint(index ?? kept);
  });
  const name = make("span", { class: "hint" }, "wrote");
  return {
    tokens,
    light: line.light,
    element: make("div", { class: "sentences" }, name, line.element),
  };
}

/** The sentences as a list to walk through. */
function makeList(parts, onPoint) {
  const items = parts.map(({ tokens, words }, index) => {
    const strongest = Math.max(...(words ?? []), 0) || 1;
    const spans = tokens.flatMap((token, i) => {
      const title = words ? `${token.text}: ${shownNumber(words[i], 3)}` : null;
      const span = make("span", { class: token.special ? "unit special" : "unit", title }, token.text);
      if (words) span.style.setProperty("--share", (words[i] / strongest).toFixed(3));
      return i && token.begins ? [" ", span] : [span];
    });
    const weight = make("span", { class: "weight" });
    const text = make("span", { class: "words", dir: "auto" }, ...spans);
    const attributes = { role: "option", tabindex: index ? -1 : 0, "aria-selected": "false" };
    return make("li", attributes, weight, text);
  });
  const element = make(
    "ol",
    { class: "parts scrolls", role: "listbox", "aria-label": "What the model read" },
    ...items,
  );
  const at = (event) => items.indexOf(event.target.closest?.("li"));
  let kept = null;
  element.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && at(event) >= 0) onPoint(at(event));
  });
  element.addEventListener("pointerleave", () => onPoint(kept));
  element.addEventListener("focusin", (event) => {
    kept = at(event);
    items.forEach((item, i) => (item.tabIndex = i === kept ? 0 : -1));
    onPoint(kept);
  });
  element.addEventListener("focusout", () => (kept = null));
  element.addEventListener("keydown", (event) => {
    const last = items.length - 1;
    const there = { ArrowDown: at(event) + 1, ArrowUp: at(event) - 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") onPoint((kept = null));
    if (!items[there]) return;
    event.preventDefault();
    items[there].focus();
  });
  return {
    element,
    /** Shades the sentences: weights from 0 to 1, or null; `chosen` is the one pointed at. */
    light(weights, chosen) {
      const strongest = Math.max(...(weights ?? []), 0) || 1;
      items.forEach((item, i) => {
        item.setAttribute("aria-selected", String(i === chosen));
        item.style.setProperty("--sentence", weights ? (weights[i] / strongest).toFixed(3) : 0);
        // Words of a sentence that hardly counts fade with it.
        item.style.setProperty("--fade", weights ? Math.sqrt(weights[i] / strongest).toFixed(3) : 1);
        const shown = weights ? shownNumber(weights[i], 3).replace(/^0/, "") : "";
        item.firstChild.textContent = shown;
        item.title = weights ? `Sentence ${i + 1}: ${shownNumber(weights[i], 3)}` : "";
      });
    },
  };
}

function tell(parts, weights, column, token) {
  const word = ({ text }) => make("bdi", { class: "word" }, text);
  if (column === null && !token) return null;
  if (column === null) {
    const best = weights.indexOf(Math.max(...weights));
    return [word(token), ` ← sentence ${best + 1} ${shownNumber(weights[best])}`];
  }
  const { tokens, words } = parts[column];
  const head = `Sentence ${column + 1}${weights ? ` ${shownNumber(weights[column], 3)}` : ""}`;
  const named = (words ?? [])
    .map((weight, index) => ({ weight, index }))
    .filter(({ weight }) => weight >= WORTH_NAMING)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_NAMED);
  const told = named.flatMap(({ weight, index }) => [
    " · ",
    word(tokens[index]),
    ` ${shownNumber(weight)}`,
  ]);
  return [head, ...told];
}

function mean(lines) {
  return lines[0].map((_, i) => lines.reduce((sum, line) => sum + line[i], 0) / lines.length);
}
