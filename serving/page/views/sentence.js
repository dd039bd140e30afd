// A sentence whose tokens can be pointed at, walked through with the arrow keys, and lit up.

import { make, shownNumber } from "../dom.js";

// Neighbours with a number each would write over one another: only what matters gets one.
const WORTH_A_NUMBER = 0.045;
const SHARE_WORTH_A_NUMBER = 0.25;

/**
 * A line of tokens.
 *
 * @param label What a screen reader calls it.
 * @param tokens As of `readTokens`.
 * @param onPoint Called with the index pointed at, or null; and whether it is to stay.
 */
export function makeSentence(label, tokens, onPoint) {
  const spans = tokens.map((token, index) =>
    make(
      "span",
      {
        class: token.special ? "token special" : "token",
        role: "option",
        tabindex: index ? -1 : 0,
        "aria-selected": "false",
      },
      token.text,
    ),
  );
  const parts = spans.flatMap((span, i) => (i && tokens[i].begins ? [" ", span] : [span]));
  const element = make(
    "div",
    {
      class: "sentence",
      role: "listbox",
      "aria-label": label,
      "aria-orientation": "horizontal",
      dir: "auto",
    },
    ...parts,
  );
  const indexOf = (event) => spans.indexOf(event.target.closest?.(".token"));

  element.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && indexOf(event) >= 0) onPoint(indexOf(event), false);
  });
  element.addEventListener("pointerleave", () => onPoint(null, false));
  element.addEventListener("click", (event) => {
    if (indexOf(event) >= 0) spans[indexOf(event)].focus();
  });
  element.addEventListener("focusin", (event) => {
    spans.forEach((span) => (span.tabIndex = span === event.target ? 0 : -1));
    onPoint(indexOf(event), true);
  });
  element.addEventListener("keydown", (event) => {
    const step = getComputedStyle(element).direction === "rtl" ? -1 : 1;
    const here = indexOf(event);
    const there = {
      ArrowRight: here + step,
      ArrowLeft: here - step,
      Home: 0,
      End: spans.length - 1,
    }[event.key];
    if (there === undefined || !spans[there]) return;
    event.preventDefault();
    spans[there].focus();
  });

  return {
    element,
    /** Lights the tokens: weights from 0 to 1, or null for none; `chosen` is the one pointed at. */
    light(weights, chosen) {
      const strongest = Math.max(...(weights ?? []), 0) || 1;
      spans.forEach((span, index) => {
        const weight = weights?.[index] ?? 0;
        span.style.setProperty("--share", (weight / strongest).toFixed(3));
        if (weight >= Math.max(WORTH_A_NUMBER, SHARE_WORTH_A_NUMBER * strongest)) span.dataset.weight = shownNumber(weight).replace(/^0/, "");
        else delete span.dataset.weight;
        span.setAttribute("aria-selected", String(index === chosen));
      });
    },
  };
}
