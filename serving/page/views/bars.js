// Shares of a whole, one below the other.

import { make, shownNumber } from "../dom.js";

/**
 * A chart of shares from 0 to 1: `makeBars("Probabilities", [{name: "good", share: 0.9}])`.
 *
 * @param label What a screen reader calls it.
 */
export function makeBars(label, rows) {
  const items = rows.map(({ name, share }) => {
    const bar = make("span", { class: "length" });
    bar.style.setProperty("--share", share);
    const text = `${shownNumber(100 * share, share < 0.0995 ? 2 : 1)} %`;
    return make(
      "li",
      { title: `${name}: ${share}` },
      make("bdi", { class: "name" }, name),
      bar,
      make("span", { class: "amount" }, text),
    );
  });
  return make("ol", { class: "bars", "aria-label": label }, ...items);
}
