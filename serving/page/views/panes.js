// A pane for each version that answers: who it is, and what it answered.

import { make } from "../dom.js";
import { makeHeading } from "./versions.js";

/**
 * Puts the panes there.
 *
 * @param runs Version to the scores of the run that made it.
 * @param keeps Whether a pane whose version has changed keeps the old one's answer, under the old
 *   one's name: something is going to take its place.
 */
export function drawPanes(place, model, versions, runs, keeps) {
  const panes = [...place.children];
  place.classList.toggle("two", versions.length > 1);
  versions.forEach((version, i) => {
    const known = panes[i]?.dataset.model === model.name;
    if (known && panes[i].dataset.version === version.version) {
      head(panes[i], model.name, version, runs[version.version]);
    } else if (known && keeps) {
      const old = model.versions.find((other) => other.version === panes[i].dataset.version);
      if (old) head(panes[i], model.name, old, runs[old.version]);
    } else {
      const pane = make("section", { class: "pane" }, make("header"), make("div", { class: "body" }));
      head(pane, model.name, version, runs[version.version]);
      if (panes[i]) panes[i].replaceWith(pane);
      else place.append(pane);
    }
  });
  panes.slice(versions.length).forEach((pane) => pane.remove());
}

/** Puts into a pane what a version answered. */
export function fillPane(pane, model, version, run, elements) {
  head(pane, model, version, run);
  pane.querySelector(".body").replaceChildren(...elements);
}

/**
 * Whether the versions' answers are there.
 *
 * @param busy Whether those of the panes' own versions are under way.
 */
export function areAnswered(place, versions, busy) {
  return versions.every(({ version }, i) => {
    const pane = place.children[i];
    return pane.dataset.version === version && (busy || pane.querySelector(".body").hasChildNodes());
  });
}

function head(pane, model, version, run) {
  pane.dataset.model = model;
  pane.dataset.version = version.version;
  pane.setAttribute("aria-label", `Version ${version.version}`);
  pane.firstElementChild.replaceWith(makeHeading(model, version, run));
}
