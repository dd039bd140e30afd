// A pane for each version that answers: who it is, and what it answered.

import { make } from "../dom.js";
import { makeHeading } from "./versions.js";

/**
 * Puts the panes there.
 *
 * @param models All that is served.
 * @param runs Model to version to the scores of the run that made it.
 * @param keeps Whether a pane whose version has changed keeps the old one's answer, under the old
 *   one's name: something is going to take its place.
 */
export function drawPanes(place, models, versions, runs, keeps) {
  const panes = [...place.children];
  const tell = (pane, version) => head(pane, version, runs[version.model]?.[version.version]);
  place.classList.toggle("two", versions.length > 1);
  versions.forEach((version, i) => {
    const known = panes[i]?.dataset.model === version.model;
    if (known && panes[i].dataset.version === version.version) {
      tell(panes[i], version);
    } else if (known && keeps) {
      const model = models.find(({ name }) => name === version.model);
      const old = model.versions.find((other) => other.version === panes[i].dataset.version);
      if (old) tell(panes[i], old);
    } else {
      const pane = make("section", { class: "pane" }, make("header"), make("div", { class: "body" }));
      tell(pane, version);
      if (panes[i]) panes[i].replaceWith(pane);
      else place.append(pane);
    }
  });
  panes.slice(versions.length).forEach((pane) => pane.remove());
}

/** Puts into a pane what a version answered. */
export function fillPane(pane, version, run, elements) {
  head(pane, version, run);
  pane.querySelector(".body").replaceChildren(...elements);
}

/**
 * Whether the versions' answers are there.
 *
 * @param busy Whether those of the panes' own versions are under way.
 */
export function areAnswered(place, versions, busy) {
  return versions.every(({ model, version }, i) => {
    const pane = place.children[i];
    const same = pane.dataset.model === model && pane.dataset.version === version;
    return same && (busy || pane.querySelector(".body").hasChildNodes());
  });
}

function head(pane, version, run) {
  pane.dataset.model = version.model;
  pane.dataset.version = version.version;
  pane.setAttribute("aria-label", `Version ${version.version} of ${version.model}`);
  pane.firstElementChild.replaceWith(makeHeading(version, run));
}
