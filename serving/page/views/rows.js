// Columns of values as rows to ask.

/**
 * `{source: ["a", "b"], question: ["who?"]}` to one row for each value of the longest column; a
 * column of one value stands in every row. Columns of other lengths give the rows that are whole.
 */
export function rowsOf(columns) {
  const lengths = Object.values(columns).map((values) => values.length);
  if (lengths.includes(0)) return [];
  const several = lengths.filter((length) => length > 1);
  const count = several.length ? Math.min(...several) : 1;
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [name, values.length > 1 ? values[i] : values[0]]),
    ),
  );
}
