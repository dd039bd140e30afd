// Tokens as people read them.

const WORD_MARK = "▁";
// What could hide, or turn the text around it; joiners stay, as emoji and Indic scripts need them.
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Without the empty tokens that fill a row up to the longest of its batch. */
export function withoutPadding(tokens) {
  const last = tokens.findLastIndex((token) => token !== "");
  return tokens.slice(0, last + 1);
}

/**
 * What to show for each token: its text, whether a word begins with it, and whether it is a sign
 * of the model's rather than of the text. SentencePiece's mark becomes the word's beginning.
 *
 *   ["▁new", "er", "▁", "</s>"]  →  new|er| ␣| end
 */
export function readTokens(tokens) {
  return tokens.map((token, index) => {
    const begins = index === 0 || token.startsWith(WORD_MARK);
    if (token === "</s>") return { text: "end", begins: true, special: true };
    const text = (token.startsWith(WORD_MARK) ? token.slice(1) : token)
      .replaceAll(WORD_MARK, "␣")
      .replaceAll(" ", "␣")
      .replace(UNSEEN, "\ufffd");
    return { text: text || "␣", begins, special: text === "" };
  });
}
