// One input's answer: the alternatives with their scores, and what there is to see of one of them.

import { make, shownNumber } from "../dom.js";
import { isMissing } from "./alternatives.js";

const SCORE_HELP = "Log probability, divided by a length penalty: 0 is best";
let groups = 0;

/**
 * @param shown `{row, given, alternatives, alone, chosen, signal}`: what was asked, as a line too,
 *   what came, whether it is all, which one to begin with (none: the first), and what ends it.
 * @param output `{field, kind}`: the field that is written, and the module of its kind.
 * @param explain `(index, signal)` to the elements that tell more of an alternative.
 */
export function makeAnswer(shown, output, explain) {
  if (shown.alone) {
    const [choices, fill] = makeChoices(shown, output, explain);
    fill();
    return make("article", { class: "answer" }, ...choices);
  }
  const [best] = shown.alternatives;
  const summary = make(
    "summary",
    {},
    shown.given,
    make("span", { class: "best" }, makeValue(best, output)),
  );
  const details = make("details", { class: "answer" }, summary);
  details.addEventListener(
    "toggle",
    () => {
      const [choices, fill] = makeChoices(shown, output, explain);
      choices[0].querySelector(".best")?.classList.remove("best");
      details.append(...choices);
      fill();
    },
    { once: true },
  );
  return details;
}

/** The alternatives and the place for what is told of the chosen one. */
function makeChoices(shown, output, explain) {
  const place = make("div", { class: "explanation" });
  const tell = teller(shown, explain, place);
  const { alternatives, chosen = 0 } = shown;
  const element = alternatives.length > 1 ? makeList(shown, output, tell) : makeOnly(shown, output);
  return [[element, place], () => tell(chosen)];
}

function makeList({ row, alternatives, chosen = 0 }, output, tell) {
  const group = `answer-${++groups}`;
  const best = alternatives[0].score;
  const items = alternatives.map((alternative, index) => {
    const radio = make("input", { type: "radio", name: group, checked: index === chosen });
    radio.addEventListener("change", () => tell(index));
    const bar = make("span", { class: "likelihood" });
    // JSON's null would count as 0 here, which is the best that a score can be.
    bar.style.setProperty("--share", Math.min(1, Math.exp((alternative.score ?? NaN) - (best ?? NaN))) || 0);
    return make(
      "label",
      { class: "alternative" },
      radio,
      make("span", { class: index ? "other" : "best" }, makeValue(alternative, output, row)),
      make("span", { class: "score", title: SCORE_HELP }, bar, shownNumber(alternative.score, 3)),
    );
  });
  const label = "Answers, the best one first";
  return make("div", { class: "alternatives", role: "radiogroup", "aria-label": label }, ...items);
}

/** An answer without others: there is nothing to choose. */
function makeOnly({ row, alternatives: [only] }, output) {
  const score =
    typeof only.score === "number"
      ? make("span", { class: "score", title: SCORE_HELP }, shownNumber(only.score, 3))
      : null;
  return make("div", { class: "only" }, make("div", { class: "best" }, makeValue(only, output, row)), score);
}

function makeValue(alternative, { field, kind }, row) {
  if (isMissing(alternative)) return make("span", { class: "text empty" }, "no answer");
  return kind.makeOutput(alternative.value, field, row && alternative.outputs, row);
}

/** Tells of one alternative; a newer choice overtakes an older one. */
function teller({ alternatives, signal }, explain, place) {
  let latest = null;
  return async (index) => {
    latest?.abort();
    const mine = (latest = new AbortController());
    signal.addEventListener("abort", () => mine.abort());
    if (isMissing(alternatives[index])) return place.replaceChildren();
    try {
      const elements = await explain(index, mine.signal);
      if (!mine.signal.aborted) place.replaceChildren(...elements);
    } catch (error) {
      if (error.name === "AbortError") return;
      place.replaceChildren(make("p", { class: "notice", role: "alert" }, error.message));
    }
  };
}
