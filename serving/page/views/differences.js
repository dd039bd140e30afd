// Which words of two answers differ.

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const LONGEST_COMPARED = 600;

/** Marks in the texts of both elements the words that the other has not, in their order. */
export function markDifferences(one, other) {
  const texts = [one, other].map((element) => element?.querySelector(".text"));
  if (!texts.every(Boolean)) return;
  const [left, right] = texts.map((text) => wordsOf(text.textContent));
  if (left.length > LONGEST_COMPARED || right.length > LONGEST_COMPARED) return;
  const [inLeft, inRight] = shared(left, right);
  mark(texts[0], left, inLeft);
  mark(texts[1], right, inRight);
}

/** A longest common subsequence: for each word of both, whether it is part of it. */
export function shared(left, right) {
  const lengths = Array.from({ length: left.length + 1 }, () => Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let k = right.length - 1; k >= 0; k--) {
      const skipped = Math.max(lengths[i + 1][k], lengths[i][k + 1]);
      lengths[i][k] = left[i] === right[k] ? lengths[i + 1][k + 1] + 1 : skipped;
    }
  }
  const [inLeft, inRight] = [left.map(() => false), right.map(() => false)];
  for (let i = 0, k = 0; i < left.length && k < right.length; ) {
    if (left[i] === right[k]) inLeft[i++] = inRight[k++] = true;
    else if (lengths[i + 1][k] >= lengths[i][k + 1]) i++;
    else k++;
  }
  return [inLeft, inRight];
}

function wordsOf(text) {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

function mark(text, words, kept) {
  text.replaceChildren(
    ...words.map((word, i) => {
      if (kept[i] || !word.trim()) return word;
      const marked = document.createElement("mark");
      marked.textContent = word;
      return marked;
    }),
  );
}
