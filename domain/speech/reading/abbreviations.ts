/** In a word such as "Anna's.", the letter after the apostrophe is not an abbreviation. */
const abbreviation =
  /(?:^|[\s("“‘.\-–]|(?<!\p{L})')(?:\p{L}|mr|mrs|ms|dr|prof|st|mt|no|vs|etc|approx|inc|ltd|jr|sr|sra|dept|fig|gen|rev|capt|lt|col|sgt|gov|ext|bzw|nr|av)\.[ \t]*$/iu

/** Returns true if the text ends with a single letter or a common abbreviation, and its full stop. */
export function isAbbreviation(text: string): boolean {
  return abbreviation.test(text)
}
