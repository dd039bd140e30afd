// Frames of a film, taken in the browser: the film itself is never sent.

const QUALITY = 0.9;
const PATIENCE = 20000;
// So long a frame may take to be drawn once it is there; browsers that never tell have then drawn it.
const DRAWING = 1000;

/**
 * Frames that lie evenly in a film, each in the middle of an equal share of its time.
 *
 * @param file The film.
 * @param details `{frames, height, width}`: how many, and no larger than that.
 * @returns A promise of JPEGs in base64.
 */
export async function takeFrames(file, { frames, height, width }) {
  const video = document.createElement("video");
  Object.assign(video, { muted: true, playsInline: true, preload: "auto" });
  const address = URL.createObjectURL(file);
  try {
    const opened = happens(video, "loadeddata", "is no film that this browser can play");
    const first = drawn(video);
    video.src = address;
    await opened;
    await first();
    if (!video.videoWidth) throw new Error("has no pictures");
    const length = await lengthOf(video);
    const canvas = document.createElement("canvas");
    canvas.width = Math.min(width, video.videoWidth);
    canvas.height = Math.min(height, video.videoHeight);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    const taken = [];
    for (let number = 0; number < frames; number += 1) {
      const there = happens(video, "seeked", "cannot be played to its end");
      const visible = drawn(video);
      video.currentTime = (length * (number + 0.5)) / frames;
      await there;
      await visible();
      context.drawImage(video, 0, 0, canvas.width, canvas.height);
      const encoded = canvas.toDataURL("image/jpeg", QUALITY);
      taken.push(encoded.slice(encoded.indexOf(",") + 1));
    }
    return taken;
  } finally {
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(address);
  }
}

/** Seconds; films that a browser recorded do not say it before they are played to their end. */
async function lengthOf(video) {
  if (!Number.isFinite(video.duration)) {
    const there = happens(video, "seeked", "cannot be played to its end");
    const visible = drawn(video);
    video.currentTime = Number.MAX_SAFE_INTEGER;
    await there;
    await visible();
    return video.currentTime;
  }
  return video.duration;
}

/**
 * Listens for the next frame to be drawn: a busy browser says that it has found a frame before it shows it.
 *
 * @returns What waits for that, once the frame is there.
 */
function drawn(video) {
  const told = new Promise((resolve) => video.requestVideoFrameCallback?.(resolve));
  return () => Promise.race([told, new Promise((resolve) => setTimeout(resolve, DRAWING))]);
}

function happens(video, event, otherwise) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(otherwise));
    const timer = setTimeout(fail, PATIENCE);
    video.addEventListener(event, () => (clearTimeout(timer), resolve()), { once: true });
    video.addEventListener("error", () => (clearTimeout(timer), fail()), { once: true });
  });
}
