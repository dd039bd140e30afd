// The kind `clip` on the page, served as /page/kinds/clip.js: paths are those of the page.

import { make } from "../dom.js";
import { followDrops } from "../views/files.js";
import { takeFrames } from "../views/film.js";
import { makeFrames } from "../views/frames.js";
import { openPicture } from "../views/picture.js";

// The clips of each field, which have no place in the address: another version asks about them too.
const kept = new Map();

/** The frames of a film with its file's name; a request has them as TF Serving wants bytes. */
class Clip {
  constructor(name, frames, most) {
    Object.assign(this, { name, frames, most });
  }

  toJSON() {
    const missing = Array(Math.max(0, this.most - this.frames.length)).fill("");
    return [...this.frames, ...missing].map((b64) => ({ b64 }));
  }
}

/** The control for a field: films are dropped on it, chosen, or taken with a camera. */
export function makeInput(field) {
  const id = `input-${field.name}`;
  const clips = kept.get(field.name) ?? [];
  kept.set(field.name, clips);
  const shown = make("ul", { class: "pictures", "aria-label": "Chosen" });
  const wrong = make("p", { class: "wrong", role: "alert", hidden: true });
  const working = make("span", { class: "hint", role: "status" });
  const show = () => {
    shown.replaceChildren(
      ...clips.map((clip, place) => {
        const remove = () => {
          clips.splice(place, 1);
          show();
          choose.focus();
        };
        const button = make("button", { type: "button", "aria-label": `Remove ${clip.name}`, onclick: remove }, "×");
        return make("li", {}, makeThumbnail(clip), make("bdi", { class: "hint" }, clip.name), button);
      }),
    );
    shown.hidden = !clips.length;
  };
  const take = async (files) => {
    const problems = [];
    for (const file of files) {
      working.textContent = `Taking frames of ${file.name} …`;
      try {
        clips.push(new Clip(file.name, await takeFrames(file, field.details), field.details.frames));
      } catch (error) {
        problems.push(`${file.name} ${error.message}.`);
      }
    }
    working.textContent = "";
    wrong.textContent = problems.join(" ");
    wrong.hidden = !problems.length;
    show();
  };
  const choose = make("input", { type: "file", id, accept: "video/*", class: "unseen", multiple: true });
  choose.addEventListener("change", async () => {
    await take([...choose.files]);
    // So that the same file can be chosen again.
    choose.value = "";
  });
  const drop = make(
    "div",
    { class: "drop" },
    make("div", { class: "together" }, choose, make("label", { for: id, class: "button" }, "Choose a clip"), working),
    make("span", { class: "hint" }, "or drop it here. It stays on this machine: only a few frames of it are sent."),
    shown,
  );
  followDrops(drop, take);
  show();
  return {
    element: make("div", { class: "field" }, make("span", { class: "hint" }, field.name), drop, wrong),
    values: () => [...clips],
    saved: () => "",
    focus: () => choose.focus(),
  };
}

/** A value as plain text: the name of its file. */
export function asText(value) {
  return value.name ?? "";
}

/** A value in small: its middle frame. */
export function makeThumbnail(value) {
  const frames = framesOf(value);
  const canvas = make("canvas", { class: "thumbnail", role: "img", "aria-label": asText(value) || "The clip" });
  openPicture(frames[Math.floor(frames.length / 2)] ?? "").then(
    (drawn) => {
      canvas.width = drawn.width;
      canvas.height = drawn.height;
      canvas.getContext("2d").drawImage(drawn, 0, 0);
    },
    () => canvas.remove(),
  );
  return canvas;
}

/** Which frames the model looked at: `row` are the outputs of one row, `given` its inputs. */
export function makeAttention({ field, output, row, given }) {
  if (!row[field.attention]) return null;
  const pictures = framesOf(given?.[field.name] ?? {}).map((b64) => openPicture(b64));
  return makeFrames(pictures, row[output.tokens], row[field.attention], row[field.tokens]);
}

/** The encoded frames, of a chosen film or as a report has them. */
function framesOf(value) {
  return (value.frames ?? (Array.isArray(value) ? value : [])).filter(Boolean);
}
