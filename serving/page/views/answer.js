// One input's answer: the alternatives with their scores, and where the model looked for one.

import * as api from "../api.js";
import { make, shownNumber } from "../dom.js";

const SCORE_HELP = "Log probability, divided by a length penalty: 0 is best";
let groups = 0;

/**
 * @param shown `{row, alternatives, alone}`: what was asked, what came, and whether it is all.
 * @param ask `{model, version, output, signal}`: whom to ask for the attention.
 * @param kinds `{input, output}`: modules of kinds/.
 */
export function makeAnswer(shown, ask, kinds) {
  if (shown.alone) {
    const [choices, fill] = makeChoices(shown, ask, kinds);
    fill();
    return make("article", { class: "answer" }, ...choices);
  }
  const best = shown.alternatives[0];
  const summary = make(
    "summary",
    {},
    make("span", { class: "given hint", dir: "auto" }, Object.values(shown.row).map(String).join(" · ")),
    make("span", { class: "best" }, kinds.output.makeOutput(best.value)),
  );
  const details = make("details", { class: "answer" }, summary);
  details.addEventListener(
    "toggle",
    () => {
      const [choices, fill] = makeChoices(shown, ask, kinds);
      choices[0].querySelector(".best")?.classList.remove("best");
      details.append(...choices);
      fill();
    },
    { once: true },
  );
  return details;
}

/** The list of alternatives and the place for the attention of the chosen one. */
function makeChoices({ row, alternatives }, ask, kinds) {
  const group = `answer-${++groups}`;
  const place = make("div", { class: "explanation" });
  const explain = explainer(row, alternatives, ask, kinds, place);
  const best = alternatives[0].score;
  const items = alternatives.map(({ value, score }, index) => {
    const radio = make("input", { type: "radio", name: group, checked: index === 0 });
    radio.addEventListener("change", () => explain(index));
    const bar = make("span", { class: "likelihood" });
    // JSON's null would count as 0 here, which is the best that a score can be.
    bar.style.setProperty("--share", Math.exp((score ?? NaN) - (best ?? NaN)) || 0);
    return make(
      "label",
      { class: "alternative" },
      radio,
      make("span", { class: index ? "other" : "best" }, kinds.output.makeOutput(value)),
      make("span", { class: "score", title: SCORE_HELP }, bar, shownNumber(score, 3)),
    );
  });
  const list = make(
    "div",
    { class: "alternatives", role: "radiogroup", "aria-label": "Answers, the best one first" },
    ...items,
  );
  return [[list, place], () => explain(0)];
}

/** Shows the attention of one alternative; a newer choice overtakes an older one. */
function explainer(row, alternatives, { model, version, output, signal }, kinds, place) {
  let latest = null;
  return async (index) => {
    latest?.abort();
    const mine = (latest = new AbortController());
    signal.addEventListener("abort", () => mine.abort());
    // `explain` searches for itself and finds the best; `score` looks at any answer it is given.
    const signature = index === 0 ? "explain" : "score";
    if (!version.signatures.includes(signature)) return place.replaceChildren();
    const inputs = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, [value]]));
    if (index) inputs[output] = [alternatives[index].value];
    try {
      const answer = await api.ask(model, version.asked, signature, inputs, mine.signal);
      const first = Object.fromEntries(Object.entries(answer).map(([name, rows]) => [name, rows[0]]));
      place.replaceChildren(kinds.input.makeAttention(first));
    } catch (error) {
      if (error.name === "AbortError") return;
      place.replaceChildren(make("p", { class: "notice", role: "alert" }, error.message));
    }
  };
}
